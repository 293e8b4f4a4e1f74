// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/rc/dcqcn.h"
#include "openmrc/sim/rc/selective_repeat.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/workload/program.h"
#include "openmrc/wire/packet.h"

namespace openmrc::sim {

// The sending end of a RoCEv2 queue pair. Packets leave in order, as fast as DCQCN lets them; when
// one is lost, all from it on are retransmitted, or with selective repeat it alone.
class RcSender {
 public:
  struct Settings {
    std::uint32_t mtu = 0;
    Picoseconds timeout{};      // for an acknowledgement that was asked for
    std::uint32_t retries = 0;  // so many timeouts in a row do not break the queue pair
    DcqcnSettings dcqcn{};
    Recovery recovery = Recovery::kGoBackN;
    std::uint32_t reordering = 0;  // of selective repeat
  };
  struct Done {
    std::uint32_t message = 0;
    bool failed = false;
  };

  // The last packet of a message asks for an acknowledgement, and so does every so-many-th.
  static constexpr std::int64_t kAckEvery = 16;
  // RoCEv2 has no window: this is far above what any path holds.
  static constexpr std::int64_t kInFlightMax = PsnWindow::kPackets;

  // `settings` outlive it.
  RcSender(const Settings& settings, Qpn destination_qp);

  void post(std::uint64_t bytes, MessageTag tag, std::uint32_t message);

  // Whether there is a packet to send; not before `next_send_at`.
  [[nodiscard]] bool has_packet() const {
    if (repeats_next() && !failed_) return true;
    return next_ < end_ && next_ - acknowledged_ < kInFlightMax && !failed_;
  }
  [[nodiscard]] Picoseconds next_send_at() const { return next_send_at_; }
  wire::RdmaWrite take_packet(Picoseconds now);

  // All packets up to this one have arrived.
  void on_ack(Picoseconds now, Psn psn);
  // All packets before this one have arrived, and a later one.
  void on_nak(Picoseconds now, Psn psn);
  // All packets up to `psn` have arrived, and this later one.
  void on_selective(Picoseconds now, Psn psn, Psn arrived);
  void on_congestion(Picoseconds now) { dcqcn_.on_congestion(now); }

  // When on_timeout is to be called; kNoTime: never.
  [[nodiscard]] Picoseconds deadline() const { return deadline_; }
  void on_timeout();

  // The next message that has arrived, or never will.
  std::optional<Done> take_done();

 private:
  struct Message {
    UnwrappedPsn first{};
    std::int64_t packets = 0;
    std::uint64_t bytes = 0;
    MessageTag tag = 0;
    std::uint32_t message = 0;
  };

  [[nodiscard]] wire::RdmaWrite packet_at(UnwrappedPsn psn) const;
  [[nodiscard]] bool repeats_next() const { return repeat_ != nullptr && repeat_->has_packet(); }
  void acknowledge_before(Picoseconds now, UnwrappedPsn end);
  void go_back();

  const Settings* settings_;
  Dcqcn dcqcn_;
  Qpn destination_qp_;
  std::uint32_t timeouts_ = 0;     // in a row
  std::vector<Message> messages_;  // not yet done, in order
  UnwrappedPsn acknowledged_{};    // what comes before it has arrived
  UnwrappedPsn next_{};            // to be sent next
  UnwrappedPsn sent_{};            // what comes before it was sent at least once
  UnwrappedPsn end_{};             // of what was posted
  UnwrappedPsn asked_{};           // an acknowledgement was asked for of what comes before it
  Picoseconds next_send_at_{};
  Picoseconds deadline_ = kNoTime;
  std::unique_ptr<SelectiveRepeat> repeat_;  // null: go-back-N
  bool failed_ = false;
};

}  // namespace openmrc::sim
