// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::host {

// Whether callers that poll a shard drive it so well that its own thread need not wake for every
// packet: two threads that wait for the same packet cost each other more than the packet does. A
// caller may stop polling at any moment, without a word; the thread looks after a short rest. If it
// was missed then, as by a program that polls for its completions but watches memory for what
// arrives, it does not rest again for a while.
class PollingCallers {
 public:
  static constexpr Duration kRest = microseconds(250);
  static constexpr Duration kRecent = microseconds(20);
  // A few round trips: who has polled in vain for longer gives way to others.
  static constexpr Duration kInVain = microseconds(50);
  static constexpr Duration kNoRestAfterMiss = milliseconds(100);

  // From any thread. Returns whether polling on is worth a processor.
  bool polled(Instant now, bool was_useful) {
    polled_at_.store(now.ns(), std::memory_order_relaxed);
    if (was_useful) useful_at_.store(now.ns(), std::memory_order_relaxed);
    return is_within(kInVain, useful_at_, now);
  }
  [[nodiscard]] bool drive(Instant now) const {
    return is_within(kRecent, polled_at_, now) && is_within(kInVain, useful_at_, now);
  }

  // From the shard's thread.
  [[nodiscard]] bool thread_may_rest(Instant now) const {
    return now >= no_rest_before_ && drive(now);
  }
  void thread_was_missed(Instant now) { no_rest_before_ = now + kNoRestAfterMiss; }

 private:
  using Nanoseconds = std::atomic<std::int64_t>;
  static bool is_within(Duration span, const Nanoseconds& at, Instant now) {
    return now < Instant(at.load(std::memory_order_relaxed)) + span;
  }

  Nanoseconds polled_at_ = -kRecent.raw();
  Nanoseconds useful_at_ = -kInVain.raw();
  Instant no_rest_before_{};
};

}  // namespace openmrc::host
