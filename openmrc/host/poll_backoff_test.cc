// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/poll_backoff.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

using Then = PollBackoff::Then;
constexpr Instant kStart = Instant(1'000'000'000);

TEST(PollBackoff, WhoPollsWithoutResultForLongYields) {
  PollBackoff backoff;
  EXPECT_EQ(backoff.polled(kStart, true), Then::kGoOn);
  const Instant late = kStart + PollBackoff::kSpin;
  EXPECT_EQ(backoff.polled(late - nanoseconds(1), false), Then::kGoOn);
  EXPECT_EQ(backoff.polled(late, false), Then::kYield);
  EXPECT_EQ(backoff.polled(late, true), Then::kGoOn);
}

TEST(PollBackoff, WhoLosesItsProcessorByYieldingWaitsInsteadForAWhile) {
  PollBackoff backoff;
  backoff.yielded(kStart, kStart + PollBackoff::kYieldTakes);
  EXPECT_EQ(backoff.polled(kStart, false), Then::kYield);
  const Instant back = kStart + milliseconds(3);
  backoff.yielded(kStart, back);
  const Instant later = back + PollBackoff::kCrowded;
  EXPECT_EQ(backoff.polled(later - nanoseconds(1), false), Then::kWait);
  EXPECT_EQ(backoff.polled(later, false), Then::kYield);
}

}  // namespace
}  // namespace openmrc::host
