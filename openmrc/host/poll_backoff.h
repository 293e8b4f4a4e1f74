// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::host {

// What a caller does that polls without result: after some round trips it yields its processor.
// Where that costs a time slice, because other programs want to run, it waits for packets instead,
// which wake it in time. From any thread.
class PollBackoff {
 public:
  static constexpr Duration kSpin = microseconds(50);
  static constexpr Duration kWait = microseconds(50);
  static constexpr Duration kYieldTakes = microseconds(20);  // where nobody else wants to run
  static constexpr Duration kCrowded = milliseconds(100);

  enum class Then : std::uint8_t { kGoOn, kYield, kWait };
  [[nodiscard]] Then polled(Instant now, bool had_result) {
    if (had_result) store(result_at_, now);
    if (now < load(result_at_) + kSpin) return Then::kGoOn;
    return now < load(crowded_until_) ? Then::kWait : Then::kYield;
  }
  void yielded(Instant from, Instant to) {
    if (to - from > kYieldTakes) store(crowded_until_, to + kCrowded);
  }

 private:
  using Nanoseconds = std::atomic<std::int64_t>;
  static void store(Nanoseconds& to, Instant at) { to.store(at.ns(), std::memory_order_relaxed); }
  static Instant load(const Nanoseconds& from) {
    return Instant(from.load(std::memory_order_relaxed));
  }

  Nanoseconds result_at_ = -kSpin.raw();
  Nanoseconds crowded_until_ = 0;
};

}  // namespace openmrc::host
