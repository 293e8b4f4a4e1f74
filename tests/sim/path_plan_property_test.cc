// SPDX-License-Identifier: BSD-3-Clause
// What is simulated is what is run: the simulator and a host have the same EV profiles, byte by
// byte, for the same fabric, options and host.
#include <gtest/gtest.h>

#include <algorithm>

#include "openmrc/base/rng.h"
#include "openmrc/profile/path_plan.h"
#include "openmrc/sim/mrc/ev_sets.h"

namespace openmrc::sim {
namespace {

constexpr int kCases = 10'000;

fabric::Shape random_shape(Rng& rng) {
  return {.planes = static_cast<std::uint32_t>(1 + rng.below(8)),
          .racks = static_cast<std::uint32_t>(1 + rng.below(6)),
          .hosts_per_rack = static_cast<std::uint32_t>(1 + rng.below(6)),
          .uplinks = static_cast<std::uint32_t>(1 + rng.below(32))};
}

profile::PathOptions random_options(Rng& rng, std::uint32_t planes) {
  const auto per_plane =
      static_cast<std::uint32_t>(1 + rng.below(core::kEvsPerProfileMax / planes));
  return {.evs = per_plane * planes,
          .distinct = rng.below(2) == 0,
          .min_active = static_cast<std::uint32_t>(rng.below(2)),
          .sets = static_cast<std::uint32_t>(1 + rng.below(40)),
          .seed = rng.next() >> 1};
}

void expect_equal(const core::EvProfile& a, const core::EvProfile& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.planes(), b.planes());
  EXPECT_EQ(a.mode(), b.mode());
  EXPECT_EQ(a.min_active(), b.min_active());
  EXPECT_EQ(a.active_per_plane(), b.active_per_plane());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const core::EvIndex index(static_cast<std::uint8_t>(i));
    EXPECT_EQ(a.entry(index).ev, b.entry(index).ev);
    EXPECT_EQ(a.entry(index).plane, b.entry(index).plane);
    EXPECT_EQ(a.entry(index).outer, b.entry(index).outer);
    EXPECT_EQ(a.value(index), b.value(index));
  }
}

TEST(PathPlanProperty, SimulatorAndHostHaveTheSameProfiles) {
  Rng rng(2026);
  for (int i = 0; i < kCases && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const auto fabric = fabric::Fabric::make(random_shape(rng));
    if (!fabric) continue;
    const fabric::UsidPlan plan(*fabric);
    const profile::PathOptions options = random_options(rng, fabric->shape().planes);
    const fabric::HostIndex host(static_cast<std::uint32_t>(rng.below(fabric->hosts())));
    const EvSets sets(plan, options, {});
    const auto paths = profile::PathPlan::in_fabric(plan, host, options);
    ASSERT_TRUE(paths);
    expect_equal(*sets.of(host).other_racks, *paths->profiles()[0]);
    expect_equal(*sets.of(host).own_rack, *paths->profiles()[1]);
  }
}

}  // namespace
}  // namespace openmrc::sim
