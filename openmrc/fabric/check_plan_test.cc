// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/check_plan.h"

#include <gtest/gtest.h>

#include "openmrc/base/rng.h"

namespace openmrc::fabric {
namespace {

TEST(CheckPlan, ThePublishedFabricHoldsForAMillionPaths) {
  const UsidPlan plan(
      Fabric::make({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}).value());
  const auto checked = check_plan(plan, 1'000'000, 2026);
  ASSERT_TRUE(checked) << checked.error();
  EXPECT_EQ(checked->switch_usids, 6144);
  EXPECT_EQ(checked->host_usids, 4096 * 256);
  EXPECT_EQ(checked->inner_addresses, 131'072 * 8);
  EXPECT_EQ(checked->paths, 1'000'000);
  const auto& by_switches = checked->paths_by_switches;
  EXPECT_EQ(by_switches[1] + by_switches[3], 1'000'000);
  EXPECT_NEAR(static_cast<double>(by_switches[1]), 1e6 / 512, 300) << "hosts of one rack";
}

TEST(CheckPlan, TheLargestFabricHolds) {
  const UsidPlan plan(
      Fabric::make(
          {.planes = kPlanesMax, .racks = kRacksMax, .hosts_per_rack = 16, .uplinks = kUplinksMax})
          .value(),
      0x20010db8);
  const auto checked = check_plan(plan, 10'000, 1);
  ASSERT_TRUE(checked) << checked.error();
  EXPECT_EQ(checked->switch_usids, 16 * 2048);
}

TEST(CheckPlan, FabricsOfAnyShapeHold) {
  Rng rng(7);
  const auto up_to = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(rng.between(1, most));
  };
  for (int i = 0; i < 200; ++i) {
    Shape shape{.planes = up_to(kPlanesMax), .racks = up_to(20), .hosts_per_rack = up_to(20)};
    if (shape.racks > 1) shape.uplinks = up_to(30);
    const auto checked = check_plan(UsidPlan(Fabric::make(shape).value()), 500, rng.next());
    ASSERT_TRUE(checked) << checked.error();
    EXPECT_EQ(checked->switch_usids, shape.planes * (shape.racks + shape.uplinks));
    EXPECT_EQ(checked->host_usids, shape.planes * shape.racks * shape.hosts_per_rack);
    EXPECT_EQ(checked->paths, 500);
  }
}

}  // namespace
}  // namespace openmrc::fabric
