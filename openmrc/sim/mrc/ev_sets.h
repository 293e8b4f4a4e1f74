// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "openmrc/fabric/usid_plan.h"
#include "openmrc/profile/drawn_paths.h"
#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::sim {

// The paths of all hosts, as profile::draw_paths gives them. Hosts of the same set share them,
// so that a large fabric needs few.
class EvSets {
 public:
  EvSets(const fabric::UsidPlan& plan, const profile::PathOptions& options,
         const std::vector<MrcTransport::FixedPaths>& fixed);

  [[nodiscard]] const profile::DrawnPaths& of(fabric::HostIndex host) const;
  // EVs of one connection.
  [[nodiscard]] std::size_t evs_per_host() const { return sets_.front().numbers.size(); }

 private:
  profile::PathOptions options_;
  std::vector<profile::DrawnPaths> sets_;  // by number, then those of `fixed_`
  std::vector<std::uint32_t> fixed_;       // hosts whose paths the scenario names
  std::size_t shared_;                     // how many were drawn
};

}  // namespace openmrc::sim
