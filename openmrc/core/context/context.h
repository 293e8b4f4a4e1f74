// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/fair_share.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/peer_shares.h"
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
  };
  Kind kind{};
  wire::PathMark mark{};                          // SACK
  wire::NackReason reason{};                      // NACK
  bool retransmission = false;                    // SACK: the packet that triggered it was one
  bool answers_probe = false;                     // SACK
  EvIndex ev_index{};                             // EV probe: the path to take
  Plane plane{};                                  // endpoint packets: the port to leave by
  std::uint16_t id = 0;                           // of a probe or an endpoint request
  std::uint16_t tx_ticks = 0;                     // timestamp to give back
  PeerShares::Share share = PeerShares::kNoPeer;  // whose part of the queue it takes
  bool is_counted = false;                        // as that
  std::uint32_t serial = 0;  // of the connection or peer that it is about, see Endpoint
  std::uint32_t owner = 0;   // index of the queue pair or the peer
  Ev ev{};                   // that the packet which is answered took
  UnwrappedPsn psn{};        // that triggered a SACK or NACK
};

// What the parts of one endpoint share.
struct Context {
  Context(const EndpointSettings& from, TraceSink* sink)
      : settings(from),
        memory(from.limits.memory_regions, from.secret),
        sent(from.limits.packets_in_flight / 64),
        messages(from.limits.sends_outstanding),
        receives(from.limits.receives_outstanding),
        early(from.limits.early_immediates),
        held(from.limits.held_packets),
        trace(sink) {
    timers.reserve(from.queues_reserved);
    control.reserve(from.queues_reserved);
    events.reserve(from.queues_reserved);
    completions.reserve(from.queues_reserved);
  }

  // Returns whether there was room.
  bool queue_control(const ControlItem& item) {
    if (control.size() >= kControlUnshared) [[unlikely]]
      return queue_shared_control(item);
    control.push(item);
    return true;
  }
  // What was taken may be put back.
  void put_back_control(const ControlItem& item) {
    if (item.is_counted) control_shares.take(item.share);
    control.push(item);
  }
  ControlItem take_control() {
    const ControlItem item = control.pop();
    if (item.is_counted) [[unlikely]]
      control_shares.give_back(item.share);
    return item;
  }
  // Where many wait, nobody has more places than are left.
  [[gnu::noinline]] bool queue_shared_control(ControlItem item) {
    const std::size_t room = kControlQueueMax - control.size();
    if (!control_shares.may_take(item.share, room)) {
      counters.add(room == 0 ? Count::kDropControlFull : Count::kDropControlShare);
      return false;
    }
    item.is_counted = true;
    put_back_control(item);
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
  PeerShares early_shares;
  Pool<HeldPacket> held;
  PeerShares held_shares;
  GrowingRing<ControlItem> control;
  PeerShares control_shares;
  GrowingRing<Event> events;
  GrowingRing<Completion> completions;
  TimerQueue timers;
  FairShare fair_share;
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
