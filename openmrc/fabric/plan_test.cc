// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/plan.h"

#include <gtest/gtest.h>

namespace openmrc::fabric {
namespace {

using Tiers = FixedVector<std::uint64_t, kTiersMax>;

Plan plan(const Shape& shape) { return plan_of(Fabric::make(shape).value()); }

// The fabric that was published: 800G NICs, switches of 51.2 Tb/s as 512 x 100G.
Plan published() {
  return plan({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256});
}

TEST(Plan, ThePublishedFabricInFigures) {
  const Design fabric = published().fabric;
  EXPECT_EQ(fabric.hosts, 131'072);
  EXPECT_EQ(fabric.host_bits_per_second, 800e9);
  EXPECT_EQ(fabric.switches, (Tiers{4096, 2048}));
  EXPECT_EQ(fabric.switches_total(), 6144);
  EXPECT_EQ(fabric.host_links, 1'048'576);
  EXPECT_EQ(fabric.switch_links, 1'048'576);
  EXPECT_EQ(fabric.transceivers, 4 * 131'072);
  EXPECT_EQ(fabric.longest_path, 3);
  EXPECT_EQ(fabric.hosts_per_t0, 256);
  EXPECT_EQ(fabric.bisection_bits_per_second, 131'072 * 400e9);
  EXPECT_EQ(fabric.oversubscription, 1);
}

TEST(Plan, ThePublishedFabricBesideThreeTiers) {
  const Plan both = published();
  EXPECT_EQ(both.switch_bits_per_second, 51.2e12);
  EXPECT_EQ(both.radix, 64);
  ASSERT_TRUE(both.three_tiers);
  const Design& tree = *both.three_tiers;
  EXPECT_EQ(tree.hosts, 65'536) << "as large as it gets";
  EXPECT_EQ(tree.switches, (Tiers{2048, 2048, 1024}));
  EXPECT_EQ(tree.host_links, 65'536);
  EXPECT_EQ(tree.switch_links, 2 * 65'536);
  EXPECT_EQ(tree.longest_path, 5);
  EXPECT_EQ(tree.hosts_per_t0, 32);
  // For the same number of hosts: 3/5 of the switches, 2/3 of the optics.
  EXPECT_EQ(5 * both.fabric.switches_total() * tree.hosts,
            3 * tree.switches_total() * both.fabric.hosts);
  EXPECT_EQ(3 * both.fabric.transceivers * tree.hosts, 2 * tree.transceivers * both.fabric.hosts);
}

TEST(Plan, AsManyHostsOnOnePlaneTakeAFourthTier) {
  const Plan both = published();
  ASSERT_TRUE(both.same_hosts);
  EXPECT_EQ(both.same_hosts->hosts, 131'072);
  EXPECT_EQ(both.same_hosts->switches, (Tiers{4096, 4096, 4096, 2048}));
  EXPECT_EQ(both.same_hosts->transceivers, 2 * both.fabric.transceivers);
  EXPECT_EQ(both.same_hosts->longest_path, 7);
}

TEST(Plan, WhatAFailureTakesInThePublishedFabric) {
  const Plan both = published();
  EXPECT_EQ(both.fabric.loss.nic_port, 0.125);
  EXPECT_EQ(both.fabric.loss.t0, 0.125);
  EXPECT_EQ(both.fabric.loss.uplink_of_t0, 1.0 / 256) << "0.4 %";
  EXPECT_EQ(both.fabric.loss.uplink, 1.0 / 2048);
  EXPECT_EQ(both.fabric.loss.t1, 1.0 / 2048);
  EXPECT_EQ(both.three_tiers->loss.nic_port, 1);
  EXPECT_EQ(both.three_tiers->loss.t0, 1);
  EXPECT_EQ(both.three_tiers->loss.uplink_of_t0, 1.0 / 32) << "3 %";
  EXPECT_EQ(both.three_tiers->loss.t1, 1.0 / 32);
}

// An eighth of the published fabric's hosts on the same switches, all of whose ports are used.
TEST(Plan, SeveralLinksToEachT1MakeASmallFabricOfLargeSwitches) {
  const Plan small =
      plan({.planes = 8, .racks = 64, .hosts_per_rack = 256, .uplinks = 256, .links_per_t1 = 8});
  EXPECT_EQ(small.fabric.switches, (Tiers{8 * 64, 8 * 32}));
  EXPECT_EQ(small.switch_bits_per_second, published().switch_bits_per_second);
  EXPECT_EQ(small.fabric.loss.uplink, 1.0 / 2048);
  EXPECT_EQ(small.fabric.loss.t1, 8.0 / 2048);
}

TEST(Plan, UplinksThatAreFewLimitTheBisection) {
  const Shape shape{.planes = 1, .racks = 4, .hosts_per_rack = 8, .uplinks = 2};
  const Design fabric = plan(shape).fabric;
  EXPECT_EQ(fabric.oversubscription, 4);
  EXPECT_EQ(fabric.bisection_bits_per_second, 4 * 2 * 100e9 / 2);
  EXPECT_EQ(fabric.transceivers, 2 * (32 + 8));
}

TEST(Plan, UplinksThatAreManyDoNotRaiseIt) {
  const Shape shape{.planes = 1, .racks = 4, .hosts_per_rack = 2, .uplinks = 8};
  EXPECT_EQ(plan(shape).fabric.bisection_bits_per_second, 8 * 100e9 / 2);
  EXPECT_EQ(plan(shape).fabric.oversubscription, 0.25);
}

TEST(Plan, FasterUplinksCountForMore) {
  const Design fabric = plan({.planes = 2,
                              .racks = 4,
                              .hosts_per_rack = 8,
                              .uplinks = 2,
                              .host_link_bits_per_second = 100'000'000'000,
                              .uplink_bits_per_second = 400'000'000'000})
                            .fabric;
  EXPECT_EQ(fabric.oversubscription, 1);
  EXPECT_EQ(fabric.switch_links, 16);
  EXPECT_EQ(fabric.transceivers, 2 * 32 + 2 * 16 * 400 / 200);
}

TEST(Plan, OneTierHasNoUplinksToLose) {
  const Plan both = plan({.planes = 4, .racks = 1, .hosts_per_rack = 64});
  EXPECT_EQ(both.fabric.switches, (Tiers{4}));
  EXPECT_EQ(both.fabric.switch_links, 0);
  EXPECT_EQ(both.fabric.longest_path, 1);
  EXPECT_EQ(both.fabric.bisection_bits_per_second, 64 * 4 * 100e9 / 2);
  EXPECT_EQ(both.fabric.loss.uplink, 0);
  EXPECT_EQ(both.fabric.loss.t1, 0);
  ASSERT_TRUE(both.same_hosts);
  EXPECT_EQ(both.radix, 16);
  EXPECT_EQ(both.same_hosts->switches, (Tiers{8, 4})) << "64 hosts under 16 ports";
}

TEST(Plan, TheChipIsTheLargerOfTheTwoAndHasAnEvenNumberOfPorts) {
  EXPECT_EQ(plan({.planes = 1, .racks = 16, .hosts_per_rack = 2, .uplinks = 2}).radix, 16) << "T1";
  EXPECT_EQ(plan({.planes = 1, .racks = 2, .hosts_per_rack = 4, .uplinks = 4}).radix, 8) << "T0";
  EXPECT_EQ(plan({.planes = 1, .racks = 1, .hosts_per_rack = 5}).radix, 4);
}

TEST(Plan, SwitchesSmallerThanANicHaveNothingBesideThem) {
  const Plan alone = plan({.planes = 8, .racks = 2, .hosts_per_rack = 2, .uplinks = 1});
  EXPECT_EQ(alone.radix, 0);
  EXPECT_FALSE(alone.three_tiers);
  EXPECT_FALSE(alone.same_hosts);
}

TEST(Plan, ManyHostsUnderTheSmallestSwitchesTakeManyTiers) {
  const Plan both = plan({.planes = 16,
                          .racks = 1024,
                          .hosts_per_rack = 64,
                          .uplinks = 1,
                          .host_link_bits_per_second = 1'000'000'000,
                          .uplink_bits_per_second = 1'000'000});
  EXPECT_EQ(both.radix, 4);
  ASSERT_TRUE(both.same_hosts);
  EXPECT_EQ(both.same_hosts->switches.size(), 15) << "2 x 2^15 hosts";
}

// The largest fabric of three tiers of switches with 16 ports is what others are compared with.
TEST(Plan, ThreeTiersAreWhatIsComparedWith) {
  const Plan both = plan(
      {.planes = 1, .racks = 128, .hosts_per_rack = 8, .uplinks = 8, .pods = 16, .t1_uplinks = 8});
  ASSERT_TRUE(both.three_tiers);
  const Design& tree = *both.three_tiers;
  EXPECT_EQ(both.radix, 16);
  EXPECT_EQ(both.fabric.hosts, 1'024);
  EXPECT_EQ(both.fabric.hosts, tree.hosts);
  EXPECT_EQ(both.fabric.switches, tree.switches);
  EXPECT_EQ(both.fabric.switch_links, tree.switch_links);
  EXPECT_EQ(both.fabric.transceivers, tree.transceivers);
  EXPECT_EQ(both.fabric.longest_path, tree.longest_path);
  EXPECT_EQ(both.fabric.bisection_bits_per_second, tree.bisection_bits_per_second);
  EXPECT_EQ(both.fabric.loss.t1, tree.loss.t1);
  EXPECT_EQ(both.fabric.loss.t2, tree.loss.t2);
  EXPECT_EQ(both.fabric.loss.t2, 1.0 / 64);
}

TEST(Plan, FewUplinksOfT1sLimitTheBisection) {
  const Design fabric =
      plan({.planes = 1, .racks = 4, .hosts_per_rack = 4, .uplinks = 4, .pods = 2, .t1_uplinks = 1})
          .fabric;
  EXPECT_EQ(fabric.oversubscription, 1) << "of a T0";
  EXPECT_EQ(fabric.bisection_bits_per_second, 8 * 1 * 100e9 / 2);
}

}  // namespace
}  // namespace openmrc::fabric
