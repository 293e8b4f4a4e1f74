// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/sent_pool.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/core/requestor/retransmission_list.h"
#include "openmrc/core/requestor/sent_window.h"

namespace openmrc::core {

// The packets of a queue pair that were sent and are not known to have arrived, and which of them
// are lost (MRC 7.4.4, 7.4.5). Tells congestion control and paths what follows from that.
class Flight {
 public:
  Flight() = default;
  Flight(std::uint8_t mpr, UnwrappedPsn first) : window_(mpr, first) {}

  [[nodiscard]] const SentWindow& window() const { return window_; }
  [[nodiscard]] bool can_send_new(SentPool& pool) { return window_.can_append(pool); }
  // The one to be retransmitted first; there is one.
  [[nodiscard]] UnwrappedPsn first_lost(SentPool& pool) { return window_.oldest_lost(pool); }
  [[nodiscard]] SentPacket& packet(SentPool& pool, UnwrappedPsn psn) {
    return window_.packet(pool, psn);
  }

  // A new packet leaves. Returns its PSN.
  [[gnu::always_inline]] UnwrappedPsn send_new(const Turn& turn, const PathSet::Choice& path,
                                               PoolIndex message, ByteCount size) {
    const UnwrappedPsn psn = window_.next();
    SentPacket& packet = window_.append(turn.context.sent);
    packet.message = message;
    packet.transmissions = 1;
    packet.size = static_cast<std::uint32_t>(size.raw());
    depart(turn, packet, path);
    return psn;
  }
  // The same for many of equal size that belong to one message, by paths in `planes`, which have
  // some. There is room for them, and others are in flight. Returns the first of them.
  const SentPacket* send_many(const Turn& turn, PlaneMask planes, std::int64_t count,
                              PoolIndex message, ByteCount size) {
    Peer& peer = turn.peer;
    SentPacket* const first = window_.append(turn.context.sent, count);
    SentPacket* packet = first;
    peer.paths.choose_many(planes, count, [&] [[gnu::always_inline]] (EvIndex ev, PathIndex path) {
      packet->sent = turn.now;
      packet->message = message;
      packet->size = static_cast<std::uint32_t>(size.raw());
      packet->transmissions = 1;
      packet->ev = ev;
      packet->path = path;
      peer.losses.on_sent(*packet++);
    });
    peer.in_flight += size * count;
    return first;
  }
  // The first lost one leaves once more.
  struct Retransmitted {
    UnwrappedPsn psn;
    PoolIndex message;
  };
  Retransmitted retransmit(const Turn& turn, const PathSet::Choice& path);

  // What a SACK shows. Returns whether the oldest has arrived (REL-32, REL-33).
  struct Arrivals {
    UnwrappedPsn cumulative;
    UnwrappedPsn bitmap_base;
    std::uint64_t bitmap = 0;
  };
  bool take(const Turn& turn, const Arrivals& arrivals) {
    const Arriving one{*this, turn};
    const bool progressed = arrivals.cumulative >= window_.oldest();
    if (progressed) window_.arrived_below(turn.context.sent, arrivals.cumulative + 1, one);
    if (arrivals.bitmap != 0) {
      window_.arrived_bits(turn.context.sent, arrivals.bitmap_base, arrivals.bitmap, one);
    }
    turn.peer.losses.on_sack(newest_arrived_);
    return progressed;
  }

  // Looks for lost packets, if there can be some; the window is not empty.
  void find_lost(const Turn& turn) {
    if (may_have_lost(turn)) look_for_lost(turn);
  }
  // When the oldest of those that others have passed is late, if nothing more is heard (as the
  // reordering timer of RFC 8985). Never, if all of them were sent after what has arrived (REL-61).
  [[nodiscard]] Instant late_at(const Turn& turn);
  // MRC 7.4.6: the answer to a probe that was sent then shows what has not arrived.
  // `shown_out_of_order`: how many had arrived out of order.
  void find_lost_by_probe(const Turn& turn, const Arrivals& arrivals, Instant probe_sent,
                          std::uint16_t out_of_order);
  // MRC 7.4.1: everything that was sent by `expired`, and the oldest if it was reported falsely.
  // Returns whether there was any.
  bool lose_expired(const Turn& turn, Instant expired, Instant last_feedback);
  // The packet is lost, and its window with it.
  void lose(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause);
  // It is in flight no longer, and will be retransmitted (CC-6, REL-58).
  void settle_lost(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause);
  // Nothing is in flight any more.
  void clear(const Turn& turn) {
    window_.clear(turn.context.sent, [&](SentPacket& packet) { settle(turn, packet); });
  }

 private:
  struct LossSearch;

  [[gnu::always_inline]] static void depart(const Turn& turn, SentPacket& packet,
                                            const PathSet::Choice& path) {
    Peer& peer = turn.peer;
    if (!peer.losses.is_running()) [[unlikely]]
      start_flight(turn.context, turn.connection.peer, peer, turn.now);
    packet.sent = turn.now;
    packet.ev = path.ev;
    packet.path = path.path;
    peer.losses.on_sent(packet);
    peer.in_flight += ByteCount(packet.size);
  }
  void settle(const Turn& turn, const SentPacket& packet) {
    if (packet.transmissions > 1) [[unlikely]]
      retransmitted_.remove(turn.context.sent, packet);
    turn.peer.in_flight -= ByteCount(packet.size);
    turn.peer.losses.on_settled(packet);
  }

  // What a SACK says of one packet.
  void arrived(const Turn& turn, SentPacket& packet, bool was_in_flight) {
    Peer& peer = turn.peer;
    if (!was_in_flight) {  // declared lost, and settled when that was decided
      return arrived_late(turn, packet, packet.ev, newest_arrived_ - packet.sent);
    }
    if (packet.transmissions == 1) [[likely]] {
      peer.in_flight -= ByteCount(packet.size);
      peer.losses.on_arrived(packet, turn.now);
    } else {
      settle(turn, packet);
      // RFC 8985, 6.2: what comes back sooner than anything can is an earlier transmission.
      // REL-41
      if (turn.now - packet.sent < peer.congestion.least_rtt()) {
        return arrived_late(turn, packet, packet.ev_before, Duration{});
      }
    }
    if (packet.sent >= newest_arrived_) {
      newest_arrived_ = packet.sent;
    } else {
      peer.losses.on_reordered(newest_arrived_ - packet.sent, turn.now);
    }
    if (turn.context.tracing()) trace_arrival(turn, packet);
  }
  // The same of many that were in flight for the first time.
  [[gnu::always_inline]] void arrived_once(const Turn& turn, SentChunk& in, std::uint64_t bits) {
    if (turn.context.tracing()) [[unlikely]] {
      return SentWindow::visit_bits(in, bits, [&](SentPacket& one) { arrived(turn, one, true); });
    }
    LossDetector& losses = turn.peer.losses;
    std::int64_t size = 0;
    Instant newest = newest_arrived_;
    SentWindow::visit_bits(in, bits, [&] [[gnu::always_inline]] (const SentPacket& packet) {
      size += packet.size;
      losses.on_arrived(packet, turn.now);
      if (packet.sent < newest) {
        losses.on_reordered(newest - packet.sent, turn.now);
      } else {
        newest = packet.sent;
      }
    });
    newest_arrived_ = newest;
    turn.peer.in_flight -= ByteCount(size);
  }
  struct Arriving {
    Flight& flight;
    const Turn& turn;

    void operator()(SentPacket& packet, bool was_in_flight) const {
      flight.arrived(turn, packet, was_in_flight);
    }
    void operator()(SentChunk& in, std::uint64_t bits) const {
      flight.arrived_once(turn, in, bits);
    }
  };
  static void arrived_late(const Turn& turn, const SentPacket& packet, EvIndex ev, Duration late);
  static void trace_arrival(const Turn& turn, const SentPacket& packet);

  // Whether a search would find something: on some path packets arrived out of order, or the oldest
  // may be late. Spares the search after nearly every SACK.
  [[nodiscard]] bool may_have_lost(const Turn& turn) {
    if (gaps_seen_ != turn.peer.losses.gaps()) return true;
    const SentPacket& oldest = window_.packet(turn.context.sent, window_.oldest());
    const Duration least = LossDetector::least_tolerance(turn.peer.congestion.base_rtt());
    if (newest_arrived_ - oldest.sent <= least && retransmitted_.oldest() == kNoSent) [[likely]]
      return false;
    return has_late(turn);
  }
  [[nodiscard]] bool has_late(const Turn& turn);
  void look_for_lost(const Turn& turn);
  bool take_back_oldest(const Turn& turn);
  bool examine(const Turn& turn, LossSearch& search, UnwrappedPsn psn, SentPacket& packet);

  SentWindow window_;
  RetransmissionList retransmitted_;
  Instant newest_arrived_{};     // when the latest of those that have arrived was sent
  std::uint32_t gaps_seen_ = 0;  // of LossDetector::gaps: all overtaken packets are known
};

}  // namespace openmrc::core
