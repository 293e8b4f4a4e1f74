// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/polling_callers.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

constexpr Instant kStart = Instant(1'000'000'000);

TEST(PollingCallers, TheThreadRestsOnlyWhileSomebodyPolls) {
  PollingCallers callers;
  EXPECT_FALSE(callers.thread_may_rest(Instant{}));
  EXPECT_FALSE(callers.thread_may_rest(kStart));
  callers.polled(kStart);
  EXPECT_TRUE(callers.thread_may_rest(kStart + PollingCallers::kRecent - nanoseconds(1)));
  EXPECT_FALSE(callers.thread_may_rest(kStart + PollingCallers::kRecent));
}

TEST(PollingCallers, AThreadThatWasMissedDoesNotRestForAWhile) {
  PollingCallers callers;
  callers.thread_was_missed(kStart);
  const Instant later = kStart + PollingCallers::kNoRestAfterMiss;
  callers.polled(later - nanoseconds(1));
  EXPECT_FALSE(callers.thread_may_rest(later - nanoseconds(1)));
  EXPECT_TRUE(callers.drive(later - nanoseconds(1)));
  EXPECT_TRUE(callers.thread_may_rest(later));
}

}  // namespace
}  // namespace openmrc::host
