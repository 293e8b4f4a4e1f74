// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/estimate.h"

#include <gtest/gtest.h>

#include <numeric>

#include "openmrc/base/rng.h"

namespace openmrc::sim {
namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Estimate, OfNothingIsNone) { EXPECT_EQ(estimate_median({}), std::nullopt); }

TEST(Estimate, MedianIsTheMiddleValueOrBetweenTheMiddleTwo) {
  EXPECT_EQ(estimate_median({3, 1, 2})->median, 2);
  EXPECT_EQ(estimate_median({4, 1, 2, 3})->median, 2.5);
}

TEST(Estimate, OfOneValueIsSureOfNothing) {
  EXPECT_EQ(*estimate_median({5}),
            (Estimate{.count = 1, .median = 5, .low = 5, .high = 5, .confidence = 0}));
}

// 1 - 2 / 2^n.
TEST(Estimate, OfFewValuesIsTheirRange) {
  for (const std::size_t count : {2U, 3U, 4U, 5U, 6U}) {
    const Estimate estimate = *estimate_median(one_to(count));
    EXPECT_EQ(estimate.low, 1);
    EXPECT_EQ(estimate.high, static_cast<double>(count));
    EXPECT_NEAR(estimate.confidence, 1 - 2.0 / (1U << count), 1e-9);
  }
}

// Published tables of the sign test: ranks 2 and 9 of 10 (97.9 %), 6 and 15 of 20 (95.9 %), 40 and
// 61 of 100 (96.5 %).
TEST(Estimate, LeavesOutAsManyAsItCan) {
  struct Row {
    std::size_t count;
    double low;
    double high;
    double confidence;
  };
  for (const Row& row : {Row{10, 2, 9, 0.9785}, Row{20, 6, 15, 0.9586}, Row{100, 40, 61, 0.9648}}) {
    const Estimate estimate = *estimate_median(one_to(row.count));
    EXPECT_EQ(estimate.low, row.low) << row.count;
    EXPECT_EQ(estimate.high, row.high) << row.count;
    EXPECT_NEAR(estimate.confidence, row.confidence, 1e-4) << row.count;
  }
}

TEST(Estimate, OfVeryManyValuesIsNarrow) {
  const Estimate estimate = *estimate_median(one_to(10'000));
  EXPECT_GE(estimate.confidence, 0.95);
  EXPECT_LT(estimate.confidence, 0.952);
  EXPECT_NEAR(estimate.low, 4'902, 2);
  EXPECT_NEAR(estimate.high, 5'099, 2);
}

// The promise itself, for a lopsided distribution: the square of a uniform number has the median
// 1/4.
TEST(Estimate, HoldsTheMedianAsOftenAsItSays) {
  Rng rng(5);
  int held = 0;
  constexpr int kTimes = 4'000;
  for (int i = 0; i < kTimes; ++i) {
    std::vector<double> values(10);
    for (double& value : values) {
      const double uniform = static_cast<double>(rng.next() >> 11U) * 0x1p-53;
      value = uniform * uniform;
    }
    const Estimate estimate = *estimate_median(values);
    if (estimate.low <= 0.25 && 0.25 <= estimate.high) ++held;
  }
  EXPECT_NEAR(static_cast<double>(held) / kTimes, 0.9785, 0.008);
}

}  // namespace
}  // namespace openmrc::sim
