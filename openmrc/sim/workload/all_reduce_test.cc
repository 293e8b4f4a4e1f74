// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/all_reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <set>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using enum AllReduceKind;

constexpr std::uint64_t kVectorBytes = 1'000'003;  // divisible by nothing

std::vector<AllReducePlan> plans() {
  std::vector<AllReducePlan> result;
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    result.push_back({.ranks = ranks, .kind = kRing});
    if (std::has_single_bit(ranks)) result.push_back({.ranks = ranks, .kind = kHalvingDoubling});
  }
  return result;
}

TEST(Slice, CutsEverythingAndEvenly) {
  for (const std::uint32_t parts : {1U, 2U, 7U, 64U}) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < parts; ++i) {
      const std::uint64_t bytes = slice_bytes(kVectorBytes, parts, i);
      EXPECT_GE(bytes, kVectorBytes / parts);
      EXPECT_LE(bytes, kVectorBytes / parts + 1);
      sum += bytes;
    }
    EXPECT_EQ(sum, kVectorBytes);
  }
  EXPECT_EQ(slice_bytes(kVectorBytesMax, 1U << 19, (1U << 19) - 1), kVectorBytesMax >> 19);
}

TEST(AllReducePlan, HasItsNumberOfRounds) {
  EXPECT_EQ((AllReducePlan{.ranks = 8, .kind = kRing}.rounds()), 14U);
  EXPECT_EQ((AllReducePlan{.ranks = 8, .kind = kHalvingDoubling}.rounds()), 6U);
  EXPECT_EQ((AllReducePlan{.ranks = 2, .kind = kRing}.rounds()), 2U);
}

TEST(AllReducePlan, HalvesAndThenDoubles) {
  const AllReducePlan plan{.ranks = 8, .kind = kHalvingDoubling};
  const std::vector<AllReduceRound> expected{
      {.to = 7, .from = 7, .bytes = 400}, {.to = 1, .from = 1, .bytes = 200},
      {.to = 2, .from = 2, .bytes = 100}, {.to = 2, .from = 2, .bytes = 100},
      {.to = 1, .from = 1, .bytes = 200}, {.to = 7, .from = 7, .bytes = 400}};
  for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
    EXPECT_EQ(plan.round(3, number, 800), expected[number]) << number;
  }
}

TEST(AllReducePlan, RingSendsToTheNext) {
  const AllReducePlan plan{.ranks = 4, .kind = kRing};
  for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
    EXPECT_EQ(plan.round(3, number, 400), (AllReduceRound{.to = 0, .from = 2, .bytes = 100}));
  }
}

// In each round everybody is sent to by whom he listens to.
TEST(AllReducePlan, SendersAndReceiversAgree) {
  for (const AllReducePlan& plan : plans()) {
    for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
      for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
        const AllReduceRound round = plan.round(rank, number, kVectorBytes);
        EXPECT_NE(round.to, rank);
        EXPECT_EQ(plan.round(round.from, number, kVectorBytes).to, rank);
        EXPECT_LT(plan.source_number(rank, round.from), plan.sources());
      }
    }
  }
}

TEST(AllReducePlan, MovesTwiceTheVectorLessOneSlice) {
  for (const AllReducePlan& plan : plans()) {
    std::uint64_t all = 0;
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
      for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
        all += plan.round(rank, number, kVectorBytes).bytes;
      }
    }
    EXPECT_EQ(all, 2 * kVectorBytes * (plan.ranks - 1)) << plan.ranks;
  }
}

TEST(AllReducePlan, SourcesHaveNumbersOfTheirOwn) {
  for (const AllReducePlan& plan : plans()) {
    std::set<std::uint32_t> sources;
    std::set<std::uint32_t> numbers;
    for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
      sources.insert(plan.round(1, number, kVectorBytes).from);
      numbers.insert(plan.source_number(1, plan.round(1, number, kVectorBytes).from));
    }
    EXPECT_EQ(sources.size(), plan.sources());
    EXPECT_EQ(numbers.size(), plan.sources());
  }
}

}  // namespace
}  // namespace openmrc::sim
