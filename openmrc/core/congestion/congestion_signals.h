// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"

namespace openmrc::core {

// What congestion control hears (MRC 8, UET 3.6.12). Sizes are nominal: UDP length + 40.

// A SACK came. The peer says most of this, so none of it can be relied on.
struct SackSignal {
  Instant now;
  ByteCount newly_received;  // what the responder counts beyond what it counted before
  bool congested = false;    // the packet that triggered the SACK was ECN-marked
  // Of that packet; only if it is clear which of its transmissions is meant.
  std::optional<Duration> rtt = std::nullopt;
  ByteCount in_flight = {};           // to this destination, after this SACK; may be negative
  std::uint8_t receiver_penalty = 0;  // 0: none, 127: the most; how busy the responder is
  bool restore_window = false;        // the responder has recovered: undo the penalty
};

// A switch trimmed a packet.
struct TrimSignal {
  Instant now;
  ByteCount size;
  ByteCount in_flight;    // without that packet
  bool last_hop = false;  // the one before the receiver: others send to it too
};

// A packet is taken for lost.
struct LossSignal {
  Instant now;
  ByteCount size;
  ByteCount in_flight;  // without that packet
};

}  // namespace openmrc::core
