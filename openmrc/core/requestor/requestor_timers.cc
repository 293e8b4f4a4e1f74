// SPDX-License-Identifier: BSD-3-Clause
// What a requestor does when nothing comes: probe early, time out late (MRC 7.4.1, 7.4.6).
#include <algorithm>

#include "openmrc/core/requestor/requestor.h"

namespace openmrc::core {
namespace {

constexpr Duration kTimeoutUnit = nanoseconds(1024);

// However many retries, no interval is longer than 2^34 x 1.024 us, about five hours.
constexpr std::uint32_t kTimeoutShiftMax = 34;

// Further probes come at doubling distances, up to this factor.
constexpr unsigned kProbeBackoffMax = 6;

// MRC 7.4.1: linear first, then exponential.
Duration timeout_after(std::uint32_t retries, unsigned exponent, std::uint32_t linear_retries) {
  const std::uint32_t beyond = retries > linear_retries ? retries - linear_retries : 0;
  return kTimeoutUnit * (std::int64_t{1} << std::min(exponent + beyond, kTimeoutShiftMax));
}

}  // namespace

std::optional<Duration> time_to_retry_exceeded(const ReadyToSendAttributes& attributes) {
  if (attributes.exponential_retries == kExponentialRetriesInfinite) return std::nullopt;
  const std::uint32_t retries =
      std::uint32_t{attributes.linear_retries} + attributes.exponential_retries;
  Duration total{};
  for (std::uint32_t retry = 0; retry <= retries; ++retry) {
    total += timeout_after(retry, attributes.timeout, attributes.linear_retries);
  }
  return total;
}

Duration Requestor::timeout() const {
  return timeout_after(retries_, timeout_exponent_, linear_retries_);
}

Duration Requestor::probe_timeout(const Turn& turn) const {
  const unsigned beyond = std::max<unsigned>(probes_in_row_, kProbesBeforeBackoff - 1);
  const unsigned doublings = std::min(beyond - (kProbesBeforeBackoff - 1), kProbeBackoffMax);
  return turn.peer.congestion.rtt() * 2 * (std::int64_t{1} << doublings);
}

// All packets of the first message have arrived, and it is not acknowledged.
bool Requestor::awaits_acknowledgement(const Context& context) const {
  if (messages_.empty() || completed_messages_ >= sent_messages_) return false;
  const SendMessage& first = context.messages[messages_.first()];
  return first.first_psn + first.packets <= window_.oldest().raw();
}

// An interval runs from the beginning, the latest progress or the latest timeout on.
// Retransmissions for other reasons do not prolong it: one that goes on without progress must end.
Instant Requestor::timeout_deadline() const {
  if (!window_.empty()) return interval_began_ + timeout();
  return std::max({last_sent_, last_feedback_, interval_began_}) + timeout();
}

Instant Requestor::probe_deadline(const Turn& turn) const {
  const Instant quiet_since =
      std::max({last_sent_, last_feedback_, probe_awaited_ ? probe_sent_ : Instant{}});
  return std::max(quiet_since + probe_timeout(turn), probe_place_);
}

// The probes of a peer's queue pairs form a line: who finds others in front takes a place behind
// them, and returns when it is its turn.
bool Requestor::has_place_for_probe(const Turn& turn) {
  if (probe_place_ == Instant{}) {
    const Instant place = std::max(turn.now, turn.peer.next_probe);
    turn.peer.next_probe = place + turn.peer.congestion.rtt() / kProbesPerRoundTrip;
    if (place > turn.now) probe_place_ = place;
    return place <= turn.now;
  }
  probe_place_ = Instant{};
  return true;
}

Instant Requestor::next_deadline(const Turn& turn) {
  if (messages_.empty()) return kNever;
  const bool awaits = awaits_acknowledgement(turn.context);
  // What waits for its turn waits for others, whose timers run.
  if (window_.empty() && !awaits && !no_route_) return kNever;
  const bool can_probe = probes_help() || (awaits && retries_ == 0);
  const Instant timeout = timeout_deadline();
  return can_probe ? std::min(timeout, probe_deadline(turn)) : timeout;
}

void Requestor::send_probe(const Turn& turn) {
  probe_awaited_ = true;
  probe_sent_ = turn.now;
  ++probe_id_;
  if (probes_in_row_ < 0xff) ++probes_in_row_;
  turn.context.queue_control({.kind = ControlItem::Kind::kReliabilityProbe,
                              .id = probe_id_,
                              .serial = turn.connection.serial,
                              .owner = turn.connection.index});
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kProbe,
                         .qpn = turn.connection.local,
                         .value = probe_id_});
  }
}

std::optional<Fatal> Requestor::on_timer(const Turn& turn, bool reachable) {
  std::optional<Fatal> fatal;
  if (!messages_.empty() && timeout_deadline() <= turn.now) {
    const bool begun = !window_.empty() || awaits_acknowledgement(turn.context);
    if (begun || !reachable) {
      fatal = time_out(turn);
    } else {
      no_route_ = false;  // there is one again
    }
  } else if (!messages_.empty() && probe_deadline(turn) <= turn.now) {
    if (probes_help()) {
      if (has_place_for_probe(turn)) send_probe(turn);
    } else if (awaits_acknowledgement(turn.context) && retries_ == 0) {
      // Its acknowledgement was lost; the responder repeats it for a duplicate (MRC 6.3.1).
      ack_wanted_ = true;
      ++retries_;
    }
  }
  if (!fatal) arm(turn);
  return fatal;
}

// MRC 7.4.1: everything that was sent a whole interval ago goes out again. What has been waiting
// all the while for its turn to be sent has not been tried, unless nobody is: the peer is silent.
std::optional<Fatal> Requestor::time_out(const Turn& turn) {
  turn.context.counters.add(Count::kTimeouts);
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kTimeout,
                         .qpn = turn.connection.local,
                         .psn = window_.oldest().wrapped(),
                         .value = retries_});
  }
  const bool was_sent = last_sent_ >= interval_began_;
  const bool has_expired = lose_expired(turn, turn.now - timeout());
  interval_began_ = turn.now;
  const bool was_tried = was_sent || has_expired || no_route_ || turn.peer.is_silent(turn.now);
  if (was_tried && charge_retry()) {
    const UnwrappedPsn psn = window_.empty() && awaits_acknowledgement(turn.context)
                                 ? UnwrappedPsn(turn.context.messages[messages_.first()].first_psn)
                                 : window_.oldest();
    return Fatal{.status = WorkStatus::kRetryExceeded, .psn = psn};
  }
  if (window_.empty()) ack_wanted_ = awaits_acknowledgement(turn.context);
  return std::nullopt;
}

// Returns whether there was something in flight that was sent by then.
bool Requestor::lose_expired(const Turn& turn, Instant expired) {
  bool any = false;
  window_.visit_in_flight(
      turn.context.sent, window_.next(), [&](UnwrappedPsn psn, SentPacket& packet) {
        if (packet.sent > expired) return true;
        // If nothing that was sent later has arrived, or nothing was heard when it should have
        // been, it is the peer that is silent, and no path is better than another.
        const bool others_arrive = packet.sent < turn.peer.losses.newest_arrived() &&
                                   packet.sent + turn.peer.congestion.rtt() <= last_feedback_;
        lose(turn, psn, packet, Count::kRetransmitsTimeout);
        if (others_arrive) {
          change_ev(turn.context, turn.connection.peer, turn.peer, packet.ev, EvInput::kLost,
                    turn.now);
        }
        return any = true;
      });
  return any;
}

}  // namespace openmrc::core
