// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/peer.h"

#include "openmrc/core/context/context.h"

namespace openmrc::core {
namespace {

void count_change(Counters& counters, EvState before, EvState after) {
  if (after == EvState::kSkip) counters.add(Count::kEvsMarked);
  if (after == EvState::kAssumedBad) counters.add(Count::kEvsLost);
  if (before == EvState::kAssumedBad && is_usable(after)) counters.add(Count::kEvsReadmitted);
}

// How long a peer is idle before its record of what is in flight is released.
constexpr Duration kIdleAfter = seconds(1);

}  // namespace

void start_flight(Context& context, PeerIndex index, Peer& peer, Instant now) {
  peer.flight = std::make_unique<PathFlight>();
  for (PathFlight::OnEv& on_ev : peer.flight->on_ev) on_ev.latest = peer.send_order;
  peer.arrived_order = peer.send_order;
  context.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, now + kIdleAfter);
}

bool end_flight_if_idle(Peer& peer, Instant now) {
  if (peer.flight && peer.in_flight <= ByteCount(0) && peer.last_sent + kIdleAfter <= now) {
    peer.flight.reset();
  }
  return !peer.flight;
}

void change_ev(Context& context, PeerIndex index, Peer& peer, EvIndex ev, EvInput input,
               Instant now) {
  const EvState before = peer.paths.apply(ev, input);
  const EvState after = peer.paths.state(ev);
  if (after == before) return;
  count_change(context.counters, before, after);
  const EvEntry& entry = peer.paths.profile().entry(ev);
  if (before == EvState::kAssumedBad) peer.prober.remove(ev);
  if (after == EvState::kAssumedBad) {
    peer.prober.add(ev, now, peer.congestion.base_rtt());
    context.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, peer.prober.next_time());
  }
  if (!is_usable(after)) peer.reverse.forget(ev, entry.plane);
  if (context.tracing()) {
    context.record({.when = now,
                    .kind = TraceKind::kEvState,
                    .ev = ev,
                    .value = static_cast<std::int64_t>(after)});
  }
  // SKIP comes and goes with every mark; watchers are notified of what lasts (API: GOOD,
  // ASSUMED_BAD).
  if (is_usable(before) && is_usable(after)) return;
  context.queue_event(EvChange{.peer = index,
                               .profile = peer.ev_profile.raw(),
                               .index = ev,
                               .ev = entry.ev,
                               .plane = entry.plane,
                               .before = before,
                               .after = after,
                               .cause = input});
}

}  // namespace openmrc::core
