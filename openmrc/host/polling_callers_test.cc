// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/polling_callers.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

constexpr Instant kStart = Instant(1'000'000'000);

using Then = PollingCallers::Then;

TEST(PollingCallers, TheThreadRestsOnlyWhileSomebodyPolls) {
  PollingCallers callers;
  EXPECT_FALSE(callers.thread_may_rest(Instant{}));
  EXPECT_FALSE(callers.thread_may_rest(kStart));
  (void)callers.polled(kStart, false);
  EXPECT_TRUE(callers.thread_may_rest(kStart + PollingCallers::kRecent - nanoseconds(1)));
  EXPECT_FALSE(callers.thread_may_rest(kStart + PollingCallers::kRecent));
}

TEST(PollingCallers, AThreadThatWasMissedDoesNotRestForAWhile) {
  PollingCallers callers;
  callers.thread_was_missed(kStart);
  const Instant later = kStart + PollingCallers::kNoRestAfterMiss;
  (void)callers.polled(later - nanoseconds(1), true);
  EXPECT_FALSE(callers.thread_may_rest(later - nanoseconds(1)));
  EXPECT_TRUE(callers.drive(later - nanoseconds(1)));
  EXPECT_TRUE(callers.thread_may_rest(later));
}

TEST(PollingCallers, WhoPollsWithoutResultForLongYields) {
  PollingCallers callers;
  EXPECT_EQ(callers.polled(kStart, true), Then::kGoOn);
  const Instant late = kStart + PollingCallers::kFruitless;
  EXPECT_EQ(callers.polled(late - nanoseconds(1), false), Then::kGoOn);
  EXPECT_EQ(callers.polled(late, false), Then::kYield);
  EXPECT_EQ(callers.polled(late, true), Then::kGoOn);
}

TEST(PollingCallers, WhoLosesItsProcessorByYieldingWaitsInsteadForAWhile) {
  PollingCallers callers;
  callers.yielded(kStart, kStart + PollingCallers::kYieldTakes);
  EXPECT_EQ(callers.polled(kStart, false), Then::kYield);
  const Instant back = kStart + milliseconds(3);
  callers.yielded(kStart, back);
  const Instant later = back + PollingCallers::kCrowded;
  EXPECT_EQ(callers.polled(later - nanoseconds(1), false), Then::kWait);
  EXPECT_EQ(callers.polled(later, false), Then::kYield);
}

}  // namespace
}  // namespace openmrc::host
