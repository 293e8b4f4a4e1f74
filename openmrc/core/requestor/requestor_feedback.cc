// SPDX-License-Identifier: BSD-3-Clause
// What the peer says about packets and messages, and what follows from it.
#include <algorithm>
#include <bit>

#include "openmrc/core/requestor/requestor.h"
#include "openmrc/core/requestor/timestamps.h"

namespace openmrc::core {
namespace {

// Congestion, not failure: the path works and the peer answers.
bool is_trim(wire::NackReason reason) {
  return reason == wire::NackReason::kTrimmed || reason == wire::NackReason::kTrimmedLastHop;
}

// MRC 9.3.1: what the SACK says of the path that its packet took.
void mark_path(const Turn& turn, const wire::Sack& sack, bool took_another) {
  if (took_another) return turn.context.counters.add(Count::kDropSackEv);
  Peer& peer = turn.peer;
  const auto ev = peer.paths.profile().find(sack.seth.entropy);
  // PATH-27
  if (!ev) return turn.context.counters.add(Count::kDropEvUnknown);
  const auto change = [&](EvInput input) {
    change_ev(turn.context, turn.connection.peer, peer, *ev, input, turn.now);
  };
  switch (sack.seth.mark) {
    case wire::PathMark::kSkipOnce:
      return change(sack.seth.trigger.is_probe() ? EvInput::kProbeMarked : EvInput::kMarked);
    case wire::PathMark::kAlwaysSkip: return change(EvInput::kAlwaysSkip);
    case wire::PathMark::kNone:
      if (!sack.seth.trigger.is_probe()) peer.paths.clean(*ev);
      if (peer.paths.is_usable(*ev)) {
        peer.confirm_reverse(*ev, peer.paths.profile().entry(*ev).plane, turn.now);
      }
  }
}

// QP-29
WorkStatus status_of(wire::AckSyndrome syndrome) {
  switch (syndrome) {
    case wire::AckSyndrome::kNakRemoteAccess: return WorkStatus::kRemoteAccess;
    case wire::AckSyndrome::kNakInvalidRequest: return WorkStatus::kRemoteInvalidRequest;
    case wire::AckSyndrome::kNakRemoteOperation:
    case wire::AckSyndrome::kNakSequenceError:
    case wire::AckSyndrome::kAck: break;
  }
  return WorkStatus::kRemoteOperation;
}

}  // namespace

// A SACK in our own terms.
struct Requestor::Feedback {
  Flight::Arrivals arrivals;
  std::optional<Duration> rtt;
  std::optional<Instant> probe_sent;  // it answers a probe of ours, which was sent then
  bool took_another = false;          // its packet did not take the path that it marks
};

// MRC 7.4.5. False if it cannot be true. A SACK that is older than what is known says nothing
// wrong, only little new (SEC-9, SEC-10).
inline bool Requestor::read_sack(const Turn& turn, const wire::Sack& sack, Feedback& feedback) {
  const wire::Seth& seth = sack.seth;
  Flight::Arrivals& arrivals = feedback.arrivals;
  arrivals.cumulative = sent().oldest().nearest(seth.cack_psn);
  arrivals.bitmap_base = arrivals.cumulative + seth.sack_offset;
  arrivals.bitmap = seth.sack_bitmap;
  const std::int64_t reported = seth.sack_bitmap == 0 ? 0 : 64 - std::countl_zero(seth.sack_bitmap);
  if (arrivals.cumulative >= sent().next() || arrivals.bitmap_base + reported > sent().next()) {
    turn.context.counters.add(Count::kDropSackUnsent);
    return false;
  }
  if (arrivals.cumulative + 1 < sent().oldest() - psn_range_max_) {
    turn.context.counters.add(Count::kDropSackOld);
    return false;
  }
  if (const auto probe = seth.trigger.probe_id()) {
    feedback.probe_sent = probe_.sent_at(turn.now, *probe, sack.cc_state.tx_ticks);
    // SEC-18
    if (!feedback.probe_sent) turn.context.counters.add(Count::kDropProbeUnknown);
    return true;
  }
  const UnwrappedPsn trigger = arrivals.cumulative + *seth.trigger.packet_offset();
  feedback.rtt = round_trip(turn, sack, trigger);
  feedback.took_another =
      seth.mark != wire::PathMark::kNone && took_another_path(turn, trigger, seth.entropy);
  return true;
}

// Of a packet that is in flight, if it has been sent once (SEC-11).
bool Requestor::took_another_path(const Turn& turn, UnwrappedPsn psn, Ev ev) {
  if (!sent().is_in_flight(turn.context.sent, psn)) return false;
  const SentPacket& packet = flight_.packet(turn.context.sent, psn);
  return packet.transmissions == 1 && turn.peer.paths.profile().entry(packet.ev).ev != ev;
}

// MRC 8, UET 3.6.13: a round trip counts only if it is clear which transmission was answered.
// REL-34
inline std::optional<Duration> Requestor::round_trip(const Turn& turn, const wire::Sack& sack,
                                                     UnwrappedPsn trigger) {
  if (sent().is_in_flight(turn.context.sent, trigger)) {
    const SentPacket& packet = flight_.packet(turn.context.sent, trigger);
    const unsigned expected = sack.retransmission ? 2 : 1;
    // Sent still more often: the timestamp says whether the latest transmission is meant.
    const bool latest = packet.transmissions > 2 && sack.retransmission &&
                        sack.cc_state.tx_ticks == ticks_at(packet.sent);
    if (packet.transmissions == expected || latest) return turn.now - packet.sent;
  } else if (trigger < sent().oldest() && trigger >= sent().oldest() - psn_range_max_) {
    // An acknowledgement overtook the SACK, as is usual with messages of one packet. The timestamp
    // is that of the transmission. What arrived last tells how often it wrapped, and a shorter way
    // cannot be proved (REL-35).
    const Duration late = turn.now - turn.peer.losses.newest_arrived();
    return std::max(time_since(turn.now, sack.cc_state.tx_ticks, late),
                    turn.peer.congestion.base_rtt());
  }
  return std::nullopt;
}

// QP-28
void Requestor::on_sack(const Turn& turn, const wire::Sack& sack) {
  Feedback feedback;
  if (!read_sack(turn, sack, feedback)) return;
  turn.context.counters.add(Count::kSacksReceived);
  heard(turn);
  const bool progress = flight_.take(turn, feedback.arrivals);
  if (progress) progressed(turn);
  const bool counts_more = tell_congestion_control(turn, sack, feedback);
  mark_path(turn, sack, feedback.took_another);
  // REL-5
  if (turn.connection.dynamic_mpr) take_window(sack.seth, progress || counts_more);
  if (sent().empty()) return;
  if (feedback.probe_sent) {
    probe_.answered(*feedback.probe_sent);
    flight_.find_lost_by_probe(turn, feedback.arrivals, *feedback.probe_sent,
                               sack.cc_state.ooo_count);
  }
  flight_.find_lost(turn);
}

// MRC 7.5.1 (REL-6): the responder's window. SACKs overtake each other: one that reports nothing
// new may be from before the window shrank, and must not open it again.
void Requestor::take_window(const wire::Seth& seth, bool is_newest) {
  const std::int64_t offered = std::min(seth.mpr * kPsnsPerMpr, psn_range_max_);
  if (offered > 0 && (is_newest || offered < psn_range_)) psn_range_ = offered;
}

void Requestor::progressed(const Turn& turn) {
  if (retry_.on_progress(turn.now)) arm(turn);  // the next timeout is nearer now
}

void Requestor::heard(const Turn& turn) {
  last_feedback_ = turn.now;
  turn.peer.last_feedback = turn.now;
  if (probe_.heard()) arm(turn);
}

bool Requestor::tell_congestion_control(const Turn& turn, const wire::Sack& sack,
                                        const Feedback& feedback) {
  // MRC 8: the responder's running total of bytes, 24 bits of it. One that went back is an old
  // SACK, and what was not sent cannot have been received (CC-8, CC-11, SEC-12).
  const auto beyond_last = [this](std::uint32_t units) {
    return (units - received_units_) & wire::kReceivedUnitsMask;
  };
  const std::uint32_t units = beyond_last(sack.cc_state.received_units);
  const bool is_newer = units <= beyond_last(wire::received_units(sent_bytes_));
  if (is_newer) {
    received_units_ = sack.cc_state.received_units;
  } else if (units <= wire::kReceivedUnitsMask / 2) {
    turn.context.counters.add(Count::kDropSackBytes);
  }
  // Probes and their answers pass the queues of data: what they measure is the way without queues.
  // CC-25
  if (feedback.probe_sent) {
    turn.peer.congestion.on_base_rtt(turn.now - *feedback.probe_sent,
                                     turn.peer.paths.profile().planes());
  }
  turn.peer.congestion.on_sack(
      {.now = turn.now,
       .newly_received = is_newer ? wire::kReceivedUnit * units : ByteCount(0),
       .congested = sack.seth.mark == wire::PathMark::kSkipOnce,
       .rtt = feedback.rtt,
       .in_flight = turn.peer.in_flight,
       .receiver_penalty = sack.cc_state.receiver_penalty,
       .restore_window = sack.cc_state.restore_cwnd});
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kWindow,
                         .qpn = turn.connection.local,
                         .value = turn.peer.congestion.window().raw()});
  }
  return is_newer && units > 0;
}

// MRC 7.5.3 (REL-47; Table 7-3).
std::optional<Fatal> Requestor::on_nack(const Turn& turn, const wire::Nack& nack) {
  Context& context = turn.context;
  const wire::Neth& neth = nack.neth;
  const UnwrappedPsn psn = sent().oldest().nearest(neth.psn);
  if (neth.reason == wire::NackReason::kUnexpectedEvent) {
    // The PSN is that of a request that is not complete, or the one before it (REL-50, SEC-15).
    if (psn >= sent().next() || !messages_.is_open(context, psn + 1)) {
      context.counters.add(Count::kDropNackUnsent);
      return std::nullopt;
    }
    context.counters.add(Count::kNacksReceived);
    return Fatal{.status = WorkStatus::kRemoteOperation, .by_peer = true, .psn = psn};
  }
  // SEC-13
  if (!sent().is_in_flight(context.sent, psn)) {
    context.counters.add(Count::kDropNackUnsent);
    return std::nullopt;
  }
  const SentPacket& packet = flight_.packet(context.sent, psn);
  // It may have been retransmitted since (SEC-14).
  if (turn.peer.paths.profile().entry(packet.ev).ev != neth.entropy ||
      neth.tx_ticks != ticks_at(packet.sent)) {
    context.counters.add(Count::kDropNackStale);
    return std::nullopt;
  }
  context.counters.add(Count::kNacksReceived);
  heard(turn);
  refused(turn, psn, neth.reason);
  // MSG-16: the layer behind the queue pair says how long a message may wait for a receive.
  const bool waits = neth.reason == wire::NackReason::kNoResource && turn.connection.messages;
  if (waits) progressed(turn);
  // Congestion passes, and a responder that has no room now has some later (REL-79, REL-81).
  const bool is_retry = neth.reason == wire::NackReason::kPsnOutOfWindow &&
                        psn == sent().oldest() && packet.transmissions > 1;
  if (is_retry && retry_.charge()) {
    return Fatal{.status = WorkStatus::kRetryExceeded, .psn = psn};
  }
  return std::nullopt;
}

void Requestor::refused(const Turn& turn, UnwrappedPsn psn, wire::NackReason reason) {
  using wire::NackReason;
  SentPacket& packet = flight_.packet(turn.context.sent, psn);
  if (!is_trim(reason)) {
    return flight_.lose(turn, psn, packet, Count::kRetransmitsRefused);
  }
  Peer& peer = turn.peer;
  flight_.settle_lost(
      turn, psn, packet,
      reason == NackReason::kTrimmed ? Count::kRetransmitsTrim : Count::kRetransmitsTrimLastHop);
  // Both trims cut the window: MRC has no receiver credits that would (MRC 8; CC-9, REL-48).
  peer.congestion.on_trim({.now = turn.now,
                           .size = ByteCount(packet.size),
                           .in_flight = peer.in_flight,
                           .last_hop = reason == NackReason::kTrimmedLastHop});
  // At the last hop it is the receiver that is overloaded, and no other path would help (REL-49).
  if (reason == NackReason::kTrimmed) {
    change_ev(turn.context, turn.connection.peer, peer, packet.ev, EvInput::kTrimmed, turn.now);
  }
}

// MRC 6.3, 7.5 (QP-27, SEC-16): the transport's word on messages.
std::optional<Fatal> Requestor::on_acknowledge(const Turn& turn,
                                               const wire::Acknowledge& acknowledge) {
  Context& context = turn.context;
  const UnwrappedPsn psn = sent().oldest().nearest(acknowledge.psn);
  const AckMsn known = AckMsn{} + messages_.completed();
  const std::int64_t claimed = acknowledge.aeth.msn.distance_from(known);
  const bool refused = acknowledge.aeth.syndrome != wire::AckSyndrome::kAck;
  // A refusal is the last word, so it knows of every message that is complete (SEC-17); and so does
  // whoever knows of a packet that is in flight (SEC-16).
  const bool is_news = psn >= sent().oldest();
  const bool of_this_connection =
      refused ? claimed >= 0 && messages_.is_open(context, psn) : claimed >= 0 || !is_news;
  if (psn >= sent().next() || messages_.completed() + claimed > messages_.sent() ||
      !of_this_connection) {
    context.counters.add(Count::kDropAckUnsent);
    return std::nullopt;
  }
  // QP-31
  const std::int64_t newly = messages_.completed_by(context, claimed, psn);
  if (newly == 0 && psn + 1 < sent().oldest() - psn_range_max_) {
    context.counters.add(Count::kDropAckOld);
    return std::nullopt;
  }
  heard(turn);
  context.counters.add(refused ? Count::kNaksReceived : Count::kAcksReceived);
  // What is acknowledged has arrived, whether or not a SACK said so (REL-71).
  if (!refused && is_news) {
    flight_.take(turn, {.cumulative = psn, .bitmap_base = psn + 1});
    progressed(turn);
  }
  for (std::int64_t i = 0; i < newly; ++i) {
    messages_.complete_first(context, turn.connection.local, WorkStatus::kSuccess);
  }
  if (newly > 0) {
    ack_wanted_ = false;
    progressed(turn);
  }
  if (!refused) return std::nullopt;
  return Fatal{.status = status_of(acknowledge.aeth.syndrome), .by_peer = true, .psn = psn};
}

}  // namespace openmrc::core
