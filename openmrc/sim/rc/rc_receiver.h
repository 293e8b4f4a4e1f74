// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/workload/program.h"
#include "openmrc/wire/packet.h"

namespace openmrc::sim {

// The receiving end of a RoCEv2 queue pair. It takes packets in order only.
class RcReceiver {
 public:
  // What a packet leads to.
  struct Outcome {
    bool ack = false;         // tell the sender that all before `expected` has arrived
    bool nak = false;         // tell it that `expected` is missing
    bool congestion = false;  // tell it that a packet was marked
    std::optional<MessageTag> delivered{};
  };

  Outcome receive(const wire::RdmaWrite& write, bool marked, Picoseconds now);
  [[nodiscard]] Psn expected() const { return expected_; }

 private:
  Psn expected_{};
  bool asked_again_ = false;       // for `expected_`: it is asked for once
  Picoseconds next_congestion_{};  // not before
};

}  // namespace openmrc::sim
