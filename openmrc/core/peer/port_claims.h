// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/paths/plane_mask.h"

namespace openmrc::core {

// Ports that the peer is said to have down (MRC 7.4.8). MRC has no authentication, so anybody may
// have said so: the plane is left at once, as it would cost most to wait, and probed until it
// answers or the peer says that it is up. Only says when to probe; the peer's owner does (SEC-21).
class PortClaims {
 public:
  // The peer says that these are down. Returns those to leave at once: all but those of which that
  // was wrong lately, which are left when a probe has had no answer.
  [[nodiscard]] PlaneMask add(PlaneMask down, Instant now, Duration rtt);
  // It says that these are up.
  void withdraw(PlaneMask up);
  // A probe of the plane was answered. Returns whether that contradicts the peer. If none has gone
  // unanswered, it was wrong from the beginning; otherwise the port is back (SEC-22).
  [[nodiscard]] bool refute(Plane plane, Instant now);

  struct Due {
    PlaneMask probe;      // to be probed now
    PlaneMask confirmed;  // of these: the last probe had no answer
  };
  [[nodiscard]] Due due(Instant now, Duration interval_max);
  // When that is.
  [[nodiscard]] Instant next_time() const { return next_; }
  // Which of a plane's EVs the next probe is to take: each another.
  [[nodiscard]] std::uint32_t turn() { return turn_++; }

  // For so long a peer whose port answered is not followed without a probe (SEC-23).
  static constexpr Duration kDistrustFor = seconds(1);

 private:
  PlaneMask claimed_;
  PlaneMask probed_;     // of these
  PlaneMask confirmed_;  // of these: a probe had no answer
  PlaneMask refuted_;    // claims that were wrong
  Instant refuted_until_{};
  Instant next_ = kNever;
  Instant last_{};  // probes
  Duration interval_{};
  std::uint32_t turn_ = 0;
};

}  // namespace openmrc::core
