// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::core {

// What one peer has sent of late, as FairShare counts it.
struct ReceivedShare {
  std::uint32_t epoch = 0;
  std::uint32_t bytes = 0;   // received in that epoch
  std::uint8_t penalty = 0;  // for what it sent in the epoch before
};

// The receiver penalty that each peer has earned (MRC 8, UET 3.6.13.2). When packets are trimmed at
// the last hop, this host's own link is too narrow for all that send to it. Only the receiver knows
// how many those are and what each of them has: who has more than an equal share is to send less.
// Where shares are too small to be compared, nobody's window is to grow while much is trimmed.
//
// Counted in epochs; what one of them shows holds during the next (CC-39).
class FairShare {
 public:
  // `length`: of an epoch, if one begins now.
  void on_received(ReceivedShare& share, std::uint32_t bytes, Instant now, Duration length) {
    if (now >= end_) begin_epoch(now, length);
    if (share.epoch != epoch_) begin_share(share);
    share.bytes += bytes;
    received_ += bytes;
  }
  void on_trimmed_at_last_hop(std::uint32_t bytes) { trimmed_ += bytes; }

  // Long enough for every sender's SACKs to show what it sends, short enough to take effect before
  // windows have changed much.
  static constexpr std::int64_t kEpochInRtts = 4;
  // Peers are counted when they are sent SACKs, 16 KiB at a time by default: a difference of two is
  // none.
  static constexpr std::uint32_t kSlack = 32 * 1024;
  static constexpr std::uint8_t kPenaltyMax = 64;  // halves a window within a round trip

 private:
  void begin_epoch(Instant now, Duration length);
  void begin_share(ReceivedShare& share);
  [[nodiscard]] std::uint8_t penalty_for(std::uint64_t bytes) const;

  Instant end_{};
  std::uint64_t received_ = 0;  // in this epoch, from all
  std::uint64_t trimmed_ = 0;   // in this epoch, at the last hop
  std::uint32_t senders_ = 0;   // that sent something in this epoch
  std::uint32_t epoch_ = 1;
  // Of the epoch before:
  std::uint64_t equal_share_ = 0;  // 0: the link was wide enough
  bool much_trimmed_ = false;
};

}  // namespace openmrc::core
