// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// The profiles of an endpoint, shared by all queue pairs that name them. They stay as long as the
// endpoint.
class ProfileTable {
 public:
  EvProfileId add(std::shared_ptr<const EvProfile> profile) {
    evs_.push_back({.profile = std::move(profile), .denied = {}});
    return EvProfileId(static_cast<std::uint32_t>(evs_.size() - 1));
  }
  CcProfileId add(const CongestionSettings& settings) {
    congestion_.push_back(settings);
    return CcProfileId(static_cast<std::uint32_t>(congestion_.size() - 1));
  }

  [[nodiscard]] bool has(EvProfileId evs) const { return evs.raw() < evs_.size(); }
  [[nodiscard]] bool has(EvProfileId evs, CcProfileId congestion) const {
    return evs.raw() < evs_.size() && congestion.raw() < congestion_.size();
  }
  [[nodiscard]] const EvProfile& evs(EvProfileId id) const {
    OPENMRC_CHECK(id.raw() < evs_.size(), "no such EV profile");
    return *evs_[id.raw()].profile;
  }
  [[nodiscard]] const CongestionSettings& congestion(CcProfileId id) const {
    return congestion_[id.raw()];
  }

  // EVs that the controller denies; new peers start with it.
  [[nodiscard]] std::span<const EvIndex> denied(EvProfileId id) const {
    return evs_[id.raw()].denied;
  }
  void set_denied(EvProfileId id, EvIndex ev, bool denied) {
    std::vector<EvIndex>& list = evs_[id.raw()].denied;
    std::erase(list, ev);
    if (denied) list.push_back(ev);
  }

 private:
  struct Evs {
    std::shared_ptr<const EvProfile> profile;
    std::vector<EvIndex> denied;
  };
  std::vector<Evs> evs_;
  std::vector<CongestionSettings> congestion_;
};

}  // namespace openmrc::core
