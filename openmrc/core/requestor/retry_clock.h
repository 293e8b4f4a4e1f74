// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "openmrc/base/time.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/settings.h"

namespace openmrc::core {

// Timeouts and retries of a queue pair (MRC 7.4.1): linear first, then exponential. An interval
// runs from the beginning, the latest progress or the latest timeout on. Retransmissions for other
// reasons do not prolong it: one that goes on without progress must end (REL-74, REL-75).
class RetryClock {
 public:
  RetryClock() = default;
  explicit RetryClock(const ReadyToSendAttributes& attributes)
      : exponent_(attributes.timeout),
        linear_(attributes.linear_retries),
        exponential_(attributes.exponential_retries) {}

  [[nodiscard]] Instant interval_began() const { return began_; }
  [[nodiscard]] Duration timeout() const { return timeout_after(retries_); }
  [[nodiscard]] Instant deadline() const { return began_ + timeout(); }
  void begin_interval(Instant now) { began_ = now; }
  // There is progress. Returns whether the timeout is another now (REL-36).
  bool on_progress(Instant now) {
    began_ = now;
    return std::exchange(retries_, 0) > 0;
  }

  // Every retry of the oldest packet counts until there is progress.
  [[nodiscard]] std::uint32_t retries() const { return retries_; }
  // Returns whether that was one too many (REL-82, REL-83).
  [[nodiscard]] bool charge() {
    ++retries_;
    return exponential_ != kExponentialRetriesInfinite &&
           retries_ > std::uint32_t{linear_} + exponential_;
  }
  // How long it takes until retries are exhausted; nothing if they never are.
  [[nodiscard]] std::optional<Duration> until_exhausted() const {
    if (exponential_ == kExponentialRetriesInfinite) return std::nullopt;
    Duration total{};
    for (std::uint32_t retry = 0; retry <= std::uint32_t{linear_} + exponential_; ++retry) {
      total += timeout_after(retry);
    }
    return total;
  }

 private:
  static constexpr Duration kUnit = nanoseconds(1024);
  // However many retries, no interval is longer than 2^34 x 1.024 us, about five hours.
  static constexpr std::uint32_t kShiftMax = 34;

  [[nodiscard]] Duration timeout_after(std::uint32_t retries) const {
    const std::uint32_t beyond = retries > linear_ ? retries - linear_ : 0;
    return kUnit * (std::int64_t{1} << std::min<std::uint32_t>(exponent_ + beyond, kShiftMax));
  }

  Instant began_{};
  std::uint32_t retries_ = 0;  // of the oldest packet, without progress
  std::uint8_t exponent_ = 0;
  std::uint8_t linear_ = 0;
  std::uint8_t exponential_ = 0;
};

}  // namespace openmrc::core
