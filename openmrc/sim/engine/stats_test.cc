// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/stats.h"

#include <gtest/gtest.h>

#include "openmrc/base/rng.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }

void count(Stats& stats, Picoseconds when, std::uint64_t bytes) {
  stats.bucket(when).payload_bytes[1] += bytes;
  stats.bucket(when).queue_max_bytes[0] =
      std::max<std::uint64_t>(stats.bucket(when).queue_max_bytes[0], bytes);
}

TEST(Stats, WidensItsBucketsAsTimeGoesOn) {
  Stats stats(2, us(1));
  count(stats, us(0), 1);
  count(stats, us(1), 2);
  EXPECT_EQ(stats.buckets().size(), 2U);
  count(stats, us(1'000), 4);
  EXPECT_EQ(stats.bucket_width(), us(2));
  EXPECT_EQ(stats.buckets()[0].payload_bytes[1], 3U);
  EXPECT_EQ(stats.buckets()[0].queue_max_bytes[0], 2U);
  EXPECT_EQ(stats.buckets()[500].payload_bytes[1], 4U);
}

// Whoever counted what: the whole is the same.
TEST(Stats, GivesTheSameWholeHoweverTheWorkIsDivided) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Stats one(2, us(1));
    Stats first(2, us(1));
    Stats second(2, us(1));
    for (int i = 0; i < 500; ++i) {
      const Picoseconds when = us(static_cast<std::int64_t>(rng.below(20'000)));
      const std::uint64_t bytes = rng.below(5'000);
      count(one, when, bytes);
      // The first sees only the beginning, so its buckets stay narrower for longer.
      count(when < us(600) ? first : second, when, bytes);
    }
    first.merge(second);
    ASSERT_EQ(first.bucket_width(), one.bucket_width());
    ASSERT_EQ(first.buckets(), one.buckets());
  }
}

TEST(Stats, TravelsAsBytes) {
  Stats stats(2, us(1));
  count(stats, us(3), 7);
  stats.bucket(us(3)).marked = 4;
  stats.bucket(us(1)).ev_changes[2] = -1;
  stats.totals.packets_trimmed = 9;
  stats.flows.push_back({.from = 1, .to = 2, .bytes = 3, .end = us(4)});
  stats.add_step({.begin = us(1), .end = us(2), .hosts = 5}, 0);
  const Stats copy = Stats::from_bytes(stats.to_bytes());
  EXPECT_EQ(copy.totals, stats.totals);
  EXPECT_EQ(copy.flows, stats.flows);
  EXPECT_EQ(copy.steps, stats.steps);
  EXPECT_EQ(copy.buckets(), stats.buckets());
  EXPECT_EQ(copy.bucket_width(), stats.bucket_width());
}

TEST(Stats, TakesTheFirstBeginAndTheLastEndOfAStep) {
  Stats stats(1, us(1));
  stats.add_step({.begin = us(5), .end = us(9), .hosts = 1}, 1);
  stats.add_step({.begin = us(4), .end = us(8), .hosts = 1}, 1);
  ASSERT_EQ(stats.steps.size(), 2U);
  EXPECT_EQ(stats.steps[1], (StepRecord{.begin = us(4), .end = us(9), .hosts = 2}));
}

}  // namespace
}  // namespace openmrc::sim
