// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/mrc/ev_sets.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

profile::DrawnPaths checked(Result<profile::DrawnPaths, core::EvProfileError> paths) {
  OPENMRC_CHECK(paths.has_value(), "the scenario's EVs were checked");
  return std::move(*paths);
}

}  // namespace

EvSets::EvSets(const fabric::UsidPlan& plan, const profile::PathOptions& options,
               const std::vector<MrcTransport::FixedPaths>& fixed)
    : options_(options), shared_(std::min(options.sets, plan.fabric().hosts())) {
  for (std::uint32_t set = 0; set < shared_; ++set) {
    sets_.push_back(checked(profile::draw_paths(plan, options, set)));
  }
  for (const MrcTransport::FixedPaths& paths : fixed) {
    sets_.push_back(checked(profile::paths_over(plan, options, paths.uplinks)));
    fixed_.push_back(paths.host);
  }
}

const profile::DrawnPaths& EvSets::of(fabric::HostIndex host) const {
  const auto at = std::find(fixed_.begin(), fixed_.end(), host.raw());
  if (at != fixed_.end()) return sets_[shared_ + static_cast<std::size_t>(at - fixed_.begin())];
  return sets_[profile::set_of(host, options_)];
}

}  // namespace openmrc::sim
