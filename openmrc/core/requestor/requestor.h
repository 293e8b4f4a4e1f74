// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/core/requestor/flight.h"
#include "openmrc/core/requestor/probe_clock.h"
#include "openmrc/core/requestor/retry_clock.h"
#include "openmrc/core/requestor/send_messages.h"
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
  // caller to ask. Of 32 bits, so that an Offer is not packed into two registers and taken apart
  // again: that was 16 instructions of every packet.
  enum class Next : std::uint32_t {
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
  // A run: packets from the middle of a message, so that nothing but their paths, PSNs and
  // addresses differs. How many may be sent now, at most `most`; none if anything is unusual, or
  // the next packet begins or ends something. Then it is for `next` to say.
  [[nodiscard]] std::int64_t run_length(const Turn& turn, std::int64_t most) const;
  // Sends so many by paths in `planes`, which have some. `record(i, ev)` is asked where each is to
  // be filled in. In requestor_run.h.
  template <class Record>
  void send_run(const Turn& turn, PlaneMask planes, std::int64_t count, Record&& record);
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
    if (!sent().covers(psn)) return std::nullopt;
    return flight_.packet(context.sent, psn).ev;
  }

  Timer& timer() { return timer_; }
  [[nodiscard]] bool idle() const { return messages_.empty(); }
  [[nodiscard]] std::uint32_t retries() const { return retry_.retries(); }
  [[nodiscard]] const SentWindow& window() const { return flight_.window(); }
  [[nodiscard]] std::int64_t psn_range() const { return psn_range_; }

 private:
  [[nodiscard]] const SentWindow& sent() const { return flight_.window(); }

  // Of a packet from the middle of a message (CC-7).
  [[nodiscard]] static ByteCount full_size(const Turn& turn) {
    return std::max(nominal_size(turn.connection.mtu, false),
                    turn.context.settings.packet_weight_min);
  }

  // requestor.cc
  [[nodiscard]] Offer next_retransmit(Context& context);
  void send_new(const Turn& turn, const Offer& offer, const PathSet::Choice& path,
                wire::RdmaWrite& out);
  void retransmit(const Turn& turn, const PathSet::Choice& path, wire::RdmaWrite& out);
  void arm(const Turn& turn);

  // requestor_feedback.cc
  struct Feedback;
  [[nodiscard]] bool read_sack(const Turn& turn, const wire::Sack& sack, Feedback& feedback);
  [[nodiscard]] std::optional<Duration> round_trip(const Turn& turn, const wire::Sack& sack,
                                                   UnwrappedPsn trigger);
  [[nodiscard]] bool took_another_path(const Turn& turn, UnwrappedPsn psn, Ev ev);
  // Returns whether it counts more bytes than any SACK before it.
  bool tell_congestion_control(const Turn& turn, const wire::Sack& sack, const Feedback& feedback);
  void take_window(const wire::Seth& seth, bool is_newest);
  void refused(const Turn& turn, UnwrappedPsn psn, wire::NackReason reason);
  void progressed(const Turn& turn);
  void heard(const Turn& turn);

  // requestor_timers.cc
  [[nodiscard]] bool awaits_acknowledgement(const Context& context) const {
    return messages_.awaits_acknowledgement(context, sent().oldest());
  }
  [[nodiscard]] Instant timeout_deadline() const;
  [[nodiscard]] Instant probe_deadline(const Turn& turn);
  [[nodiscard]] bool probes_help() const { return !sent().empty() && !sent().all_lost(); }
  void send_probe(const Turn& turn);
  [[nodiscard]] std::optional<Fatal> time_out(const Turn& turn);

  Flight flight_;
  SendMessages messages_;
  RetryClock retry_;
  ProbeClock probe_;
  std::int64_t psn_range_ = 0;  // how many PSNs beyond the acknowledged one may be sent
  std::int64_t psn_range_max_ = 0;
  ByteCount sent_bytes_{};             // of all packets, each once
  std::uint32_t received_units_ = 0;   // as the last SACK had it
  bool ack_wanted_ = false;            // the last packet of a message is to be retransmitted
  std::optional<EvIndex> ack_path_{};  // which such a packet took last
  bool no_route_ = false;              // nothing is in flight, and there was no way to the peer
  Instant last_sent_{};
  Instant last_feedback_{};
  Timer timer_;
};

}  // namespace openmrc::core
