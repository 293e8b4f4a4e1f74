// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/flight.h"

#include <algorithm>
#include <bit>

namespace openmrc::core {

struct Flight::LossSearch {
  LossDetector::Limits limits;
  bool had_gap;          // packets may have been overtaken that are not late
  bool has_gap = false;  // some were, but may still come
  unsigned candidates = kLossCandidatesPerSack;
};

bool Flight::has_late(const Turn& turn) {
  LossDetector& losses = turn.peer.losses;
  const Instant late_before =
      newest_arrived_ - losses.tolerance(turn.now, turn.peer.congestion.base_rtt(),
                                         turn.context.settings.reorder_floor);
  const SentRef retransmitted = retransmitted_.oldest();
  if (retransmitted != kNoSent &&
      sent_packet(turn.context.sent, retransmitted).sent < late_before) {
    return true;
  }
  bool late = false;
  window_.visit_sent_once(turn.context.sent, [&](UnwrappedPsn, const SentPacket& packet) {
    late = packet.sent < late_before;
    return false;
  });
  return late;
}

// MRC 7.4.5. In the order of transmission, until one is reached that cannot be late yet. If packets
// on some path arrived out of order, others may have been overtaken: up to a limit, they are looked
// at too; they will be late at the latest when their time has come.
//
// A SACK speaks of one queue pair. That another one's packets have arrived which were sent later
// says nothing as long as this one's SACK may be on its way.
void Flight::look_for_lost(const Turn& turn) {
  const std::uint32_t gaps = turn.peer.losses.gaps();
  LossSearch search{
      .limits = turn.peer.losses.limits(newest_arrived_, turn.now, turn.peer.congestion.base_rtt(),
                                        turn.context.settings.reorder_floor),
      .had_gap = gaps_seen_ != gaps};
  for (SentRef at = retransmitted_.oldest(); at != kNoSent;) {
    SentPacket& packet = sent_packet(turn.context.sent, at);
    const SentRef next = packet.after;
    if (!examine(turn, search, psn_of(turn.context.sent, at), packet)) break;
    at = next;
  }
  window_.visit_sent_once(turn.context.sent, [&](UnwrappedPsn psn, SentPacket& packet) {
    return examine(turn, search, psn, packet);
  });
  if (!search.has_gap) gaps_seen_ = gaps;
}

Instant Flight::late_at(const Turn& turn) {
  Instant earliest = kNever;
  const auto consider = [&](const SentPacket& packet) {
    if (packet.sent > newest_arrived_) return;
    earliest =
        std::min(earliest, turn.peer.losses.late_at(packet, turn.now, turn.peer.congestion.rtt(),
                                                    turn.peer.congestion.base_rtt(),
                                                    turn.context.settings.reorder_floor));
  };
  const SentRef retransmitted = retransmitted_.oldest();
  if (retransmitted != kNoSent) consider(sent_packet(turn.context.sent, retransmitted));
  window_.visit_sent_once(turn.context.sent, [&](UnwrappedPsn, const SentPacket& packet) {
    consider(packet);
    return false;
  });
  return earliest;
}

// Returns whether the next one may be lost too.
bool Flight::examine(const Turn& turn, LossSearch& search, UnwrappedPsn psn, SentPacket& packet) {
  using Verdict = LossDetector::Verdict;
  if (packet.sent > newest_arrived_) return false;
  if (packet.sent >= search.limits.late_before && !search.had_gap) return false;
  const Verdict verdict = turn.peer.losses.judge(packet, search.limits);
  if (verdict == Verdict::kInFlight) {
    const bool is_last = --search.candidates == 0;
    search.has_gap |= turn.peer.losses.is_overtaken(packet) || (is_last && search.had_gap);
    return !is_last;
  }
  lose(turn, psn, packet, Count::kRetransmitsLoss);
  // A SACK shows 64 packets, and SACKs overtake each other: one packet that seems to have been
  // overtaken is no reason to leave its path, unless others were missing on it of late.
  Peer& peer = turn.peer;
  const bool is_tolerated = verdict == Verdict::kOvertaken &&
                            peer.health.tolerates(peer.missing_on(packet.path, turn.now));
  if (is_tolerated) return true;
  // One that is late makes its path suspect; two that overtook it leave no doubt (MRC 9.3.1).
  // PATH-40, PATH-42
  change_ev(turn.context, turn.connection.peer, peer, packet.ev,
            verdict == Verdict::kOvertakenTwice ? EvInput::kLost : EvInput::kMissing, turn.now);
  return true;
}

// A transmission that had been declared lost has arrived: what followed from that is undone.
// `late`: how much later than others, as far as it is known (REL-43).
void Flight::arrived_late(const Turn& turn, const SentPacket& packet, EvIndex ev, Duration late) {
  const bool was_missing = packet.lost_because == Count::kRetransmitsLoss ||
                           packet.lost_because == Count::kRetransmitsProbe;
  if (!was_missing) return;
  Peer& peer = turn.peer;
  turn.context.counters.add(Count::kSpuriousRetransmits);
  peer.losses.on_spurious(late, turn.now, peer.congestion.base_rtt());
  peer.congestion.on_spurious_loss(ByteCount(packet.size));
  if (peer.paths.is_usable(ev)) peer.health.acquit(peer.paths.profile().path_of(ev));
  change_ev(turn.context, turn.connection.peer, peer, ev, EvInput::kLate, turn.now);
}

namespace {

// A responder that had no room lost nothing on the way.
void count_by_plane(Counters& counters, Count cause, Plane plane) {
  if (cause == Count::kRetransmitsRefused) return;
  const bool is_trim = cause == Count::kRetransmitsTrim || cause == Count::kRetransmitsTrimLastHop;
  is_trim ? counters.add_trimmed(plane) : counters.add_lost(plane);
}

}  // namespace

void Flight::settle_lost(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause) {
  window_.mark_lost(turn.context.sent, psn);
  packet.lost_because = cause;
  count_by_plane(turn.context.counters, cause, turn.peer.paths.profile().entry(packet.ev).plane);
  settle(turn, packet);
}

// CC-10, REL-42
void Flight::lose(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause) {
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

// MRC 7.4.6: the answer to a probe shows what has not arrived, though it was sent long before.
// REL-64
void Flight::find_lost_by_probe(const Turn& turn, const Arrivals& arrivals, Instant probe_sent,
                                std::uint16_t out_of_order) {
  // If the bitmap shows all that has arrived out of order, everything above it is missing too.
  // REL-65
  const bool shows_all = std::popcount(arrivals.bitmap) == out_of_order;
  const UnwrappedPsn known_end = shows_all ? window_.next() : arrivals.bitmap_base + 64;
  const Instant long_before =
      probe_sent - std::max(turn.peer.congestion.rtt(),
                            turn.peer.losses.tolerance(turn.now, turn.peer.congestion.base_rtt(),
                                                       turn.context.settings.reorder_floor));
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

// RFC 2018, 8: what a bitmap has reported counts no longer if the oldest is among it. No honest
// responder says so, and a false report must not keep a packet from being retransmitted for ever.
bool Flight::take_back_oldest(const Turn& turn) {
  SentPool& pool = turn.context.sent;
  if (window_.empty() || !window_.oldest_is_reported(pool)) return false;
  window_.take_back_oldest(pool);
  window_.packet(pool, window_.oldest()).lost_because = Count::kRetransmitsTimeout;
  return true;
}

bool Flight::lose_expired(const Turn& turn, Instant expired, Instant last_feedback) {
  bool any = take_back_oldest(turn);
  window_.visit_in_flight(
      turn.context.sent, window_.next(), [&](UnwrappedPsn psn, SentPacket& packet) {
        if (packet.sent > expired) return true;
        // If nothing that was sent later has arrived, or nothing was heard when it should have
        // been, it is the peer that is silent, and no path is better than another (REL-77).
        // PATH-43
        const bool others_arrive = packet.sent < turn.peer.losses.newest_arrived() &&
                                   packet.sent + turn.peer.congestion.rtt() <= last_feedback;
        lose(turn, psn, packet, Count::kRetransmitsTimeout);
        if (others_arrive) {
          change_ev(turn.context, turn.connection.peer, turn.peer, packet.ev, EvInput::kLost,
                    turn.now);
        }
        return any = true;
      });
  return any;
}

Flight::Retransmitted Flight::retransmit(const Turn& turn, const PathSet::Choice& path) {
  Context& context = turn.context;
  const UnwrappedPsn psn = window_.oldest_lost(context.sent);
  SentPacket& packet = window_.retransmit(context.sent, psn);
  if (packet.transmissions < 0xff) ++packet.transmissions;
  context.counters.add(packet.lost_because);
  packet.ev_before = packet.ev;
  depart(turn, packet, path);
  retransmitted_.append(context.sent, window_.ref(psn), packet);
  return {.psn = psn, .message = packet.message};
}

void Flight::trace_arrival(const Turn& turn, const SentPacket& packet) {
  turn.context.record({.when = turn.now,
                       .kind = TraceKind::kArrived,
                       .qpn = turn.connection.local,
                       .ev = packet.ev,
                       .value = (turn.now - packet.sent).raw()});
}

}  // namespace openmrc::core
