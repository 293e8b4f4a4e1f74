// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/congestion/fair_share.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace openmrc::core {
namespace {

constexpr Duration kEpoch = microseconds(20);
constexpr std::uint32_t kSack = 16 * 1024;

// Three peers, and epochs one after the other.
class FairShareOfThree : public testing::Test {
 protected:
  // In one epoch each peer sends so many SACKs' worth.
  void epoch(std::array<unsigned, 3> sacks, std::uint32_t trimmed) {
    for (std::size_t peer = 0; peer < 3; ++peer) {
      for (unsigned i = 0; i < sacks[peer]; ++i) receive(peer);
    }
    fair_share_.on_trimmed_at_last_hop(trimmed);
    now_ = now_ + kEpoch;
  }
  void receive(std::size_t peer) { fair_share_.on_received(peers_[peer], kSack, now_, kEpoch); }
  // What each has to bear for the last epoch: known with the first that it sends in the next.
  unsigned penalty(std::size_t peer) {
    receive(peer);
    return peers_[peer].penalty;
  }

  FairShare fair_share_;
  std::array<ReceivedShare, 3> peers_{};
  Instant now_{};
};

// CC-39
TEST_F(FairShareOfThree, NobodyHasAPenaltyWhileNothingIsTrimmed) {
  epoch({1, 10, 100}, 0);
  EXPECT_EQ(penalty(0), 0);
  EXPECT_EQ(penalty(1), 0);
  EXPECT_EQ(penalty(2), 0);
}

// 10 + 20 + 60 are 30 for each. The third has twice as much: a quarter of half its window (CC-39).
TEST_F(FairShareOfThree, WhoHasMoreThanAnEqualShareHasOneByHowMuchMore) {
  epoch({10, 20, 60}, 10 * kSack);
  EXPECT_EQ(penalty(0), 0);
  EXPECT_EQ(penalty(1), 0);
  EXPECT_EQ(penalty(2), 128 / 2 / 4);
}

TEST_F(FairShareOfThree, ADifferenceOfTwoSacksIsNone) {
  epoch({10, 10, 13}, 10 * kSack);
  EXPECT_EQ(penalty(2), 0) << "two above the share of 11";
  now_ = now_ + kEpoch;
  epoch({10, 10, 14}, 10 * kSack);
  EXPECT_GT(penalty(2), 0);
}

// CC-39
TEST_F(FairShareOfThree, WhileMuchIsTrimmedOfSmallSharesNobodyGrows) {
  epoch({1, 1, 1}, 2 * kSack);
  EXPECT_EQ(penalty(0), 1);
  EXPECT_EQ(penalty(1), 1);
}

TEST_F(FairShareOfThree, WhoseShareIsLargeMayGrowHoweverMuchIsTrimmed) {
  epoch({10, 10, 10}, 20 * kSack);
  EXPECT_EQ(penalty(0), 0);
}

TEST_F(FairShareOfThree, AFewTrimsAreNothing) {
  epoch({10, 10, 76}, 3 * kSack);
  EXPECT_EQ(penalty(2), 0) << "3 of 96 is a thirty-second";
}

// CC-39
TEST_F(FairShareOfThree, ThePenaltyEndsWithTheNextEpochThatIsFair) {
  epoch({10, 20, 60}, 10 * kSack);
  epoch({30, 30, 30}, 10 * kSack);
  EXPECT_EQ(peers_[2].penalty, 16) << "for the epoch before";
  EXPECT_EQ(penalty(2), 0);
}

TEST_F(FairShareOfThree, WhoWasSilentForAnEpochHasNone) {
  epoch({10, 20, 60}, 10 * kSack);
  epoch({30, 30, 0}, 10 * kSack);
  EXPECT_EQ(penalty(2), 0);
}

// A peer with nearly all of it halves its window within a round trip, at most.
TEST_F(FairShareOfThree, ThePenaltyHasALimit) {
  epoch({1, 1, 4'000}, 1'000 * kSack);
  EXPECT_LE(penalty(2), FairShare::kPenaltyMax);
  EXPECT_GT(peers_[2].penalty, 16);
}

}  // namespace
}  // namespace openmrc::core
