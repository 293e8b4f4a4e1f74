// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/rc/early_packets.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/workload/program.h"
#include "openmrc/wire/packet.h"

namespace openmrc::sim {

// The receiving end of a RoCEv2 queue pair. With go-back-N it takes packets in order only.
class RcReceiver {
 public:
  // What a packet leads to.
  struct Outcome {
    bool ack = false;         // acknowledge all before `expected`
    bool nak = false;         // report `expected` as missing
    bool selective = false;   // report this packet as arrived
    bool congestion = false;  // notify it of a marked packet
    std::optional<MessageTag> delivered{};
    bool closes_gap = false;  // there may be more to deliver
  };

  explicit RcReceiver(Recovery recovery = Recovery::kGoBackN) {
    if (recovery == Recovery::kSelective) early_ = std::make_unique<EarlyPackets>();
  }

  Outcome receive(const wire::RdmaWrite& write, bool marked, Picoseconds now);
  // When a gap was closed: the next message that is complete because what it waited for has come.
  std::optional<MessageTag> take_delivered();
  [[nodiscard]] Psn expected() const { return expected_; }

 private:
  Psn expected_{};
  bool asked_again_ = false;             // for `expected_`: it is asked for once
  Picoseconds next_congestion_{};        // not before
  std::unique_ptr<EarlyPackets> early_;  // null: go-back-N
  Psn delivered_{};                      // messages that end before it were delivered
};

}  // namespace openmrc::sim
