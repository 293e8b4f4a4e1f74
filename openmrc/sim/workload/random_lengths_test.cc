// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/random_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

constexpr int kDraws = 20'000;
constexpr Picoseconds kMean{1'000'000'000};

template <class Draw>
std::vector<double> draws(Draw draw) {
  Rng rng(5);
  std::vector<double> values;
  for (int i = 0; i < kDraws; ++i) values.push_back(static_cast<double>(draw(rng)));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double share_above(const std::vector<double>& values, double limit) {
  return static_cast<double>(std::ranges::count_if(values, [&](double v) { return v > limit; })) /
         static_cast<double>(values.size());
}

TEST(RandomLengths, TheLogarithmIsThatOfTheMathematicsLibrary) {
  Rng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t number = std::max<std::uint64_t>(1, rng.next() >> (i % 64));
    const double expected = (64 * std::log(2.0) - std::log(static_cast<double>(number)));
    EXPECT_NEAR(static_cast<double>(minus_ln(number)) / kFixedOne, expected, 3e-8) << number;
  }
  EXPECT_EQ(minus_ln(std::numeric_limits<std::uint64_t>::max()), 0U);
}

TEST(RandomLengths, NormalHasItsMomentsAndTails) {
  const auto values = draws([](Rng& rng) { return draw_normal(rng); });
  EXPECT_NEAR(mean_of(values) / kFixedOne, 0, 0.03);
  EXPECT_NEAR(deviation_of(values) / kFixedOne, 1, 0.03);
  EXPECT_NEAR(share_above(values, 1.96 * kFixedOne), 0.025, 0.005);
  EXPECT_NEAR(share_above(values, 0), 0.5, 0.02);
}

TEST(RandomLengths, ExponentialHasItsMeanAndForgets) {
  const auto values = draws([](Rng& rng) { return draw_exponential(rng, kMean).raw(); });
  EXPECT_NEAR(mean_of(values), 1e9, 3e7);
  EXPECT_NEAR(deviation_of(values), 1e9, 4e7);
  EXPECT_NEAR(share_above(values, 1e9), std::exp(-1), 0.015);
  EXPECT_NEAR(share_above(values, 3e9), std::exp(-3), 0.006);
}

TEST(RandomLengths, LognormalHasItsMeanAndMedian) {
  for (const std::uint32_t percent : {0U, 50U, 100U}) {
    const double sigma = percent / 100.0;
    const auto values = draws([&](Rng& rng) { return draw_lognormal(rng, kMean, percent).raw(); });
    EXPECT_NEAR(mean_of(values) / 1e9, 1, 0.01 + 0.04 * sigma) << percent;
    const double median = 1e9 * std::exp(-sigma * sigma / 2);
    EXPECT_NEAR(share_above(values, median * 1.000001), sigma == 0 ? 0 : 0.5, 0.02) << percent;
    EXPECT_NEAR(share_above(values, median * std::exp(sigma) * 1.000001), sigma == 0 ? 0 : 0.159,
                0.012);
  }
}

// They may not move when compilers or machines change.
TEST(RandomLengths, TheSameNumbersEverywhere) {
  Rng rng(42);
  EXPECT_EQ(draw_exponential(rng, kMean).raw(), 205'420'112);
  EXPECT_EQ(draw_normal(rng), 2'832'281'472);
  EXPECT_EQ(draw_lognormal(rng, kMean, 100).raw(), 766'597'885);
}

TEST(RandomLengths, NoneIsTooLongToBeAdded) {
  constexpr Picoseconds kLongest{static_cast<std::int64_t>(text::kAmountMax)};
  Rng rng(1);
  bool reached = false;
  for (int i = 0; i < 1'000; ++i) {
    for (const Picoseconds length :
         {draw_exponential(rng, kLongest), draw_lognormal(rng, kLongest, kSigmaPercentMax),
          draw_lognormal(rng, Picoseconds(1), kSigmaPercentMax)}) {
      EXPECT_GE(length, Picoseconds{});
      EXPECT_LE(length, kLongest);
      reached = reached || length == kLongest;
    }
  }
  EXPECT_TRUE(reached);
}

}  // namespace
}  // namespace openmrc::sim
