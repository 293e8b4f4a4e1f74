// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// What the requestor remembers of a packet until it has arrived.
struct SentPacket {
  Instant sent;             // its latest transmission
  PoolIndex message = 0;    // that it is part of
  std::uint32_t order = 0;  // of transmissions to this peer, wrapping; see PathFlight
  std::uint32_t size = 0;   // nominal
  EvIndex ev;
  std::uint8_t order_on_ev = 0;           // the same on its path alone
  std::uint8_t transmissions = 0;         // stays at the top
  Count lost_because = Count::kDataSent;  // once it is lost: which retransmission it will count as
};

// The packets of 64 PSNs, from a multiple of 64 on. A packet that is in neither set has arrived or
// was never sent.
struct SentChunk {
  std::uint64_t in_flight = 0;  // sent, nothing known
  std::uint64_t lost = 0;       // to be retransmitted
  std::array<SentPacket, 64> packets{};
};
using SentPool = Pool<SentChunk, 2>;

}  // namespace openmrc::core
