// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/sent_pool.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/context/trace.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/wire/header/erth.h"
#include "openmrc/wire/header/neth.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// A control packet that is to be sent. What can be filled in when it leaves (the bitmap of a SACK,
// the count of an acknowledgement) is filled in then, and is as new as can be.
struct ControlItem {
  enum class Kind : std::uint8_t {
    kSack,
    kNack,
    kAcknowledge,
    kReliabilityProbe,
    kEvProbe,
    kPortStatus,
    kDirectRequest,
    kEndpointResponse,
  };
  Kind kind{};
  wire::PathMark mark{};        // SACK
  wire::NackReason reason{};    // NACK
  wire::EndpointOp op{};        // endpoint response
  bool retransmission = false;  // SACK: the packet that triggered it was one
  bool answers_probe = false;   // SACK
  EvIndex ev_index{};           // EV probe: the path to take
  Plane plane{};                // endpoint packets: the port to leave by
  std::uint16_t id = 0;         // of a probe or an endpoint request
  std::uint16_t tx_ticks = 0;   // timestamp to give back
  std::uint32_t serial = 0;     // of the connection or peer that it is about, see Endpoint
  std::uint32_t owner = 0;      // index of the queue pair or the peer
  Ev ev{};                      // that the packet which is answered took
  UnwrappedPsn psn{};           // that triggered a SACK or NACK
  wire::Ipv6Address address{};  // endpoint response: whom to answer
};

// What the parts of one endpoint share.
struct Context {
  Context(const EndpointSettings& from, TraceSink* sink)
      : settings(from),
        memory(from.limits.memory_regions),
        sent(from.limits.packets_in_flight / 64),
        messages(from.limits.sends_outstanding),
        receives(from.limits.receives_outstanding),
        early(from.limits.early_immediates),
        trace(sink) {}

  // Returns whether there was room.
  bool queue_control(const ControlItem& item) {
    if (control.size() >= kControlQueueMax) {
      counters.add(Count::kDropControlFull);
      return false;
    }
    control.push(item);
    return true;
  }
  void queue_event(const Event& event) {
    if (events.size() >= kEventsMax) return counters.add(Count::kEventsDropped);
    events.push(event);
  }
  // Asked before an event is put together, so that a trace costs nothing when it is off.
  [[nodiscard]] bool tracing() const { return trace != nullptr; }
  void record(const TraceEvent& event) const { trace->record(event); }

  EndpointSettings settings;
  MemoryRegions memory;
  SentPool sent;
  Pool<SendMessage> messages;
  Pool<PostedReceive> receives;
  Pool<EarlyImmediate> early;
  GrowingRing<ControlItem> control;
  GrowingRing<Event> events;
  GrowingRing<Completion> completions;
  TimerQueue timers;
  Counters counters;
  TraceSink* trace;
};

// So many ticks of a timestamp (MRC 6.2).
constexpr Duration ticks_long(std::uint16_t ticks) { return nanoseconds(std::int64_t{ticks} << 7); }
// 16 bits of the clock, in steps of 128 ns (MRC 6.2): what a timestamp holds.
constexpr std::uint16_t ticks_at(Instant when) {
  return static_cast<std::uint16_t>(static_cast<std::uint64_t>(when.ns()) >> 7);
}

}  // namespace openmrc::core
