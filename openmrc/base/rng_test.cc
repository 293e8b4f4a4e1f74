// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace openmrc {
namespace {

// The published reference sequences of the two algorithms.
TEST(Rng, MatchesTheReferenceSequenceOfXoshiro256PlusPlus) {
  Rng rng(Rng::State{1, 2, 3, 4});
  for (const std::uint64_t expected :
       {41943041ull, 58720359ull, 3588806011781223ull, 3591011842654386ull, 9228616714210784205ull,
        9973669472204895162ull, 14011001112246962877ull, 12406186145184390807ull}) {
    EXPECT_EQ(rng.next(), expected);
  }
}

TEST(Rng, SeedsWithTheReferenceSequenceOfSplitMix64) {
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected : {6457827717110365317ull, 3203168211198807973ull,
                                       9817491932198370423ull, 4593380528125082431ull}) {
    EXPECT_EQ(split_mix(state), expected);
  }
}

TEST(Rng, SameSeedSameNumbers) {
  Rng a(42);
  Rng b(42);
  Rng c(43);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(Rng, BelowStaysBelowAndReachesEveryValue) {
  Rng rng(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < 60'000; ++i) ++seen.at(rng.below(6));
  for (const int count : seen) {
    EXPECT_GT(count, 9'500);
    EXPECT_LT(count, 10'500);
  }
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(7);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t value = rng.between(10, 13);
    ASSERT_GE(value, 10u);
    ASSERT_LE(value, 13u);
    low = low || value == 10;
    high = high || value == 13;
  }
  EXPECT_TRUE(low && high);
  rng.between(0, std::numeric_limits<std::uint64_t>::max());  // the whole range is no empty range
}

TEST(Rng, ChanceFollowsItsRatio) {
  Rng rng(11);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += rng.chance({1, 1'000}) ? 1 : 0;
  EXPECT_GT(hits, 60);
  EXPECT_LT(hits, 140);
  EXPECT_FALSE(rng.chance({0, 1}));
  EXPECT_TRUE(rng.chance({1, 1}));
}

TEST(Rng, ForksAreIndependentOfEachOtherAndLeaveTheParentAlone) {
  const Rng parent(5);
  Rng first = parent.fork(0);
  Rng second = parent.fork(1);
  Rng first_again = parent.fork(0);
  const std::uint64_t value = first.next();
  EXPECT_EQ(value, first_again.next());
  EXPECT_NE(value, second.next());
}

TEST(RngDeathTest, ThereIsNoNumberBelowZero) {
  Rng rng(1);
  EXPECT_DEATH(rng.below(0), "no number below zero");
}

}  // namespace
}  // namespace openmrc
