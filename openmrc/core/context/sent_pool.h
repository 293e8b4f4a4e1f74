// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// Names a packet that was sent: its chunk in the pool, and its place there in the low six bits.
using SentRef = std::uint32_t;
inline constexpr SentRef kNoSent = 0xffffffff;

// What the requestor remembers of a packet until it has arrived.
struct SentPacket {
  Instant sent;                     // its latest transmission
  PoolIndex message = 0;            // that it is part of
  std::uint32_t size = 0;           // nominal
  SentRef before = kNoSent;         // if it was retransmitted and is in flight: its neighbours, see
  SentRef after = kNoSent;          // RetransmissionList
  std::uint16_t order_on_path = 0;  // of transmissions on its path, wrapping
  EvIndex ev;                       // of the latest transmission
  PathIndex path;                   // that the EV names
  EvIndex ev_before;                // of the transmission before that
  std::uint8_t transmissions = 0;   // stays at the top
  Count lost_because = Count::kDataSent;  // once it is lost: which retransmission it will count as
};
static_assert(sizeof(SentPacket) == 32, "two in a cache line");

// The packets of 64 PSNs, from a multiple of 64 on. A packet that is in neither set has arrived or
// was never sent.
struct SentChunk {
  std::uint64_t in_flight = 0;  // sent, nothing known
  std::uint64_t lost = 0;       // to be retransmitted
  std::uint64_t again = 0;      // in flight, and not for the first time
  std::int64_t first_psn = 0;   // unwrapped
  std::array<SentPacket, 64> packets{};
};
using SentPool = Pool<SentChunk, 2>;

inline SentPacket& sent_packet(SentPool& pool, SentRef ref) {
  return pool[ref / 64].packets[ref % 64];
}
inline UnwrappedPsn psn_of(const SentPool& pool, SentRef ref) {
  return UnwrappedPsn(pool[ref / 64].first_psn + ref % 64);
}

}  // namespace openmrc::core
