// SPDX-License-Identifier: BSD-3-Clause
// What the peer says about packets and messages, and what follows from it.
#include <algorithm>
#include <bit>

#include "openmrc/core/requestor/requestor.h"

namespace openmrc::core {
namespace {

// Congestion, not failure: the path works and the peer answers.
bool is_trim(wire::NackReason reason) {
  return reason == wire::NackReason::kTrimmed || reason == wire::NackReason::kTrimmedLastHop;
}

// A time of which only the remainder after so many turns of the timestamp is known: the one nearest
// to `about`.
Duration unwrapped(Duration remainder, Duration about) {
  constexpr Duration kTurn = ticks_long(0xffff) + ticks_long(1);
  const std::int64_t turns = (about - remainder + kTurn / 2).raw() / kTurn.raw();
  return remainder + kTurn * std::max<std::int64_t>(turns, 0);
}

}  // namespace

// A SACK in our own terms.
struct Requestor::Feedback {
  UnwrappedPsn cumulative;
  UnwrappedPsn bitmap_base;
  std::uint64_t bitmap = 0;
  std::optional<Duration> rtt;
  std::optional<Instant> probe_sent;  // it answers a probe of ours, which was sent then
};

// When the probe that the SACK answers was sent; nothing if its answer is not awaited. The latest
// one is known exactly. An answer that comes after the next probe has left says it in its
// timestamp.
std::optional<Instant> Requestor::awaited_probe(const Turn& turn, const wire::Sack& sack,
                                                wire::ProbeId id) const {
  const auto behind = static_cast<std::uint16_t>(probe_id_ - id.raw());
  if (!probe_awaited_ || behind >= kProbesBeforeBackoff) return std::nullopt;
  if (behind == 0) return probe_sent_;
  const auto ticks = static_cast<std::uint16_t>(ticks_at(turn.now) - sack.cc_state.tx_ticks);
  const Duration ago = unwrapped(ticks_long(ticks), turn.now - probe_sent_);
  return std::min(turn.now - ago, probe_sent_);
}

// MRC 7.4.5. False if it cannot be true. A SACK that is older than what is known says nothing
// wrong, only little new.
inline bool Requestor::read_sack(const Turn& turn, const wire::Sack& sack, Feedback& feedback) {
  const wire::Seth& seth = sack.seth;
  feedback.cumulative = window_.oldest().nearest(seth.cack_psn);
  feedback.bitmap_base = feedback.cumulative + seth.sack_offset;
  feedback.bitmap = seth.sack_bitmap;
  const std::int64_t reported = seth.sack_bitmap == 0 ? 0 : 64 - std::countl_zero(seth.sack_bitmap);
  if (feedback.cumulative >= window_.next() || feedback.bitmap_base + reported > window_.next()) {
    turn.context.counters.add(Count::kDropSackUnsent);
    return false;
  }
  if (const auto probe = seth.trigger.probe_id()) {
    feedback.probe_sent = awaited_probe(turn, sack, *probe);
    if (!feedback.probe_sent) turn.context.counters.add(Count::kDropProbeUnknown);
    return true;
  }
  // MRC 8, UET 3.6.13: a round trip counts only if it is clear which transmission was answered.
  const UnwrappedPsn trigger = feedback.cumulative + *seth.trigger.packet_offset();
  if (window_.is_in_flight(turn.context.sent, trigger)) {
    const SentPacket& packet = window_.packet(turn.context.sent, trigger);
    const unsigned expected = sack.retransmission ? 2 : 1;
    // Sent still more often: the timestamp says whether the latest transmission is meant.
    const bool latest = packet.transmissions > 2 && sack.retransmission &&
                        sack.cc_state.tx_ticks == ticks_at(packet.sent);
    if (packet.transmissions == expected || latest) feedback.rtt = turn.now - packet.sent;
  } else if (trigger < window_.oldest() && trigger >= window_.oldest() - psn_range_max_) {
    // An acknowledgement overtook the SACK, as is usual with messages of one packet. The timestamp
    // is that of the transmission; but its 16 bits wrap. What arrived last tells how often, and a
    // shorter way cannot be proved.
    const auto ticks = static_cast<std::uint16_t>(ticks_at(turn.now) - sack.cc_state.tx_ticks);
    const Duration late = turn.now - turn.peer.losses.newest_arrived();
    feedback.rtt = std::max(unwrapped(ticks_long(ticks), late), turn.peer.congestion.base_rtt());
  }
  return true;
}

void Requestor::on_sack(const Turn& turn, const wire::Sack& sack) {
  Feedback feedback;
  if (!read_sack(turn, sack, feedback)) return;
  turn.context.counters.add(Count::kSacksReceived);
  heard(turn);
  take_arrivals(turn, feedback);
  tell_congestion_control(turn, sack, feedback);
  mark_path(turn, sack);
  // MRC 7.5.1: the responder's window, if both agreed that it may change.
  const bool is_latest = feedback.cumulative + 1 >= window_.oldest();
  if (turn.connection.dynamic_mpr && sack.seth.mpr != 0 && is_latest) {
    psn_range_ = std::min(sack.seth.mpr * kPsnsPerMpr, psn_range_max_);
  }
  if (window_.empty()) return;
  if (feedback.probe_sent) {
    if (*feedback.probe_sent == probe_sent_) probe_awaited_ = false;
    find_lost_by_probe(turn, feedback, sack.cc_state.ooo_count);
  }
  if (may_have_lost(turn)) find_lost(turn);
}

void Requestor::progressed(const Turn& turn) {
  interval_began_ = turn.now;
  if (retries_ == 0) return;
  retries_ = 0;
  arm(turn);  // the next timeout is nearer now
}

void Requestor::heard(const Turn& turn) {
  last_feedback_ = turn.now;
  turn.peer.last_feedback = turn.now;
  if (probes_in_row_ == 0) return;
  probes_in_row_ = 0;
  arm(turn);
}

// What a SACK says of one packet.
[[gnu::always_inline]] inline void Requestor::arrived(const Turn& turn, SentPacket& packet,
                                                      bool was_in_flight) {
  Peer& peer = turn.peer;
  if (!was_in_flight) {  // declared lost, and settled when that was decided
    arrived_late(turn, packet, packet.ev, newest_arrived_ - packet.sent);
    return;
  }
  if (packet.transmissions == 1) [[likely]] {
    peer.in_flight -= ByteCount(packet.size);
    peer.losses.on_arrived(packet, turn.now);
  } else {
    settle(turn, packet);
    // RFC 8985, 6.2: what comes back sooner than anything can is an earlier transmission.
    if (turn.now - packet.sent < peer.congestion.least_rtt()) {
      return arrived_late(turn, packet, packet.ev_before, Duration{});
    }
  }
  if (packet.sent >= newest_arrived_) {
    newest_arrived_ = packet.sent;
  } else {
    peer.losses.on_reordered(newest_arrived_ - packet.sent, turn.now);
  }
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kArrived,
                         .qpn = turn.connection.local,
                         .ev = packet.ev,
                         .value = (turn.now - packet.sent).raw()});
  }
}

// A transmission that had been declared lost has arrived: what followed from that is undone.
// `late`: how much later than others, as far as it is known.
void Requestor::arrived_late(const Turn& turn, const SentPacket& packet, EvIndex ev,
                             Duration late) {
  const bool was_missing = packet.lost_because == Count::kRetransmitsLoss ||
                           packet.lost_because == Count::kRetransmitsProbe;
  if (!was_missing) return;
  Peer& peer = turn.peer;
  turn.context.counters.add(Count::kSpuriousRetransmits);
  peer.losses.on_spurious(late, turn.now, peer.congestion.base_rtt());
  peer.congestion.on_spurious_loss(ByteCount(packet.size));
  change_ev(turn.context, turn.connection.peer, peer, ev, EvInput::kLate, turn.now);
}

inline void Requestor::take_arrivals(const Turn& turn, const Feedback& feedback) {
  const auto take = [&] [[gnu::always_inline]] (SentPacket & packet, bool was_in_flight) {
    arrived(turn, packet, was_in_flight);
  };
  if (feedback.cumulative >= window_.oldest()) {
    window_.arrived_below(turn.context.sent, feedback.cumulative + 1, take);
    progressed(turn);
  }
  if (feedback.bitmap != 0) {
    window_.arrived_bits(turn.context.sent, feedback.bitmap_base, feedback.bitmap, take);
  }
  turn.peer.losses.on_sack(newest_arrived_);
}

void Requestor::tell_congestion_control(const Turn& turn, const wire::Sack& sack,
                                        const Feedback& feedback) {
  // MRC 8: the responder's running total of bytes, 24 bits of it. One that went back is an old
  // SACK.
  const std::uint32_t units =
      (sack.cc_state.received_units - received_units_) & wire::kReceivedUnitsMask;
  const bool is_newer = units <= wire::kReceivedUnitsMask / 2;
  if (is_newer) received_units_ = sack.cc_state.received_units;
  // Probes and their answers pass the queues of data: what they measure is the way without queues.
  if (feedback.probe_sent) turn.peer.congestion.on_base_rtt(turn.now - *feedback.probe_sent);
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
}

// MRC 9.3.1: what the SACK says of the path that its packet took.
void Requestor::mark_path(const Turn& turn, const wire::Sack& sack) {
  Peer& peer = turn.peer;
  const auto ev = peer.paths.profile().find(sack.seth.entropy);
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

// MRC 7.4.6: the answer to a probe shows what has not arrived, though it was sent long before.
void Requestor::find_lost_by_probe(const Turn& turn, const Feedback& feedback,
                                   std::uint16_t ooo_count) {
  // If the bitmap shows all that has arrived out of order, everything above it is missing too.
  const bool shows_all = std::popcount(feedback.bitmap) == ooo_count;
  const UnwrappedPsn known_end = shows_all ? window_.next() : feedback.bitmap_base + 64;
  const Instant long_before = *feedback.probe_sent - std::max(turn.peer.congestion.rtt(),
                                                              turn.context.settings.reorder_floor);
  window_.visit_in_flight(turn.context.sent, known_end, [&](UnwrappedPsn psn, SentPacket& packet) {
    if (packet.sent <= long_before) {
      lose(turn, psn, packet, Count::kRetransmitsProbe);
      change_ev(turn.context, turn.connection.peer, turn.peer, packet.ev, EvInput::kMissing,
                turn.now);
    }
    return true;
  });
  turn.peer.network_is_empty = turn.peer.last_sent <= long_before;
}

// It is in flight no longer, and will be retransmitted.
void Requestor::settle_lost(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause) {
  window_.mark_lost(turn.context.sent, psn);
  packet.lost_because = cause;
  settle(turn, packet);
}

void Requestor::lose(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause) {
  Peer& peer = turn.peer;
  settle_lost(turn, psn, packet, cause);
  peer.congestion.on_loss(
      {.now = turn.now, .size = ByteCount(packet.size), .in_flight = peer.in_flight});
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kLost,
                         .qpn = turn.connection.local,
                         .psn = psn.wrapped(),
                         .ev = packet.ev,
                         .value = static_cast<std::int64_t>(cause)});
  }
}

// MRC 7.4.1: every retry of the oldest packet counts until there is progress. Returns whether that
// was one too many.
bool Requestor::charge_retry() {
  ++retries_;
  return exponential_retries_ != kExponentialRetriesInfinite &&
         retries_ > std::uint32_t{linear_retries_} + exponential_retries_;
}

// MRC 7.5.3 (Table 7-3).
std::optional<Fatal> Requestor::on_nack(const Turn& turn, const wire::Nack& nack) {
  Context& context = turn.context;
  const wire::Neth& neth = nack.neth;
  const UnwrappedPsn psn = window_.oldest().nearest(neth.psn);
  if (neth.reason == wire::NackReason::kUnexpectedEvent) {
    // The PSN is that of a request that is not complete, or the one before it.
    if (psn >= window_.next() || !is_open(context, psn + 1)) {
      context.counters.add(Count::kDropNackUnsent);
      return std::nullopt;
    }
    context.counters.add(Count::kNacksReceived);
    return Fatal{.status = WorkStatus::kRemoteOperation, .by_peer = true, .psn = psn};
  }
  if (!window_.is_in_flight(context.sent, psn)) {
    context.counters.add(Count::kDropNackUnsent);
    return std::nullopt;
  }
  SentPacket& packet = window_.packet(context.sent, psn);
  // It may have been retransmitted since.
  if (turn.peer.paths.profile().entry(packet.ev).ev != neth.entropy ||
      neth.tx_ticks != ticks_at(packet.sent)) {
    context.counters.add(Count::kDropNackStale);
    return std::nullopt;
  }
  context.counters.add(Count::kNacksReceived);
  heard(turn);
  refused(turn, psn, packet, neth.reason);
  const bool repeated = psn == window_.oldest() && packet.transmissions > 1;
  if (repeated && !is_trim(neth.reason) && charge_retry()) {
    return Fatal{.status = WorkStatus::kRetryExceeded, .psn = psn};
  }
  return std::nullopt;
}

void Requestor::refused(const Turn& turn, UnwrappedPsn psn, SentPacket& packet,
                        wire::NackReason reason) {
  using wire::NackReason;
  if (!is_trim(reason)) {
    return lose(turn, psn, packet, Count::kRetransmitsRefused);
  }
  Peer& peer = turn.peer;
  settle_lost(
      turn, psn, packet,
      reason == NackReason::kTrimmed ? Count::kRetransmitsTrim : Count::kRetransmitsTrimLastHop);
  // Both trims cut the window: MRC has no receiver credits that would (MRC 8).
  peer.congestion.on_trim({.now = turn.now,
                           .size = ByteCount(packet.size),
                           .in_flight = peer.in_flight,
                           .last_hop = reason == NackReason::kTrimmedLastHop});
  // At the last hop it is the receiver that is overloaded, and no other path would help.
  if (reason == NackReason::kTrimmed) {
    change_ev(turn.context, turn.connection.peer, peer, packet.ev, EvInput::kTrimmed, turn.now);
  }
}

// Whether `psn` lies at or behind the start of the first message that is not complete. What lies
// before has nothing to do with this connection any more, or never had.
bool Requestor::is_open(const Context& context, UnwrappedPsn psn) const {
  return completed_messages_ < begun_messages_ &&
         psn.raw() >= context.messages[messages_.first()].first_psn;
}

// How many messages an acknowledgement completes. Its count alone proves nothing: it may be left
// over from an earlier connection of the same number, so each message must also end at or before
// its PSN.
std::int64_t Requestor::completed_by(const Context& context, std::int64_t count,
                                     UnwrappedPsn psn) const {
  std::int64_t completed = 0;
  for (PoolIndex at = messages_.first(); completed < count; ++completed) {
    const SendMessage& message = context.messages[at];
    if (message.first_psn + message.packets > psn.raw() + 1) break;
    at = message.next;
  }
  return completed;
}

// MRC 6.3, 7.5: the transport's word on messages.
std::optional<Fatal> Requestor::on_acknowledge(const Turn& turn,
                                               const wire::Acknowledge& acknowledge) {
  Context& context = turn.context;
  const UnwrappedPsn psn = window_.oldest().nearest(acknowledge.psn);
  const AckMsn known = AckMsn{} + completed_messages_;
  const std::int64_t claimed = acknowledge.aeth.msn.distance_from(known);
  const bool refused = acknowledge.aeth.syndrome != wire::AckSyndrome::kAck;
  const bool of_this_connection = !refused || is_open(context, psn);
  if (psn >= window_.next() || completed_messages_ + claimed > sent_messages_ ||
      !of_this_connection) {
    context.counters.add(Count::kDropAckUnsent);
    return std::nullopt;
  }
  heard(turn);
  context.counters.add(refused ? Count::kNaksReceived : Count::kAcksReceived);
  // What is acknowledged has arrived, whether or not a SACK said so.
  if (!refused && psn >= window_.oldest()) {
    window_.arrived_below(context.sent, psn + 1, [&](SentPacket& packet, bool was_in_flight) {
      arrived(turn, packet, was_in_flight);
    });
    progressed(turn);
  }
  const std::int64_t newly = completed_by(context, claimed, psn);
  for (std::int64_t i = 0; i < newly; ++i) {
    complete_first(turn, WorkStatus::kSuccess);
    ++completed_messages_;
  }
  if (newly > 0) {
    ack_wanted_ = false;
    progressed(turn);
  }
  if (!refused) return std::nullopt;
  return Fatal{.status = status_of(acknowledge.aeth.syndrome), .by_peer = true, .psn = psn};
}

WorkStatus Requestor::status_of(wire::AckSyndrome syndrome) {
  switch (syndrome) {
    case wire::AckSyndrome::kNakRemoteAccess: return WorkStatus::kRemoteAccess;
    case wire::AckSyndrome::kNakInvalidRequest: return WorkStatus::kRemoteInvalidRequest;
    case wire::AckSyndrome::kNakRemoteOperation:
    case wire::AckSyndrome::kNakSequenceError:
    case wire::AckSyndrome::kAck: break;
  }
  return WorkStatus::kRemoteOperation;
}

}  // namespace openmrc::core
