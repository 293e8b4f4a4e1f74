// SPDX-License-Identifier: BSD-3-Clause
// What a requestor does when nothing comes: probe early, time out late (MRC 7.4.1, 7.4.6).
#include <algorithm>

#include "openmrc/core/requestor/requestor.h"

namespace openmrc::core {
std::optional<Duration> time_to_retry_exceeded(const ReadyToSendAttributes& attributes) {
  return RetryClock(attributes).until_exhausted();
}

Instant Requestor::timeout_deadline() const {
  if (!sent().empty()) return retry_.deadline();
  return std::max({last_sent_, last_feedback_, retry_.interval_began()}) + retry_.timeout();
}

Instant Requestor::probe_deadline(const Turn& turn) {
  const Duration rtt = turn.peer.congestion.rtt();
  // What was sent within the last round trip will bring a SACK of its own.
  const Instant overdue =
      sent().empty() ? kNever : std::max(flight_.late_at(turn), last_sent_ + rtt);
  return probe_.deadline(std::max(last_sent_, last_feedback_), overdue, rtt);
}

Instant Requestor::next_deadline(const Turn& turn) {
  if (messages_.empty()) return kNever;
  const bool awaits = awaits_acknowledgement(turn.context);
  // What waits for its turn waits for others, whose timers run (REL-78).
  if (sent().empty() && !awaits && !no_route_) return kNever;
  const bool can_probe = probes_help() || (awaits && retry_.retries() == 0);
  const Instant timeout = timeout_deadline();
  return can_probe ? std::min(timeout, probe_deadline(turn)) : timeout;
}

void Requestor::send_probe(const Turn& turn) {
  const std::uint16_t id = probe_.send(turn.now);
  turn.context.queue_control({.kind = ControlItem::Kind::kReliabilityProbe,
                              .id = id,
                              .share = PeerShares::of(turn.connection.peer),
                              .serial = turn.connection.serial,
                              .owner = turn.connection.index});
  if (turn.context.tracing()) {
    turn.context.record(
        {.when = turn.now, .kind = TraceKind::kProbe, .qpn = turn.connection.local, .value = id});
  }
}

std::optional<Fatal> Requestor::on_timer(const Turn& turn, bool reachable) {
  std::optional<Fatal> fatal;
  if (!messages_.empty() && timeout_deadline() <= turn.now) {
    const bool begun = !sent().empty() || awaits_acknowledgement(turn.context);
    if (begun || !reachable) {
      fatal = time_out(turn);
    } else {
      no_route_ = false;  // there is one again
    }
  } else if (!messages_.empty() && probe_deadline(turn) <= turn.now) {
    if (probes_help()) {
      if (probe_.has_place(turn.peer, turn.now)) send_probe(turn);
    } else if (awaits_acknowledgement(turn.context) && retry_.retries() == 0) {
      // Its acknowledgement was lost; the responder repeats it for a duplicate (MRC 6.3.1; REL-73).
      ack_wanted_ = true;
      (void)retry_.charge();
    }
  }
  if (!fatal) arm(turn);
  return fatal;
}

// MRC 7.4.1: everything that was sent a whole interval ago goes out again. What has been waiting
// all the while for its turn to be sent has not been tried, unless nobody is: the peer is silent.
// REL-76
std::optional<Fatal> Requestor::time_out(const Turn& turn) {
  turn.context.counters.add(Count::kTimeouts);
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kTimeout,
                         .qpn = turn.connection.local,
                         .psn = sent().oldest().wrapped(),
                         .value = retry_.retries()});
  }
  const bool was_sent = last_sent_ >= retry_.interval_began();
  const bool has_expired = flight_.lose_expired(turn, turn.now - retry_.timeout(), last_feedback_);
  retry_.begin_interval(turn.now);
  const bool was_tried = was_sent || has_expired || no_route_ || turn.peer.is_silent(turn.now);
  if (was_tried && retry_.charge()) {
    const UnwrappedPsn psn = sent().empty() && awaits_acknowledgement(turn.context)
                                 ? UnwrappedPsn(turn.context.messages[messages_.first()].first_psn)
                                 : sent().oldest();
    return Fatal{.status = WorkStatus::kRetryExceeded, .psn = psn};
  }
  if (sent().empty()) ack_wanted_ = awaits_acknowledgement(turn.context);
  return std::nullopt;
}

}  // namespace openmrc::core
