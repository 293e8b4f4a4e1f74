// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/sim/rc/psn_window.h"

namespace openmrc::sim {

// What a sender knows of single packets, and which of them it has to retransmit. A packet is lost
// if one has arrived that is more than `reordering` behind it. It is retransmitted once; if that is
// lost too, a timeout finds out (as in IRN, Mittal et al., SIGCOMM 2018).
class SelectiveRepeat {
 public:
  explicit SelectiveRepeat(std::uint32_t reordering) : reordering_(reordering) {}

  // A packet has arrived ahead of others.
  void on_arrived(UnwrappedPsn psn) {
    arrived_.set(psn.raw());
    end_ = std::max(end_, psn - reordering_);
    skip_arrived();
  }
  // All packets before `psn` have arrived.
  void on_acknowledged(UnwrappedPsn from, UnwrappedPsn psn) {
    for (UnwrappedPsn i = from; i < psn; i = i + 1) arrived_.clear(i.raw());
    next_ = std::max(next_, psn);
    skip_arrived();
  }
  // Whatever has not arrived of what was sent is lost.
  void on_timeout(UnwrappedPsn acknowledged, UnwrappedPsn sent) {
    next_ = acknowledged;
    end_ = sent;
    skip_arrived();
  }

  [[nodiscard]] bool has_packet() const { return next_ < end_; }
  UnwrappedPsn take_packet() {
    const UnwrappedPsn lost = next_;
    next_ = next_ + 1;
    skip_arrived();
    return lost;
  }

 private:
  void skip_arrived() {
    while (next_ < end_ && arrived_.has(next_.raw())) next_ = next_ + 1;
  }

  std::int64_t reordering_;
  UnwrappedPsn next_{};  // to be looked at next; what is lost before it was retransmitted
  UnwrappedPsn end_{};   // what has not arrived before it is lost
  PsnWindow arrived_;
};

}  // namespace openmrc::sim
