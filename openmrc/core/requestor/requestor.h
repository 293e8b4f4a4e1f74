// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/core/requestor/retransmission_list.h"
#include "openmrc/core/requestor/sent_window.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// What ends a queue pair.
struct Fatal {
  WorkStatus status = WorkStatus::kSuccess;
  bool by_peer = false;  // the peer refused
  bool by_us = false;    // we refused what the peer asked for
  UnwrappedPsn psn{};    // of the request that failed
};

// How long a requestor waits for a silent peer until its retries are exhausted (MRC 7.4.1); nothing
// if it never does.
[[nodiscard]] std::optional<Duration> time_to_retry_exceeded(
    const ReadyToSendAttributes& attributes);

// The sending half of a queue pair (MRC 6.2, 7.4): cuts messages into packets, keeps what is in
// flight, hears the peer's feedback, decides what is lost. Sends nothing itself: its owner asks
// what is next, finds a window and a path for it, and has the record filled in.
class Requestor {
 public:
  Requestor() = default;
  // The window is for the PSNs from `first_psn` on.
  explicit Requestor(const ReadyToSendAttributes& attributes);

  // `message` is filled in up to its PSN; the requestor owns it from now on.
  void post(const Turn& turn, PoolIndex message);

  // What the windows of PSNs and immediates allow to be sent now; the congestion window is for the
  // caller to ask.
  enum class Next : std::uint8_t {
    kNothing,
    kRetransmit,
    kNew,
    kNoRoom,  // the endpoint's limit of packets in flight is reached
  };
  struct Offer {
    Next what = Next::kNothing;
    bool is_last = false;            // of its message
    std::optional<EvIndex> avoid{};  // the path that it took before
    std::uint32_t payload_size = 0;  // of a new one
    ByteCount size{};                // nominal
  };
  [[nodiscard]] Offer next(Context& context, std::uint32_t mtu);
  // Sends what was offered: takes it into flight and fills in the record.
  void send(const Turn& turn, const Offer& offer, const PathSet::Choice& path,
            wire::RdmaWrite& out);
  // It cannot be sent: there is no way to the peer. After a timeout that counts as a retry.
  void on_no_route(const Turn& turn);

  void on_sack(const Turn& turn, const wire::Sack& sack);
  [[nodiscard]] std::optional<Fatal> on_nack(const Turn& turn, const wire::Nack& nack);
  [[nodiscard]] std::optional<Fatal> on_acknowledge(const Turn& turn,
                                                    const wire::Acknowledge& acknowledge);

  // What is to be done by `now`: probes and timeouts. `reachable`: there is a port to send from.
  [[nodiscard]] std::optional<Fatal> on_timer(const Turn& turn, bool reachable);
  [[nodiscard]] Instant next_deadline(const Turn& turn);

  // Ends everything that is left: the message that `fatal` names with its status, all others as
  // flushed.
  void flush(const Turn& turn, const Fatal& fatal, Flush how);

  // The path that a packet in flight took last.
  [[nodiscard]] std::optional<EvIndex> path_of(Context& context, UnwrappedPsn psn) {
    if (!window_.covers(psn)) return std::nullopt;
    return window_.packet(context.sent, psn).ev;
  }

  Timer& timer() { return timer_; }
  [[nodiscard]] bool idle() const { return messages_.empty(); }
  [[nodiscard]] std::uint32_t retries() const { return retries_; }
  [[nodiscard]] const SentWindow& window() const { return window_; }
  [[nodiscard]] std::int64_t psn_range() const { return psn_range_; }

 private:
  // requestor.cc
  void begin_message(SendMessage& message);
  [[nodiscard]] Offer next_retransmit(Context& context);
  void complete_first(const Turn& turn, WorkStatus status, Flush how = Flush::kComplete);
  void send_new(const Turn& turn, const Offer& offer, const PathSet::Choice& path,
                wire::RdmaWrite& out);
  void depart(const Turn& turn, SentPacket& packet, const PathSet::Choice& path);
  void retransmit(const Turn& turn, const PathSet::Choice& path, wire::RdmaWrite& out);
  void arm(const Turn& turn);

  // requestor_feedback.cc
  struct Feedback;
  [[nodiscard]] bool read_sack(const Turn& turn, const wire::Sack& sack, Feedback& feedback);
  [[nodiscard]] std::optional<Instant> awaited_probe(const Turn& turn, const wire::Sack& sack,
                                                     wire::ProbeId id) const;
  void take_arrivals(const Turn& turn, const Feedback& feedback);
  void arrived(const Turn& turn, SentPacket& packet, bool was_in_flight);
  static void arrived_late(const Turn& turn, const SentPacket& packet, EvIndex ev, Duration late);
  void tell_congestion_control(const Turn& turn, const wire::Sack& sack, const Feedback& feedback);
  static void mark_path(const Turn& turn, const wire::Sack& sack);
  void lose(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause);
  void settle_lost(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, Count cause);
  void find_lost_by_probe(const Turn& turn, const Feedback& feedback, std::uint16_t ooo_count);
  void refused(const Turn& turn, UnwrappedPsn psn, SentPacket& packet, wire::NackReason reason);
  void progressed(const Turn& turn);
  void heard(const Turn& turn);
  [[nodiscard]] bool is_open(const Context& context, UnwrappedPsn psn) const;
  [[nodiscard]] std::int64_t completed_by(const Context& context, std::int64_t count,
                                          UnwrappedPsn psn) const;
  static WorkStatus status_of(wire::AckSyndrome syndrome);
  [[nodiscard]] bool charge_retry();

  // requestor_losses.cc
  struct LossSearch;
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
  void find_lost(const Turn& turn);
  bool examine(const Turn& turn, LossSearch& search, UnwrappedPsn psn, SentPacket& packet);
  // It is in flight no longer.
  void settle(const Turn& turn, const SentPacket& packet) {
    if (packet.transmissions > 1) [[unlikely]]
      retransmitted_.remove(turn.context.sent, packet);
    turn.peer.in_flight -= ByteCount(packet.size);
    turn.peer.losses.on_settled(packet);
  }

  // requestor_timers.cc
  [[nodiscard]] Duration timeout() const;
  [[nodiscard]] Duration probe_timeout(const Turn& turn) const;
  [[nodiscard]] bool awaits_acknowledgement(const Context& context) const;
  [[nodiscard]] Instant timeout_deadline() const;
  [[nodiscard]] Instant probe_deadline(const Turn& turn) const;
  [[nodiscard]] bool probes_help() const { return !window_.empty() && !window_.all_lost(); }
  [[nodiscard]] bool has_place_for_probe(const Turn& turn);
  void send_probe(const Turn& turn);
  [[nodiscard]] std::optional<Fatal> time_out(const Turn& turn);
  bool lose_expired(const Turn& turn, Instant expired);

  SentWindow window_;
  RetransmissionList retransmitted_;
  Instant newest_arrived_{};        // when the latest of those that have arrived was sent
  std::uint32_t gaps_seen_ = 0;     // of LossDetector::gaps: all overtaken packets are known
  PoolList messages_;               // not complete, in order
  PoolIndex current_ = kNoElement;  // the first that is not wholly cut
  std::uint32_t offset_ = 0;        // of `current_`, how much is cut
  std::int64_t psn_range_ = 0;      // how many PSNs beyond the acknowledged one may be sent
  std::int64_t psn_range_max_ = 0;
  std::int64_t begun_messages_ = 0;
  std::int64_t sent_messages_ = 0;  // whose last packet has been sent
  std::int64_t completed_messages_ = 0;
  std::uint32_t received_units_ = 0;    // as the last SACK had it
  std::uint16_t immediates_begun_ = 0;  // all of them, wrapping
  std::uint16_t immediates_open_ = 0;   // begun and not complete
  std::uint16_t immediates_max_ = 0;
  std::uint8_t timeout_exponent_ = 0;
  std::uint8_t linear_retries_ = 0;
  std::uint8_t exponential_retries_ = 0;
  std::uint8_t probes_in_row_ = 0;  // without feedback
  bool ack_wanted_ = false;         // the last packet of a message is to be retransmitted
  bool probe_awaited_ = false;
  bool no_route_ = false;  // nothing is in flight, and there was no way to the peer
  std::uint16_t probe_id_ = 0;
  std::uint32_t retries_ = 0;  // of the oldest packet, without progress
  Instant probe_sent_{};
  Instant probe_place_{};  // not before then, so that others have their turn
  Instant last_sent_{};
  Instant last_feedback_{};
  Instant interval_began_{};
  Timer timer_;
};

}  // namespace openmrc::core
