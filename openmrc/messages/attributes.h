// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/messages/limits.h"

namespace openmrc::messages {

using SharedQueueId = std::uint32_t;

struct QueueOptions {
  std::size_t requests = 128;  // that may be outstanding
  std::size_t segments = 1;    // of each
};

struct QueuePairOptions {
  QueueOptions sends{};
  QueueOptions receives{};  // not used with a shared queue
  std::uint32_t copied_max = 256;
  std::optional<SharedQueueId> shared_queue{};
};

// What the peer may do (INIT); for WRITE it is core::InitAttributes that says so.
struct Access {
  bool remote_read = true;
  bool remote_atomic = true;
};

// InfiniBand's code of a receiver-not-ready timer.
using RnrTimer = std::uint8_t;
inline constexpr RnrTimer kRnrTimerMax = 31;
inline constexpr std::uint8_t kRnrRetryForEver = 7;

// From RTR on.
struct ResponderAttributes {
  std::uint8_t depth = kDepthMax;  // READs and atomic operations of the peer at once; 0: none
  RnrTimer rnr_timer = 12;         // how long a peer shall wait that finds no receive
  // How the peer is answered before this end itself is ready to send; the peer says with which PSN
  // (MSG-27).
  core::ReadyToSendAttributes answers{};
};

// From RTS on.
struct RequesterAttributes {
  std::uint8_t depth = kDepthMax;
  std::uint8_t rnr_retry = kRnrRetryForEver;
};

constexpr Duration duration_of(RnrTimer timer) {
  // In steps of 10 us (InfiniBand 9.7.5.2.8).
  constexpr std::array<std::int64_t, kRnrTimerMax + 1> kSteps{
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return microseconds(10 * kSteps[timer & kRnrTimerMax]);
}

}  // namespace openmrc::messages
