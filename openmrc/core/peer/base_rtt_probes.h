// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// When to probe for the base RTT of a destination that nobody knows (UET 3.6.13; CC-26). Only says
// when; the peer's owner sends. A timer asks for the first SACK, so that SACKs need not ask whether
// they are the first.
class BaseRttProbes {
 public:
  // Data begins to flow, one way or the other. A first look is after one guessed round trip; if it
  // was looked before, as long after as the last time.
  void start(Instant now, Duration guess) {
    if (next_ != kNever) return;
    interval_ = std::max(interval_, guess);
    next_ = now + interval_;
  }
  void stop() { next_ = kNever; }

  // It is time to look; the next time is after twice as long.
  void postpone(Instant now, Duration interval_max) {
    interval_ = std::min(interval_ * 2, interval_max);
    next_ = now + interval_;
  }
  void sent(wire::EndpointRequestId id, Instant now) {
    id_ = id;
    sent_ = now;
    if (probes_ < kProbesMax) ++probes_;
  }
  // The round trip that an answer tells; the next probe is then due. Only that of the latest probe
  // is known.
  [[nodiscard]] std::optional<Duration> answered(wire::EndpointRequestId id, Instant now) {
    if (id != id_) return std::nullopt;
    ++answers_;
    next_ = now;
    return now - sent_;
  }

  // When to look for what is due.
  [[nodiscard]] Instant next_time() const { return next_; }
  [[nodiscard]] bool is_complete() const {
    return answers_ == kAnswersWanted || probes_ == kProbesMax;
  }
  [[nodiscard]] bool has_answer() const { return answers_ > 0; }

  // CC-54: a host is late at times; rarely for all of four round trips.
  static constexpr std::uint8_t kAnswersWanted = 4;
  // Some may be lost, and some peers answer none.
  static constexpr std::uint8_t kProbesMax = 8;

 private:
  Instant next_ = kNever;
  Instant sent_{};
  Duration interval_{};
  wire::EndpointRequestId id_{};
  std::uint8_t probes_ = 0;
  std::uint8_t answers_ = 0;
};

}  // namespace openmrc::core
