// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>

#include "openmrc/agent/profiles/profile_types.h"

namespace openmrc::libmrc {

// Congestion control profiles: their life, and the rules for what is in them.
class CcProfileStore {
 public:
  explicit CcProfileStore(std::size_t most) : most_(most) {}

  Outcome modify(CcProfileId id, const CcProfileChange& change);
  // One that has never been set is in INIT.
  [[nodiscard]] const CcProfile& find(CcProfileId id) const;
  [[nodiscard]] const std::map<CcProfileId, CcProfile>& all() const { return profiles_; }

  // An application process uses it: ONLINE only. It stays ONLINE until it is released as often.
  Outcome use(CcProfileId id);
  void release(CcProfileId id);
  [[nodiscard]] std::size_t uses(CcProfileId id) const;

 private:
  std::size_t most_;
  std::map<CcProfileId, CcProfile> profiles_;
  std::map<CcProfileId, std::size_t> uses_;
};

}  // namespace openmrc::libmrc
