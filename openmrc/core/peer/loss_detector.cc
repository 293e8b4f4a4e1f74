// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/loss_detector.h"

namespace openmrc::core {

void LossDetector::on_spurious(Duration late, Instant now, Duration base_rtt) {
  on_reordered(std::min(std::max(late, lateness_ + base_rtt / 4), base_rtt * kToleranceMaxInRtts),
               now);
}

LossDetector::Limits LossDetector::limits(Instant newest_arrived, Instant now, Duration base_rtt,
                                          Duration floor) {
  return {.late_before = newest_arrived - tolerance(now, base_rtt, floor),
          .overtaken_before = newest_arrived - floor,
          // Where hosts jitter, a path that still delivers is slow, not dead, however far it is
          // behind (PATH-44).
          .silent_since = floor == Duration{} ? kNever : now - floor};
}

Instant LossDetector::late_at(const SentPacket& packet, Instant now, Duration rtt,
                              Duration base_rtt, Duration floor) {
  const Instant late = packet.sent + rtt + tolerance(now, base_rtt, floor);
  const Instant silent = floor == Duration{} ? Instant{} : heard_[packet.path.raw()] + floor;
  return std::max(late, silent) + nanoseconds(1);
}

LossDetector::Verdict LossDetector::judge(const SentPacket& packet, const Limits& limits) const {
  const std::int16_t overtaken = overtaken_by(packet);
  if (overtaken > 0 && packet.sent <= limits.overtaken_before) {
    return overtaken > 1 ? Verdict::kOvertakenTwice : Verdict::kOvertaken;
  }
  const bool is_silent = !heard_ || heard_[packet.path.raw()] < limits.silent_since;
  if (packet.sent < limits.late_before && is_silent) return Verdict::kLate;
  return Verdict::kInFlight;
}

}  // namespace openmrc::core
