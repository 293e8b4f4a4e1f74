// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/base_rtt_probes.h"

#include <gtest/gtest.h>

namespace openmrc::core {
namespace {

constexpr Instant kBegin(5'000);
constexpr wire::EndpointRequestId kOneProbe{7};
constexpr wire::EndpointRequestId kNextProbe{8};

// CC-26, CC-54
TEST(BaseRttProbes, AreDueAfterARoundTripAndThenAtDoublingDistances) {
  BaseRttProbes probes;
  EXPECT_EQ(probes.next_time(), kNever);
  probes.start(kBegin, nanoseconds(200));
  EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(200));
  probes.postpone(kBegin, nanoseconds(500));
  EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(400));
  probes.postpone(kBegin, nanoseconds(500));
  EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(500));
  probes.stop();
  EXPECT_EQ(probes.next_time(), kNever);
}

TEST(BaseRttProbes, AreNotMovedByMoreDataThatBeginsToFlow) {
  BaseRttProbes probes;
  probes.start(kBegin, nanoseconds(200));
  probes.start(kBegin + nanoseconds(150), nanoseconds(200));
  EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(200));
  probes.postpone(kBegin, nanoseconds(5000));
  probes.start(kBegin, nanoseconds(200));
  probes.postpone(kBegin, nanoseconds(5000));
  EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(800)) << "distances go on to double";
}

TEST(BaseRttProbes, OnlyTheLatestMeasures) {
  BaseRttProbes probes;
  probes.sent(kOneProbe, kBegin);
  EXPECT_EQ(probes.answered(kOneProbe, kBegin + nanoseconds(30)), nanoseconds(30));
  probes.sent(kNextProbe, kBegin + nanoseconds(40));
  EXPECT_FALSE(probes.answered(kOneProbe, kBegin + nanoseconds(50)));
  EXPECT_EQ(probes.answered(kNextProbe, kBegin + nanoseconds(50)), nanoseconds(10));
}

// CC-54
TEST(BaseRttProbes, CompleteAfterFourAnswers) {
  BaseRttProbes probes;
  for (unsigned i = 0; i < BaseRttProbes::kAnswersWanted; ++i) {
    EXPECT_FALSE(probes.is_complete());
    probes.sent(kOneProbe, kBegin);
    EXPECT_EQ(probes.answered(kOneProbe, kBegin + nanoseconds(9)), nanoseconds(9));
    EXPECT_EQ(probes.next_time(), kBegin + nanoseconds(9)) << "the next one is due";
  }
  EXPECT_TRUE(probes.is_complete());
}

// CC-54
TEST(BaseRttProbes, StopAfterEightProbes) {
  BaseRttProbes probes;
  for (unsigned i = 0; i < BaseRttProbes::kProbesMax; ++i) {
    EXPECT_FALSE(probes.is_complete());
    probes.sent(kOneProbe, kBegin);
  }
  EXPECT_TRUE(probes.is_complete());
}

}  // namespace
}  // namespace openmrc::core
