// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::host {

// Whether callers that poll drive a shard so well that its own thread need not wake for every
// packet: two threads that wait for the same packet cost each other more than the packet does. A
// caller may stop at any moment, without a word; the thread looks after a short rest. If it was
// missed then, as by a program that polls for its completions but watches memory for what arrives,
// it does not rest again for a while.
class PollingCallers {
 public:
  static constexpr Duration kRest = microseconds(250);
  static constexpr Duration kRecent = microseconds(100);
  static constexpr Duration kNoRestAfterMiss = milliseconds(100);

  // From any thread.
  void polled(Instant now) { polled_at_.store(now.ns(), std::memory_order_relaxed); }
  [[nodiscard]] bool drive(Instant now) const {
    return now < Instant(polled_at_.load(std::memory_order_relaxed)) + kRecent;
  }

  // From the shard's thread.
  [[nodiscard]] bool thread_may_rest(Instant now) const {
    return now >= no_rest_before_ && drive(now);
  }
  void thread_was_missed(Instant now) { no_rest_before_ = now + kNoRestAfterMiss; }

 private:
  std::atomic<std::int64_t> polled_at_ = -kRecent.raw();
  Instant no_rest_before_{};
};

}  // namespace openmrc::host
