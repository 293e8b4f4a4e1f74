// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/peer.h"

#include <algorithm>

#include "openmrc/core/context/context.h"

namespace openmrc::core {
namespace {

void count_change(Counters& counters, EvState before, EvState after) {
  if (after == EvState::kSkip) counters.add(Count::kEvsMarked);
  if (after == EvState::kSuspect) counters.add(Count::kEvsSuspected);
  if (after == EvState::kAssumedBad) counters.add(Count::kEvsLost);
  if (before == EvState::kAssumedBad && is_usable(after)) counters.add(Count::kEvsReadmitted);
}

void judge(Peer& peer, PathIndex path, EvInput input, EvState before, EvState after, Instant now) {
  if (after == EvState::kSuspect) return peer.health.suspect(peer.missing_on(path, now));
  if (after == EvState::kAssumedBad) return peer.health.fail(peer.missing_on(path, now));
  if (before != EvState::kSuspect && before != EvState::kAssumedBad) return;
  if (input == EvInput::kLate) return peer.health.acquit(path);
  peer.health.release(path);
}

void report(Context& context, PeerIndex index, const Peer& peer, EvIndex ev, EvInput input,
            EvState before, EvState after, Instant now) {
  if (context.tracing()) {
    context.record({.when = now,
                    .kind = TraceKind::kEvState,
                    .ev = ev,
                    .value = static_cast<std::int64_t>(after)});
  }
  // SKIP comes and goes with every mark (PATH-79).
  if (is_usable(before) && is_usable(after)) return;
  const EvEntry& entry = peer.paths.profile().entry(ev);
  context.queue_event(EvChange{.peer = index,
                               .profile = peer.ev_profile.raw(),
                               .index = ev,
                               .ev = entry.ev,
                               .plane = entry.plane,
                               .before = before,
                               .after = after,
                               .cause = input});
}

// How long a peer is idle before its record of what is in flight is released.
constexpr Duration kIdleAfter = seconds(1);

}  // namespace

void start_flight(Context& context, PeerIndex index, Peer& peer, Instant now) {
  peer.losses.start(peer.paths.profile().path_count(), context.settings.reorder_floor);
  if (peer.congestion.is_learning()) peer.base_rtt_probes.start(now, peer.congestion.base_rtt());
  context.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index},
                     std::min(now + kIdleAfter, peer.base_rtt_probes.next_time()));
}

bool end_flight_if_idle(Peer& peer, Instant now) {
  if (peer.losses.is_running() && peer.in_flight <= ByteCount(0) &&
      peer.last_sent + kIdleAfter <= now) {
    peer.losses.stop();
  }
  return !peer.losses.is_running();
}

void arm_timer(Context& context, PeerIndex index, Peer& peer) {
  Instant next = std::min(
      {peer.health.next_time(), peer.claims.next_time(), peer.base_rtt_probes.next_time()});
  if (peer.port_status.unanswered) next = std::min(next, peer.port_status.next);
  if (next != kNever) context.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, next);
}

void change_ev(Context& context, PeerIndex index, Peer& peer, EvIndex ev, EvInput input,
               Instant now) {
  const EvState before = peer.paths.apply(ev, input, now, peer.congestion.rtt());
  const EvState after = peer.paths.state(ev);
  if (after == before) return;
  const EvProfile& profile = peer.paths.profile();
  const PathIndex path = profile.path_of(ev);
  judge(peer, path, input, before, after, now);
  if (!peer.health.empty()) {
    context.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, peer.health.next_time());
  }
  const bool is_order = input == EvInput::kDeny || input == EvInput::kAllow;
  for (const EvIndex one : profile.evs_of(path)) {
    // The controller's word is about one EV; everything else happens to all that take the path.
    if (one != ev && (is_order || peer.paths.state(one) != after)) continue;
    count_change(context.counters, before, after);
    if (!is_usable(after)) peer.reverse.forget(one, profile.entry(one).plane);
    report(context, index, peer, one, input, before, after, now);
  }
}

}  // namespace openmrc::core
