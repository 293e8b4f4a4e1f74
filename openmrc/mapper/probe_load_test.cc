// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe_load.h"

#include <gtest/gtest.h>

#include <map>

#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using fabric::Fabric;

constexpr fabric::Shape kPublished{
    .planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256};

TEST(ProbeLoad, OfThePublishedFabric) {
  const ProbeLoad load = probe_load(*Fabric::make(kPublished), 1000);
  EXPECT_DOUBLE_EQ(load.per_port, 3000);
  EXPECT_DOUBLE_EQ(load.per_nic, 24'000);
  EXPECT_DOUBLE_EQ(load.per_uplink, 3000);
  EXPECT_DOUBLE_EQ(load.at_t0, 256'000.0 * 6);
  EXPECT_DOUBLE_EQ(load.at_t1, 512'000.0 * 3);
  EXPECT_DOUBLE_EQ(load.in_fabric, 131'072 * 24'000.0);
}

// What the plan's probes cross, counted one by one over a whole turn.
TEST(ProbeLoad, IsWhatThePlanSends) {
  const fabric::Shape shape{.planes = 2, .racks = 3, .hosts_per_rack = 4, .uplinks = 2};
  const Fabric fabric = *Fabric::make(shape);
  constexpr std::uint64_t kRounds = 2 * 2 * 1 * 12;
  std::map<test::Way, double> crossed;
  double sent = 0;
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    const ProbePlan plan{fabric::UsidPlan(fabric), fabric::HostIndex(host)};
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      for (const Plane plane : {Plane(0), Plane(1)}) {
        for (const ProbeKind kind : {ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kFar}) {
          const auto path = plan.path(round, plane, kind);
          ++sent;
          for (const test::Way& way : test::Network::ways_of(plan, *path)) ++crossed[way];
        }
      }
    }
  }
  const ProbeLoad load = probe_load(fabric, kRounds);
  EXPECT_DOUBLE_EQ(load.in_fabric, sent);
  for (const auto& [way, count] : crossed) {
    const bool is_uplink = way.link.kind == fabric::LinkId::Kind::kUplink;
    EXPECT_DOUBLE_EQ(count, is_uplink ? load.per_uplink : load.per_host_link)
        << name_of(way.link) << way.up;
  }
}

TEST(ProbeLoad, WantsMoreLossesWhereThereIsLessToCompareWith) {
  EXPECT_EQ(losses_for_uplink(*Fabric::make(kPublished)), 3u);
  EXPECT_EQ(losses_for_uplink(*Fabric::make(test::kSmall)), 7u);
  EXPECT_EQ(losses_for_host_link(*Fabric::make(test::kSmall)), 6u);
}

// The time that is promised is kept by the judge, in the mean of some seeds.
TEST(ProbeLoad, SaysWhenALossIsFound) {
  const Fabric fabric = *Fabric::make(test::kSmall);
  const double promised =
      seconds_to_find(losses_for_uplink(fabric), 0.02, probes_of_uplink(fabric, 200));
  int in_time = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    test::Rig rig(test::kSmall, seed);
    rig.network.losses[{rig.link("p0.t0-0/up1"), true}] = 20'000;
    const Instant start = rig.now;
    rig.run(seconds(120), true);
    const double taken = static_cast<double>((rig.now - start).raw()) / 1e9;
    if (taken <= promised + 0.5) ++in_time;  // a batch and the timeout
  }
  EXPECT_GE(in_time, 17);
}

TEST(ProbeLoad, NeedsEachLossOfADeadLinkOnce) {
  EXPECT_DOUBLE_EQ(seconds_to_find(3, 1, 10), 0.3);
  EXPECT_NEAR(seconds_to_find(3, 0.01, 1000), 0.63, 0.01);  // a Poisson process of rate 10
}

// Three is the least; the more uplinks, the less likely it is that losses meet on one by chance.
TEST(ProbeLoad, ARackWantsFewLossesAmongManyUplinks) {
  const auto of = [](std::uint32_t racks, std::uint32_t uplinks) {
    return losses_for_rack(*fabric::Fabric::make(
        {.planes = 8, .racks = racks, .hosts_per_rack = 256, .uplinks = uplinks}));
  };
  EXPECT_EQ(of(512, 256), 6u);
  EXPECT_GT(of(8, 2), 20u);
}

}  // namespace
}  // namespace openmrc::mapper
