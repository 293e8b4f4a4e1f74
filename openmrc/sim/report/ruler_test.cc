// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/ruler.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

using text::Unit;

using Numbers = std::vector<double>;

void expect_near(const Numbers& numbers, const Numbers& expected) {
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-9);
}

TEST(Ticks, AreRoundNumbers) {
  expect_near(ticks(0, 1, 5), {0, 0.2, 0.4, 0.6, 0.8, 1});
  expect_near(ticks(0, 170, 5), {0, 50, 100, 150});
  expect_near(ticks(0, 9, 5), {0, 2, 4, 6, 8});
  expect_near(ticks(1.802, 1.811, 4), {1.802, 1.804, 1.806, 1.808, 1.81});
}

TEST(Ticks, ThereAreAlwaysTwo) {
  expect_near(ticks(3, 3, 5), {3, 4});
  expect_near(ticks(0.4, 0.6, 1), {0.4, 0.6});
  expect_near(logarithmic_ticks(3, 4), {3, 4});
}

TEST(Ticks, OfMagnitudes) {
  expect_near(logarithmic_ticks(0.9, 60), {1, 2, 5, 10, 20, 50});
  expect_near(logarithmic_ticks(0.9, 20'000), {1, 10, 100, 1'000, 10'000});
}

TEST(Ruler, UsesTheScaleOfItsEnd) {
  const Ruler ruler(Unit::kPicoseconds, 0, 2e9, false, 4);
  EXPECT_EQ(ruler.unit_name(), "ms");
  expect_near(ruler.ticks(), {0, 0.5, 1, 1.5, 2});
  EXPECT_EQ(ruler.label(1.5), "1.5");
  EXPECT_EQ(ruler.label(2), "2.0");
  EXPECT_DOUBLE_EQ(ruler.place_of(1e9), 0.5);
  EXPECT_DOUBLE_EQ(ruler.place_of_tick(0.5), 0.25);
}

TEST(Ruler, LabelsHaveAsManyDigitsAsTheirDistanceNeeds) {
  EXPECT_EQ(Ruler(Unit::kPicoseconds, 1.802e9, 1.811e9, false, 4).label(1.804), "1.804");
  EXPECT_EQ(Ruler(Unit::kCount, 0, 250'000, false, 5).label(50'000), "50,000");
  EXPECT_EQ(Ruler(Unit::kCount, 0, 4e6, false, 4).label(3), "3");
}

TEST(Ruler, OfMagnitudes) {
  const Ruler ruler(Unit::kPicoseconds, 1e9, 100e9, true, 4);
  EXPECT_DOUBLE_EQ(ruler.place_of(10e9), 0.5);
  EXPECT_EQ(ruler.label(20), "20");
}

TEST(Ruler, OfNothingIsStillOne) {
  const Ruler ruler(Unit::kBytes, 0, 0, false, 5);
  EXPECT_EQ(ruler.place_of(0), 0);
  EXPECT_GE(ruler.ticks().size(), 2U);
}

}  // namespace
}  // namespace openmrc::sim
