// SPDX-License-Identifier: BSD-3-Clause
// What happens because time passes, and what endpoints ask each other (MRC 7.3).
#include <algorithm>

#include "openmrc/core/endpoint.h"

namespace openmrc::core {
namespace {

// How long a peer must be idle for its record of what is in flight to be given up.
constexpr Duration kIdleAfter = seconds(1);

}  // namespace

void Endpoint::handle_timeout(Instant now) {
  while (const auto due = context_.timers.pop_due(now)) {
    if (due->owner.kind == TimerOwner::Kind::kQueuePair) {
      time_out_queue_pair(*due, now);
    } else {
      time_out_peer(*due, now);
    }
  }
}

void Endpoint::time_out_queue_pair(const TimerQueue::Due& due, Instant now) {
  QueuePair* qp = queue_pairs_.all[due.owner.index].get();
  if (qp == nullptr || !TimerQueue::accept(qp->requestor.timer(), due)) return;
  if (qp->destroyed || qp->state != QueuePairState::kReadyToSend) return;
  const Turn at = turn(*qp, now);
  const bool reachable = !(ports_to(at.peer) & at.peer.paths.planes()).empty();
  if (const auto fatal = qp->requestor.on_timer(at, reachable)) {
    fail(*qp, *fatal, now);
  } else {
    make_ready(*qp);
  }
  wake_waiting(at.peer);
}

void Endpoint::time_out_peer(const TimerQueue::Due& due, Instant now) {
  Peer* peer = peers_.find(due.owner.index);
  if (peer == nullptr || !TimerQueue::accept(peer->timer, due)) return;
  const Duration rtt = peer->congestion.base_rtt();
  while (const auto ev = peer->prober.next_due(now, rtt, context_.settings.probe)) {
    probe_ev(due.owner.index, {*ev, peer->paths.profile().entry(*ev).plane}, Awaited::Kind::kBadEv);
  }
  if (peer->port_status.unanswered && peer->port_status.next <= now) {
    queue_port_status(due.owner.index, *peer, now);
  }
  if (peer->flight && peer->in_flight <= ByteCount(0) && peer->last_sent + kIdleAfter <= now) {
    peer->flight.reset();
  }
  arm_peer(due.owner.index, *peer);
}

void Endpoint::arm_peer(PeerIndex index, Peer& peer) {
  Instant next = peer.prober.next_time();
  if (peer.port_status.unanswered) next = std::min(next, peer.port_status.next);
  if (peer.flight) next = std::min(next, peer.last_sent + kIdleAfter);
  if (next != kNever) context_.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, next);
}

// A number for the request; what was awaited under it before is given up.
wire::EndpointRequestId Endpoint::await(const Awaited& awaited) {
  const wire::EndpointRequestId id(request_id_++);
  Awaited& slot = awaited_[id.raw() % kEndpointRequestsAwaitedMax];
  slot = awaited;
  slot.id = id;
  return id;
}

// MRC 7.4.7: an EV probe takes the path that it asks about.
void Endpoint::probe_ev(PeerIndex index, const PathSet::Choice& path, Awaited::Kind kind) {
  const wire::EndpointRequestId id = await({.kind = kind, .ev = path.ev, .peer = index});
  context_.queue_control({.kind = ControlItem::Kind::kEvProbe,
                          .ev_index = path.ev,
                          .plane = path.plane,
                          .id = id.raw(),
                          .owner = index});
}

// MRC 7.4.8: repeated until it is answered.
void Endpoint::queue_port_status(PeerIndex index, Peer& peer, Instant now) {
  peer.port_status.unanswered = true;
  peer.port_status.id = await({.kind = Awaited::Kind::kPortStatus, .peer = index});
  peer.port_status.next = now + std::max(peer.congestion.rtt() * 2, microseconds(1));
  context_.queue_control(
      {.kind = ControlItem::Kind::kPortStatus, .id = peer.port_status.id.raw(), .owner = index});
  arm_peer(index, peer);
}

void Endpoint::set_port(Instant now, Plane plane, bool up) {
  OPENMRC_CHECK(plane.raw() < planes(), "no such port");
  if (local_ports_.has(plane) == up) return;
  if (up) {
    local_ports_.add(plane);
  } else {
    local_ports_.remove(plane);
  }
  for (PeerIndex index = 0; index < peers_.size(); ++index) {
    Peer* peer = peers_.find(index);
    if (peer == nullptr) continue;
    queue_port_status(index, *peer, now);
    wake_waiting(*peer);
  }
}

}  // namespace openmrc::core
