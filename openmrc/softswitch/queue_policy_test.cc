// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/queue_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "openmrc/base/rng.h"

namespace openmrc::softswitch {
namespace {

using wire::Dscp;
using wire::TrimPlace;

constexpr std::uint32_t kMax32 = std::numeric_limits<std::uint32_t>::max();

// MRC 8 (CC-47)
TEST(Treatment, FollowsTheDscp) {
  constexpr wire::DscpMap kMap;
  constexpr Treatment kControl{.queue = QueueClass::kControl};
  constexpr Treatment kTrimmed{.queue = QueueClass::kControl, .trimmed = true};
  constexpr Treatment kTrimmable{.queue = QueueClass::kData, .trimmable = true};
  EXPECT_EQ(treatment_of(kMap, kMap.control), kControl);
  EXPECT_EQ(treatment_of(kMap, kMap.trimmed), kTrimmed);
  EXPECT_EQ(treatment_of(kMap, kMap.trimmed_last_hop), kTrimmed);
  EXPECT_EQ(treatment_of(kMap, kMap.trimmable), kTrimmable);
  EXPECT_EQ(treatment_of(kMap, kMap.trimmable_retransmission), kTrimmable);
  EXPECT_EQ(treatment_of(kMap, kMap.no_trim), Treatment{});
  EXPECT_EQ(treatment_of(kMap, Dscp(0)), Treatment{});
  EXPECT_EQ(treatment_of(kMap, Dscp(63)), Treatment{});
}

constexpr QueuePolicy kPolicy{.ecn_min_bytes = 2'000,
                              .ecn_max_bytes = 8'000,
                              .data_max_bytes = 10'000,
                              .control_max_bytes = 1'000};

Verdict judge_data(const QueuePolicy& policy, bool trimmable, std::uint32_t data_waiting,
                   std::uint32_t control_waiting) {
  return judge_arrival(policy, QueueClass::kData, trimmable, 4'000, 100, data_waiting,
                       control_waiting);
}

TEST(Arrival, DataIsQueuedUpToItsLimit) {
  EXPECT_EQ(judge_data(kPolicy, true, 6'000, 1'000), Verdict::kQueue);
  EXPECT_EQ(judge_data(kPolicy, true, 6'001, 0), Verdict::kTrim);
}

// CC-49
TEST(Arrival, DataIsTrimmedIfItMayBeAndThePortDoes) {
  EXPECT_EQ(judge_data(kPolicy, true, 10'000, 900), Verdict::kTrim);
  EXPECT_EQ(judge_data(kPolicy, false, 10'000, 900), Verdict::kDropData);
  QueuePolicy drops = kPolicy;
  drops.trims = false;
  EXPECT_EQ(judge_data(drops, true, 10'000, 900), Verdict::kDropData);
}

TEST(Arrival, ATrimmedPacketNeedsRoomAmongControl) {
  EXPECT_EQ(judge_data(kPolicy, true, 10'000, 901), Verdict::kDropControl);
}

// CC-48
TEST(Arrival, ControlIsQueuedUpToItsLimitAndNeverTrimmed) {
  const auto judge = [](std::uint32_t waiting) {
    return judge_arrival(kPolicy, QueueClass::kControl, true, 100, 100, 10'000, waiting);
  };
  EXPECT_EQ(judge(0), Verdict::kQueue);
  EXPECT_EQ(judge(900), Verdict::kQueue);
  EXPECT_EQ(judge(901), Verdict::kDropControl);
}

TEST(Arrival, LimitsMayBeAsLargeAsTheirType) {
  QueuePolicy large = kPolicy;
  large.data_max_bytes = large.control_max_bytes = kMax32;
  EXPECT_EQ(judge_data(large, true, kMax32 - 4'000, 0), Verdict::kQueue);
  EXPECT_EQ(judge_data(large, true, kMax32 - 3'999, 0), Verdict::kTrim);
  EXPECT_EQ(judge_data(large, true, kMax32, kMax32), Verdict::kDropControl);
}

// MRC 8
TEST(Marking, GoesFromNeverToAlways) {
  EXPECT_FALSE(marks_congestion(kPolicy, 2'000, 0));
  EXPECT_TRUE(marks_congestion(kPolicy, 2'001, 0));
  EXPECT_FALSE(marks_congestion(kPolicy, 7'999, kMax32));
  EXPECT_TRUE(marks_congestion(kPolicy, 8'000, kMax32));
}

// CC-50
TEST(Marking, IsInBetweenAsLikelyAsTheQueueIsFull) {
  // 5,000 is halfway from 2,000 to 8,000, and 3,500 a quarter.
  EXPECT_TRUE(marks_congestion(kPolicy, 5'000, (1u << 31) - 1));
  EXPECT_FALSE(marks_congestion(kPolicy, 5'000, 1u << 31));
  EXPECT_TRUE(marks_congestion(kPolicy, 3'500, (1u << 30) - 1));
  EXPECT_FALSE(marks_congestion(kPolicy, 3'500, 1u << 30));
}

TEST(Marking, RisesToItsLargestShareAndIsCertainAboveTheUpperThreshold) {
  QueuePolicy gentle = kPolicy;
  gentle.ecn_share_max = mark_share(250'000'000);
  EXPECT_TRUE(marks_congestion(gentle, 5'000, (1u << 29) - 1)) << "half of a quarter";
  EXPECT_FALSE(marks_congestion(gentle, 5'000, 1u << 29));
  EXPECT_FALSE(marks_congestion(gentle, 7'999, 1u << 30));
  EXPECT_TRUE(marks_congestion(gentle, 8'000, kMax32));
}

TEST(Marking, IsOffWithoutThresholds) {
  QueuePolicy off = kPolicy;
  off.ecn_min_bytes = off.ecn_max_bytes = 0;
  EXPECT_FALSE(marks_congestion(off, kMax32, 0));
  EXPECT_FALSE(may_mark_congestion(off, kMax32));
}

TEST(Marking, WithOneThresholdIsAStep) {
  QueuePolicy step = kPolicy;
  step.ecn_min_bytes = step.ecn_max_bytes = 5'000;
  EXPECT_FALSE(marks_congestion(step, 5'000, 0));
  EXPECT_TRUE(marks_congestion(step, 5'001, kMax32));
}

TEST(Marking, NeedsARandomNumberOnlyWhereItMayHappen) {
  for (std::uint32_t waiting = 0; waiting < 10'000; waiting += 100) {
    EXPECT_EQ(may_mark_congestion(kPolicy, waiting), marks_congestion(kPolicy, waiting, 0));
  }
}

TEST(RecommendedPolicy, HasTheThresholdsOfUltraEthernet) {
  EXPECT_EQ(recommended_policy(100'000, TrimPlace::kOnPath),
            (QueuePolicy{.ecn_min_bytes = 20'000,
                         .ecn_max_bytes = 80'000,
                         .data_max_bytes = 100'000,
                         .control_max_bytes = 100'000,
                         .trims = true,
                         .place = TrimPlace::kOnPath}));
}

// MRC 8 (CC-51)
TEST(RecommendedPolicy, DoesNotMarkOnTheLastHop) {
  EXPECT_EQ(recommended_policy(100'000, TrimPlace::kLastHop),
            (QueuePolicy{.ecn_min_bytes = 0,
                         .ecn_max_bytes = 0,
                         .data_max_bytes = 150'000,
                         .control_max_bytes = 100'000,
                         .trims = true,
                         .place = TrimPlace::kLastHop}));
}

// ---- FairShare ----

constexpr std::int64_t kCreditMax = 16'384;
constexpr std::int64_t kPacketMax = 9'216;

// Both queues always have a packet. Sizes come from the caller.
struct Contest {
  FairShare share;
  std::int64_t control = 0;
  std::int64_t data = 0;

  QueueClass step(std::uint32_t control_size, std::uint32_t data_size) {
    const QueueClass queue = share.next();
    const std::uint32_t size = queue == QueueClass::kControl ? control_size : data_size;
    share.charge(queue, size);
    (queue == QueueClass::kControl ? control : data) += size;
    return queue;
  }
};

TEST(FairShare, LetsControlGoFirst) { EXPECT_EQ(FairShare().next(), QueueClass::kControl); }

TEST(FairShare, SharesBytesNotPackets) {
  Contest contest;
  for (int i = 0; i < 100'000; ++i) contest.step(100, 4'200);
  EXPECT_NEAR(static_cast<double>(contest.control) / static_cast<double>(contest.data), 1.0, 0.01);
}

// MRC 8: the bound that its comment states, for packets of any size in any order, from every point
// in time on.
TEST(FairShare, LetsNeitherQueueGetAheadByMoreThanItsCreditAndAPacket) {
  Rng rng(1);
  for (int run = 0; run < 100; ++run) {
    Contest contest;
    std::int64_t highest = 0;  // of control less data
    std::int64_t lowest = 0;
    for (int i = 0; i < 2'000; ++i) {
      contest.step(static_cast<std::uint32_t>(rng.between(1, kPacketMax)),
                   static_cast<std::uint32_t>(rng.between(1, kPacketMax)));
      highest = std::max(highest, contest.control - contest.data);
      lowest = std::min(lowest, contest.control - contest.data);
    }
    ASSERT_LE(highest - lowest, kCreditMax + kPacketMax) << "run " << run;
    ASSERT_GT(contest.data, kCreditMax) << "run " << run;
    ASSERT_GT(contest.control, kCreditMax) << "run " << run;
  }
}

// Even what is longer than the credit does not give control more than half.
TEST(FairShare, HoldsWithPacketsLongerThanTheCredit) {
  Contest contest;
  for (int i = 0; i < 1'000; ++i) {
    contest.step(65'535, 65'535);
    EXPECT_LE(contest.control - contest.data, kCreditMax + 65'535);
  }
  Contest small_data;
  for (int i = 0; i < 10'000; ++i) {
    small_data.step(65'535, 100);
    EXPECT_LE(small_data.control - small_data.data, kCreditMax + 65'535);
  }
}

// However long data went alone, control cannot save up more than its credit.
TEST(FairShare, DoesNotSaveUpTurns) {
  FairShare share;
  for (int i = 0; i < 1'000; ++i) share.charge(QueueClass::kData, 4'200);
  std::int64_t in_a_row = 0;
  while (share.next() == QueueClass::kControl) {
    share.charge(QueueClass::kControl, 100);
    in_a_row += 100;
  }
  EXPECT_LE(in_a_row, kCreditMax + 100);
}

}  // namespace
}  // namespace openmrc::softswitch
