// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::host {

// Callers that poll a shard, and what follows for others.
//
// Its own thread need not wake for every packet while they drive it: two threads that wait for the
// same packet cost each other more than the packet does. A caller may stop at any moment, without a
// word; the thread looks after a short rest. If it was missed then, as by a program that polls for
// its completions but watches memory for what arrives, it does not rest again for a while.
//
// Who has polled without result for some round trips gives way. Where that means to lose the
// processor for a time slice, it waits for packets instead: they wake it in time.
class PollingCallers {
 public:
  static constexpr Duration kRest = microseconds(250);
  static constexpr Duration kRecent = microseconds(100);
  static constexpr Duration kNoRestAfterMiss = milliseconds(100);
  static constexpr Duration kFruitless = microseconds(50);
  static constexpr Duration kWait = microseconds(50);
  static constexpr Duration kYieldTakes = microseconds(20);  // where nobody else wants to run
  static constexpr Duration kCrowded = milliseconds(100);

  // From any thread.
  enum class Then : std::uint8_t { kGoOn, kYield, kWait };
  [[nodiscard]] Then polled(Instant now, bool was_useful) {
    store(polled_at_, now);
    if (was_useful) store(useful_at_, now);
    if (now < load(useful_at_) + kFruitless) return Then::kGoOn;
    return now < load(crowded_until_) ? Then::kWait : Then::kYield;
  }
  void yielded(Instant from, Instant to) {
    if (to - from > kYieldTakes) store(crowded_until_, to + kCrowded);
  }
  [[nodiscard]] bool drive(Instant now) const { return now < load(polled_at_) + kRecent; }

  // From the shard's thread.
  [[nodiscard]] bool thread_may_rest(Instant now) const {
    return now >= no_rest_before_ && drive(now);
  }
  void thread_was_missed(Instant now) { no_rest_before_ = now + kNoRestAfterMiss; }

 private:
  using Nanoseconds = std::atomic<std::int64_t>;
  static void store(Nanoseconds& to, Instant at) { to.store(at.ns(), std::memory_order_relaxed); }
  static Instant load(const Nanoseconds& from) {
    return Instant(from.load(std::memory_order_relaxed));
  }

  Nanoseconds polled_at_ = -kRecent.raw();
  Nanoseconds useful_at_ = -kFruitless.raw();
  Nanoseconds crowded_until_ = 0;
  Instant no_rest_before_{};
};

}  // namespace openmrc::host
