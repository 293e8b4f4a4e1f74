// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>

#include "openmrc/agent/profiles/profile_types.h"

namespace openmrc::libmrc {

// EV format profiles: how the bits that a packet carries divide into fields.
class FormatStore {
 public:
  explicit FormatStore(std::size_t most) : most_(most) {}

  // `needed`: an EV profile that is ONLINE uses it.
  Outcome modify(FormatId id, const FormatChange& change, bool needed);
  // One that has never been set is in INIT.
  [[nodiscard]] const FormatProfile& find(FormatId id) const;
  [[nodiscard]] const std::map<FormatId, FormatProfile>& all() const { return profiles_; }

 private:
  std::size_t most_;
  std::map<FormatId, FormatProfile> profiles_;
};

}  // namespace openmrc::libmrc
