// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/containers/timer_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

TimerOwner queue_pair(std::uint32_t index) { return {TimerOwner::Kind::kQueuePair, index}; }
TimerOwner peer(std::uint32_t index) { return {TimerOwner::Kind::kPeer, index}; }

// Owners of which each has one timer, as an endpoint has them.
struct Owners {
  TimerQueue queue;
  std::array<Timer, 16> timers{};

  void arm(std::uint32_t index, std::int64_t when) {
    queue.arm(timers[index], queue_pair(index), Instant(when));
  }
  // Who is woken until `now`, in order.
  std::vector<std::uint32_t> woken(std::int64_t now) {
    std::vector<std::uint32_t> owners;
    while (const auto due = queue.pop_due(Instant(now))) {
      if (TimerQueue::accept(timers[due->owner.index], *due)) owners.push_back(due->owner.index);
    }
    return owners;
  }
};

using Indices = std::vector<std::uint32_t>;

TEST(TimerQueue, IsEmptyAtFirst) {
  TimerQueue queue;
  EXPECT_FALSE(queue.next());
  EXPECT_FALSE(queue.pop_due(kNever));
}

TEST(TimerQueue, WakesInOrderOfTimeAndNotBefore) {
  Owners owners;
  owners.arm(1, 300);
  owners.arm(2, 100);
  owners.arm(3, 200);
  EXPECT_EQ(owners.queue.next(), Instant(100));
  EXPECT_EQ(owners.woken(99), Indices{});
  EXPECT_EQ(owners.woken(100), Indices{2});
  EXPECT_EQ(owners.queue.next(), Instant(200));
  EXPECT_EQ(owners.woken(1'000), (Indices{3, 1}));
  EXPECT_FALSE(owners.queue.next());
}

TEST(TimerQueue, BreaksTiesByOwner) {
  TimerQueue queue;
  std::array<Timer, 4> timers{};
  queue.arm(timers[0], peer(1), Instant(5));
  queue.arm(timers[1], queue_pair(9), Instant(5));
  queue.arm(timers[2], queue_pair(2), Instant(5));
  queue.arm(timers[3], peer(0), Instant(5));
  std::vector<TimerOwner> order;
  while (const auto due = queue.pop_due(Instant(5))) order.push_back(due->owner);
  EXPECT_EQ(order, (std::vector{queue_pair(2), queue_pair(9), peer(0), peer(1)}));
}

TEST(TimerQueue, ALaterDeadlineIsNotEntered) {
  Owners owners;
  owners.arm(1, 100);
  for (std::int64_t when = 101; when < 1'000; ++when) owners.arm(1, when);
  EXPECT_EQ(owners.woken(100), Indices{1}) << "it is woken at the old time and arms again";
  EXPECT_FALSE(owners.queue.next());
  owners.arm(1, 1'000);
  EXPECT_EQ(owners.woken(1'000), Indices{1});
}

TEST(TimerQueue, AnEarlierDeadlineWakesOnceAndWhatIsLeftOfTheOldOneDoesNot) {
  Owners owners;
  owners.arm(1, 300);
  owners.arm(1, 200);
  owners.arm(1, 100);
  EXPECT_EQ(owners.woken(100), Indices{1});
  EXPECT_EQ(owners.woken(1'000), Indices{});
}

TEST(TimerQueue, ArmingForTheTimeOfAnOldEntryWakesOnce) {
  Owners owners;
  owners.arm(1, 300);
  owners.arm(1, 100);
  EXPECT_EQ(owners.woken(100), Indices{1});
  owners.arm(1, 300);
  EXPECT_EQ(owners.woken(299), Indices{});
  EXPECT_EQ(owners.woken(300), Indices{1});
}

TEST(TimerQueue, AnOwnerMayArmForNow) {
  Owners owners;
  owners.arm(1, 100);
  EXPECT_EQ(owners.woken(100), Indices{1});
  owners.arm(1, 100);
  EXPECT_EQ(owners.woken(100), Indices{1});
}

TEST(TimerQueue, NeverIsNotEntered) {
  Owners owners;
  owners.queue.arm(owners.timers[0], queue_pair(0), kNever);
  EXPECT_FALSE(owners.queue.next());
}

// An owner with a deadline that moves about is woken at it, or before: never after.
TEST(TimerQueue, NobodyIsWokenLate) {
  Owners owners;
  std::array<Instant, 16> wanted{};
  wanted.fill(kNever);
  Rng rng(1);
  Instant now(0);
  for (int i = 0; i < 50'000; ++i) {
    const auto index = static_cast<std::uint32_t>(rng.below(16));
    wanted[index] = now + nanoseconds(static_cast<std::int64_t>(rng.below(1'000)));
    owners.queue.arm(owners.timers[index], queue_pair(index), wanted[index]);
    if (!rng.chance({1, 4})) continue;
    now = now + nanoseconds(static_cast<std::int64_t>(rng.below(50)));
    Instant last(0);
    while (const auto due = owners.queue.pop_due(now)) {
      ASSERT_LE(due->when, now);
      ASSERT_GE(due->when, last);
      last = due->when;
      const std::uint32_t woken = due->owner.index;
      if (!TimerQueue::accept(owners.timers[woken], *due)) continue;
      if (wanted[woken] <= now) {
        wanted[woken] = kNever;
      } else {  // too early
        owners.queue.arm(owners.timers[woken], queue_pair(woken), wanted[woken]);
      }
    }
    for (const Instant deadline : wanted) ASSERT_GT(deadline, now) << "step " << i;
  }
}

}  // namespace
}  // namespace openmrc::core
