// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/host_limits.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

Scenario scenario_with(std::uint32_t queue_pairs, std::uint32_t receives) {
  MrcTransport mrc{.queue_pairs = 2};
  mrc.profile.max_wimm = 16;
  mrc.profile.limits.queue_pairs = queue_pairs;
  mrc.profile.limits.receives_outstanding = receives;
  Scenario scenario;
  scenario.shape = {.racks = 1, .hosts_per_rack = 4};
  scenario.transport = mrc;
  scenario.workload = AllToAll{.hosts = 4, .bytes = 300};
  return scenario;
}

std::string error_of(const Scenario& scenario) {
  const auto fits = check_host_limits(scenario);
  return fits ? "" : fits.error();
}

TEST(HostLimits, NameTheKeyThatIsTooSmall) {
  EXPECT_EQ(error_of(scenario_with(12, 96)), "");
  EXPECT_EQ(error_of(scenario_with(11, 96)),
            "transport.max_queue_pairs is 11, and a host of this workload needs 12");
  EXPECT_EQ(error_of(scenario_with(12, 95)),
            "transport.max_receives is 95, and a host of this workload needs 96");
}

TEST(HostLimits, RcHasNone) {
  Scenario scenario = scenario_with(1, 1);
  scenario.transport = RcTransport{};
  EXPECT_EQ(error_of(scenario), "");
}

}  // namespace
}  // namespace openmrc::sim
