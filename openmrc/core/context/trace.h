// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// What a trace records: the decisions of the protocol, one by one.
enum class TraceKind : std::uint8_t {
  kSent,           // a request packet left; value: payload bytes
  kRetransmitted,  // the same, again
  kArrived,        // a SACK reported a packet; value: round trip in ns, or 0 if not known
  kLost,           // a packet is declared lost; value: enumerator of Count that names why
  kAccepted,       // a request packet was placed; value: payload bytes
  kRefused,        // a request packet was answered by a NACK or NAK; value: reason on the wire
  kProbe,          // a reliability probe was sent; value: its id
  kTimeout,        // a retransmission timer ran out; value: retries so far
  kWindow,         // the congestion window after feedback; value: bytes
  kEvState,        // a path changed its state; value: the new one
  kQueuePair,      // a queue pair changed its state; value: the new one
};
inline constexpr std::size_t kTraceKindCount = 11;

constexpr std::string_view name(TraceKind kind) {
  constexpr std::array<std::string_view, kTraceKindCount> kNames{
      "sent",  "retransmitted", "arrived", "lost",     "accepted",  "refused",
      "probe", "timeout",       "window",  "ev-state", "queue-pair"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct TraceEvent {
  Instant when{};
  TraceKind kind{};
  Qpn qpn{};  // local; 0 where it concerns a peer rather than a queue pair
  Psn psn{};
  EvIndex ev{};
  std::int64_t value = 0;
};

// Receives what happens, as it happens. An endpoint without one pays a test of a pointer.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void record(const TraceEvent& event) = 0;
};

}  // namespace openmrc::core
