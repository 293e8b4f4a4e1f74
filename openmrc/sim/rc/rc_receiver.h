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
    bool ack = false;         // acknowledge all before `expected`
    bool nak = false;         // report `expected` as missing
    bool congestion = false;  // notify it of a marked packet
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
