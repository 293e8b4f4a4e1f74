// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/core/responder/arrival_window.h"
#include "openmrc/core/responder/placement_order.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// What the network says of a packet, apart from its content.
struct ArrivalInfo {
  Ev ev{};
  bool marked = false;          // ECN: it met congestion
  bool path_unwelcome = false;  // it came by a port that is down here (MRC 9.3.1)
};

// The receiving half of a queue pair (MRC 6.3, 7.5): places packets in whatever order they come,
// reports them, completes messages in order. Reports are queued as control items; their content is
// filled in when they leave (REL-13).
class Responder {
 public:
  Responder() = default;

  // Receives may be posted before the peer is known.
  void post_receive(Context& context, PoolIndex receive);

  // MRC 6.3.1. If the peer violated the protocol, what to send it: the queue pair is then done.
  struct Refusal {
    wire::AckSyndrome syndrome;
    Psn psn;
    bool not_now = false;  // no refusal: there is no room, and the packet is to be retransmitted
  };
  // MRC 6.2: every message has a packet at least, so the packets between what has arrived and this
  // one bound its message number. Nobody who has not seen the connection knows both (SEC-8).
  [[nodiscard]] bool is_plausible(UnwrappedPsn psn, Msn msn) const {
    const std::int64_t ahead = psn - window_.expected();
    return ahead < 0 || ((msn.raw() - completed_messages_) & Msn::kMask) <= ahead;
  }
  // `psn` is what the packet's stands for.
  [[nodiscard]] std::optional<Refusal> on_write(const Turn& turn, const wire::RdmaWrite& write,
                                                UnwrappedPsn psn, const ArrivalInfo& arrival);
  void on_trimmed(const Turn& turn, const wire::TrimmedWrite& trimmed, UnwrappedPsn psn,
                  const ArrivalInfo& arrival);
  // `copies`: of the answer; each takes a path of its own.
  void on_probe(const Turn& turn, const wire::ReliabilityProbe& probe, const ArrivalInfo& arrival,
                unsigned copies);

  // Fills in what a queued item stands for.
  void fill(const Turn& turn, const ControlItem& item, wire::Sack& out);
  void fill(const Turn& turn, wire::Acknowledge& out);
  // The queued acknowledgement will not leave; the next reason for one queues it anew.
  void acknowledge_dropped() { acknowledge_queued_ = false; }

  // MRC 7.5.1 (REL-4, REL-8): what to offer from now on, at most what was offered first.
  void offer_mpr(std::uint8_t mpr) { mpr_ = mpr; }
  // What every SACK carries: how busy this receiver is (MRC 8; CC-38).
  void set_receiver_penalty(std::uint8_t penalty, bool restore) {
    penalty_ = penalty;
    restore_ = restore;
  }

  // Ends all posted receives.
  void flush(Context& context, const Connection& connection, Flush how);
  // Starts over as a new connection's, with the receives that were posted before.
  void connect(const ReadyToRecvAttributes& attributes);

  // REL-1
  [[nodiscard]] UnwrappedPsn unwrapped(Psn psn) const { return window_.expected().nearest(psn); }
  [[nodiscard]] UnwrappedPsn cumulative() const { return window_.cumulative(); }
  [[nodiscard]] const ArrivalWindow& window() const { return window_; }

 private:
  enum class Standing : std::uint8_t { kNew, kDuplicate, kAboveWindow };
  // MRC 6.3.1 (REL-3): what lies below the window has arrived once.
  [[nodiscard]] Standing standing(UnwrappedPsn psn) const {
    if (psn >= window_.expected() + window_.range()) return Standing::kAboveWindow;
    return window_.has(psn) ? Standing::kDuplicate : Standing::kNew;
  }

  // MRC 7.5.3: all queue pairs share the room, no peer has more of it than it leaves to others, and
  // one place is kept for whatever is next in order: it gives back its own and those of what waits
  // for it (REL-45, REL-92).
  [[nodiscard]] bool has_room_for_immediate(const Turn& turn, UnwrappedPsn psn) const {
    const std::size_t room = turn.context.early.room();
    if (psn == window_.expected()) return room > 0;
    return room > 1 &&
           turn.context.early_shares.may_take(PeerShares::of(turn.connection.peer), room);
  }
  void on_write_not_new(const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn,
                        const ArrivalInfo& arrival);
  static void refuse_immediate(const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn,
                               const ArrivalInfo& arrival);
  void give_back_early(Context& context, const Connection& connection, PoolIndex index);
  [[nodiscard]] std::optional<Refusal> place(const Turn& turn, const wire::RdmaWrite& write,
                                             UnwrappedPsn psn);
  // MSG-45
  [[nodiscard]] bool must_wait(const wire::RdmaWrite& write, UnwrappedPsn psn) const {
    return order_ != nullptr && psn != window_.expected() && write.payload.has_bytes();
  }
  [[nodiscard]] static std::optional<Refusal> place_elsewhere(const Turn& turn,
                                                              const wire::RdmaWrite& write,
                                                              UnwrappedPsn psn);
  [[nodiscard]] std::optional<Refusal> deliver_elsewhere(const Turn& turn,
                                                         const EarlyImmediate& early);
  [[nodiscard]] Refusal refuse_message(const EarlyImmediate& early, wire::AckSyndrome syndrome);
  [[nodiscard]] std::optional<Refusal> keep_immediate(const Turn& turn,
                                                      const wire::RdmaWrite& write,
                                                      UnwrappedPsn psn);
  [[nodiscard]] std::optional<Refusal> deliver_immediates(const Turn& turn);
  void report(const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn,
              const ArrivalInfo& arrival, bool duplicate);
  static void queue_sack(const Turn& turn, UnwrappedPsn psn, const ArrivalInfo& arrival,
                         std::uint16_t tx_ticks, bool retransmission);
  static void queue_nack(const Turn& turn, wire::NackReason reason, UnwrappedPsn psn, Ev ev,
                         std::uint16_t tx_ticks);
  void queue_acknowledge(const Turn& turn);

  ArrivalWindow window_;
  ByteCount received_bytes_{};          // nominal, of new packets (MRC 8)
  std::uint32_t unreported_bytes_ = 0;  // towards the next SACK (sack_trigger_cnt)
  std::uint32_t completed_messages_ = 0;
  std::unique_ptr<PlacementOrder> order_;  // if packets are to be placed in order
  PoolList receives_;
  PoolList early_;  // immediates that wait, in order of PSN
  std::uint16_t early_count_ = 0;
  std::uint16_t immediates_max_ = 0;
  std::uint16_t immediates_delivered_ = 0;  // all of them, wrapping
  std::uint8_t mpr_ = 0;
  std::uint8_t penalty_ = 0;
  bool restore_ = false;
  bool acknowledge_queued_ = false;
};

}  // namespace openmrc::core
