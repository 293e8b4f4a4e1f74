// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/bill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "openmrc/fabric/test_parts.h"

namespace openmrc::fabric {
namespace {

TEST(Bill, EveryLinkIsVisitedOnce) {
  std::set<LinkId> seen;
  for_each_link(hand_made_fabric(),
                [&](const LinkId& link) { EXPECT_TRUE(seen.insert(link).second); });
  EXPECT_EQ(seen.size(), 2U * 16 + 2U * 4 * 4);
}

// floor_plan_test.cc has the picture: of each rack two hosts of four stand beside their T0s;
// uplinks are 7.4, 8.0, 8.6 and 9.2 m long.
TEST(Bill, LinksGetTheFirstCableThatIsLongEnough) {
  const CablePlan plan = cable_plan(hand_made_fabric(), hand_made_parts());
  ASSERT_EQ(plan.uses.size(), 3U);
  EXPECT_EQ(plan.uses[0].host_links, 4U * 2 * 2) << "two hosts, two planes";
  EXPECT_EQ(plan.uses[0].switch_links, 0U);
  EXPECT_DOUBLE_EQ(plan.uses[0].longest_m, 2);
  EXPECT_EQ(plan.uses[1].host_links, 4U * 2 * 2);
  EXPECT_EQ(plan.uses[1].switch_links, 2U * 2 * 4) << "of the racks at the left";
  EXPECT_DOUBLE_EQ(plan.uses[1].longest_m, 8);
  EXPECT_EQ(plan.uses[2].host_links, 0U);
  EXPECT_EQ(plan.uses[2].switch_links, 2U * 4) << "plane 1 of those at the right";
  EXPECT_EQ(plan.too_long.switch_links, 2U * 4) << "and plane 0";
  EXPECT_DOUBLE_EQ(plan.too_long.longest_m, 9.2);
  // Four links of 100 Gb/s to a cable of 400 Gb/s.
  EXPECT_EQ(plan.uses[0].cables, 4U);
  EXPECT_EQ(plan.uses[1].cables, 8U);
  EXPECT_EQ(plan.uses[2].cables, 2U);
}

TEST(Bill, OfAFabricWithItsCables) {
  const Fabric fabric = hand_made_fabric();
  const Parts parts = hand_made_parts();
  const Bill bill = bill_of(plan_of(fabric).fabric, cable_plan(fabric, parts), parts);
  EXPECT_DOUBLE_EQ(bill.switch_watts, 16 * 10);
  EXPECT_DOUBLE_EQ(bill.switch_price, 16 * 1000);
  EXPECT_DOUBLE_EQ(bill.cable_watts, 2 * (4 * 1 + 8 * 5 + 2 * 7));
  EXPECT_DOUBLE_EQ(bill.cable_price, 4 * 20 + 8 * (2 * 30 + 10) + 2 * (2 * 40 + 12));
  EXPECT_DOUBLE_EQ(bill.watts(), 160 + 116);
  EXPECT_DOUBLE_EQ(bill.price(), 16'000 + 824);
}

// 64 links of 100 Gb/s are 16 cables of 400 Gb/s.
TEST(Bill, OfADesignWithoutAPlace) {
  const Bill bill = optical_bill(plan_of(hand_made_fabric()).fabric, hand_made_parts());
  EXPECT_DOUBLE_EQ(bill.cable_watts, 2 * 16 * 5);
  EXPECT_DOUBLE_EQ(bill.cable_price, 16 * (2 * 30 + 10));
  EXPECT_DOUBLE_EQ(bill.switch_watts, 160);
}

// 6,144 switches of 913 W, 524,288 transceivers of 17 W; three tiers: 5,120 and 393,216.
TEST(Bill, ThePublishedFabricBesideThreeTiers) {
  Parts parts = hand_made_parts();
  parts.switch_part = {.tbps = 51.2, .watts = 913, .price = 200'000};
  parts.cables[1] = {.name = "optics",
                     .optical = true,
                     .gbps = 800,
                     .reach_m = 500,
                     .watts = 17,
                     .end_price = 1250,
                     .price = 100};
  const Plan plan = plan_of(
      Fabric::make({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}).value());
  const Bill fabric = optical_bill(plan.fabric, parts);
  EXPECT_DOUBLE_EQ(fabric.switch_watts, 5'609'472);
  EXPECT_DOUBLE_EQ(fabric.cable_watts, 8'912'896);
  EXPECT_DOUBLE_EQ(fabric.cable_price, 524'288 * 1250.0 + 262'144 * 100.0);
  const Bill tree = optical_bill(*plan.three_tiers, parts);
  EXPECT_DOUBLE_EQ(tree.switch_watts, 4'674'560);
  EXPECT_DOUBLE_EQ(tree.cable_watts, 6'684'672);
}

}  // namespace
}  // namespace openmrc::fabric
