// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/drawn_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace openmrc::profile {
namespace {

fabric::UsidPlan plan_of(std::uint32_t planes, std::uint32_t uplinks) {
  const auto fabric =
      fabric::Fabric::make({.planes = planes, .racks = 4, .hosts_per_rack = 8, .uplinks = uplinks});
  return fabric::UsidPlan(*fabric);
}

std::vector<std::uint16_t> of_plane(const DrawnPaths& paths, std::uint32_t planes,
                                    std::uint32_t plane) {
  const std::size_t per_plane = paths.numbers.size() / planes;
  const auto first = paths.numbers.begin() + static_cast<std::ptrdiff_t>(plane * per_plane);
  return {first, first + static_cast<std::ptrdiff_t>(per_plane)};
}

TEST(DrawnPaths, AreTheSameForTheSameSetAndDifferForOthers) {
  const auto plan = plan_of(4, 32);
  const PathOptions options{.evs = 32};
  const auto one = draw_paths(plan, options, 3);
  const auto again = draw_paths(plan, options, 3);
  const auto other = draw_paths(plan, options, 4);
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(one->numbers, again->numbers);
  EXPECT_NE(one->numbers, other->numbers);
  EXPECT_NE(draw_paths(plan, {.evs = 32, .seed = 2}, 3)->numbers, one->numbers);
}

TEST(DrawnPaths, AreDifferentWithinAPlaneAsLongAsThereAreEnough) {
  const auto paths = draw_paths(plan_of(2, 16), {.evs = 32, .distinct = false}, 0);
  ASSERT_TRUE(paths);
  for (const std::uint32_t plane : {0u, 1u}) {
    const auto uplinks = of_plane(*paths, 2, plane);
    EXPECT_EQ(std::set(uplinks.begin(), uplinks.end()).size(), 16u);
  }
}

TEST(DrawnPaths, RepeatEvenlyUnlessTheyShallBeDistinct) {
  const auto plan = plan_of(2, 4);
  const auto repeated = draw_paths(plan, {.evs = 64, .distinct = false}, 0);
  ASSERT_TRUE(repeated);
  ASSERT_EQ(repeated->numbers.size(), 64u);
  const auto uplinks = of_plane(*repeated, 2, 1);
  for (std::uint16_t uplink = 0; uplink < 4; ++uplink) {
    EXPECT_EQ(std::ranges::count(uplinks, uplink), 8);
  }
  const auto distinct = draw_paths(plan, {.evs = 64, .distinct = true}, 0);
  ASSERT_TRUE(distinct);
  EXPECT_EQ(distinct->numbers.size(), 8u);
}

// PATH-85
TEST(DrawnPaths, HaveOnePathInEachPlaneWithinTheRack) {
  const auto paths = draw_paths(plan_of(4, 8), {.evs = 32, .min_active = 16}, 0);
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->own_rack->size(), 4u);
  EXPECT_EQ(paths->own_rack->min_active(), 4u);
  EXPECT_EQ(paths->other_racks->size(), 32u);
  EXPECT_EQ(paths->other_racks->min_active(), 16u);
}

TEST(DrawnPaths, ErrorsOfTheProfileAreReported) {
  const auto paths = draw_paths(plan_of(2, 4), {.evs = 8, .active_per_plane = 5}, 0);
  ASSERT_FALSE(paths);
  EXPECT_EQ(paths.error().fault, core::EvProfileFault::kActivePerPlane);
}

TEST(DrawnPaths, FixedUplinksAreTheSameInEveryPlane) {
  const std::vector<std::uint16_t> uplinks{3, 1};
  const auto paths = paths_over(plan_of(2, 4), {}, uplinks);
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->numbers, (std::vector<std::uint16_t>{3, 1, 3, 1}));
}

}  // namespace
}  // namespace openmrc::profile
