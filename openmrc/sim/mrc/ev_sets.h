// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::sim {

// The paths of a host: random uplinks, equally many in each plane, as an EV profile. Senders do not
// coordinate. Many hosts may share a set, so a large fabric needs few.
struct EvSet {
  // To hosts of other racks, and within the rack, where all EVs of a plane take the one path.
  std::shared_ptr<const core::EvProfile> other_rack;
  std::shared_ptr<const core::EvProfile> own_rack;
  std::vector<std::uint16_t> uplinks;  // by EvIndex
};

class EvSets {
 public:
  EvSets(const fabric::UsidPlan& plan, const MrcTransport& transport, std::uint64_t seed);

  [[nodiscard]] const EvSet& of(fabric::HostIndex host) const;
  // EVs of one connection.
  [[nodiscard]] std::size_t evs_per_host() const { return sets_.front().uplinks.size(); }

 private:
  std::vector<EvSet> sets_;
  std::vector<std::uint32_t> fixed_;  // hosts with a set of their own, which stand at the end
  std::size_t shared_ = 0;            // how many are dealt out
};

}  // namespace openmrc::sim
