// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/check.h"

namespace openmrc::core {

// How much each peer has of something that all share and that has a limit. Nobody may have more
// than is left, so one peer has half of it at most, two have a third each, and there is always some
// for the next. Peers share a fixed number of counts: they need no memory here, and leave nothing
// behind when they go.
class PeerShares {
 public:
  // The count of peer number `peer`, and that of everybody who is no peer.
  using Share = std::uint16_t;
  static constexpr Share kPeerCounts = 256;
  static constexpr Share kNoPeer = kPeerCounts;
  static constexpr Share of(std::uint32_t peer) { return static_cast<Share>(peer % kPeerCounts); }

  // Whether one more may be taken where there is room for `room`.
  [[nodiscard]] bool may_take(Share share, std::size_t room) const { return taken_[share] < room; }
  void take(Share share) { ++taken_[share]; }
  void give_back(Share share) {
    OPENMRC_DCHECK(taken_[share] > 0, "more is given back than was taken");
    --taken_[share];
  }

 private:
  std::array<std::uint32_t, kPeerCounts + 1> taken_{};
};

}  // namespace openmrc::core
