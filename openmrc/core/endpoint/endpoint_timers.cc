// SPDX-License-Identifier: BSD-3-Clause
// What happens because time passes, and what endpoints ask each other (MRC 7.3).
#include <algorithm>

#include "openmrc/core/endpoint/endpoint.h"

namespace openmrc::core {
namespace {

constexpr Duration kLookForIdleEvery = seconds(1);

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
  if (at.peer.is_silent(now) && !at.peer.health.empty()) {
    hurry_probes(qp->connection.peer, at.peer, now);
  }
  wake_waiting(at.peer);
}

void Endpoint::time_out_peer(const TimerQueue::Due& due, Instant now) {
  Peer* peer = peers_.find(due.owner.index);
  if (peer == nullptr || !TimerQueue::accept(peer->timer, due)) return;
  probe_paths(due.owner.index, *peer, now);
  if (peer->port_status.unanswered && peer->port_status.next <= now) {
    repeat_port_status(due.owner.index, *peer, now);
  }
  arm_peer(due.owner.index, *peer);
  if (!end_flight_if_idle(*peer, now)) {
    context_.timers.arm(peer->timer, due.owner, now + kLookForIdleEvery);
  }
}

// MRC 9.3.1: whether paths on which packets were missing work.
void Endpoint::probe_paths(PeerIndex index, Peer& peer, Instant now) {
  // Not before its answer could be here.
  const Duration patience =
      std::max(peer.congestion.base_rtt() * 2, context_.settings.reorder_floor);
  while (const auto probe = peer.health.next_due(now, patience, context_.settings.probe)) {
    const auto ev = peer.paths.probe_ev(probe->path);
    if (!ev) continue;
    if (probe->confirms_failure) change_ev(context_, index, peer, *ev, EvInput::kLost, now);
    probe_ev(index, peer, {*ev, peer.paths.profile().entry(*ev).plane},
             AwaitedRequest::Kind::kBadEv);
  }
}

// We do not hear the peer, or it does not hear us: the paths in use may be the wrong ones.
void Endpoint::hurry_probes(PeerIndex index, Peer& peer, Instant now) {
  peer.health.hurry(now, peer.congestion.base_rtt());
  arm_peer(index, peer);
}

void Endpoint::arm_peer(PeerIndex index, Peer& peer) {
  Instant next = peer.health.next_time();
  if (peer.port_status.unanswered) next = std::min(next, peer.port_status.next);
  if (next != kNever) context_.timers.arm(peer.timer, {TimerOwner::Kind::kPeer, index}, next);
}

// A port of ours or of the peer is back: while it was away its paths were probed ever more rarely.
void Endpoint::on_plane_restored(PeerIndex index, Peer& peer, Plane plane, Instant now) {
  peer.health.start_again(peer.paths.profile().paths(plane), now, peer.congestion.base_rtt());
  arm_peer(index, peer);
}

// MRC 7.4.7: an EV probe takes the path that it asks about.
void Endpoint::probe_ev(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
                        AwaitedRequest::Kind kind) {
  queue_ev_probe(peer, path,
                 {.kind = kind, .ev = path.ev, .peer = index, .peer_serial = peer.serial});
}

void Endpoint::queue_ev_probe(const Peer& peer, const PathSet::Choice& path,
                              const AwaitedRequest& awaited) {
  const wire::EndpointRequestId id = awaited_.add(awaited);
  context_.queue_control({.kind = ControlItem::Kind::kEvProbe,
                          .ev_index = path.ev,
                          .plane = path.plane,
                          .id = id.raw(),
                          .serial = peer.serial,
                          .owner = awaited.peer});
}

bool Endpoint::probe_path(Qpn qpn, Instant now, EvIndex ev, std::uint32_t tag) {
  const QueuePair* qp = find(qpn);
  if (qp == nullptr || qp->connection.remote == Qpn{}) return false;
  const PeerIndex index = qp->connection.peer;
  const Peer& peer = peers_[index];
  if (ev.raw() >= peer.paths.profile().size()) return false;
  queue_ev_probe(peer, {ev, peer.paths.profile().entry(ev).plane},
                 {.kind = AwaitedRequest::Kind::kAsked,
                  .ev = ev,
                  .peer = index,
                  .peer_serial = peer.serial,
                  .qpn = qpn,
                  .tag = tag,
                  .sent = now});
  return true;
}

bool Endpoint::send_request(Instant now, const DirectRequest& request) {
  if (request.plane.raw() >= planes() || direct_.size() >= kEndpointRequestsAwaitedMax)
    return false;
  const wire::EndpointRequestId id =
      awaited_.add({.kind = AwaitedRequest::Kind::kDirect, .tag = request.tag, .sent = now});
  if (!context_.queue_control({.kind = ControlItem::Kind::kDirectRequest, .id = id.raw()})) {
    return false;
  }
  direct_[id.raw()] = request;
  return true;
}

// MRC 7.4.8: a change is a new update, with a number of its own.
void Endpoint::report_port_status(PeerIndex index, Peer& peer, Instant now) {
  peer.port_status.unanswered = true;
  peer.port_status.interval = std::max(peer.congestion.rtt() * 2, microseconds(1));
  peer.port_status.id = awaited_.add(
      {.kind = AwaitedRequest::Kind::kPortStatus, .peer = index, .peer_serial = peer.serial});
  repeat_port_status(index, peer, now);
}

// Until it is answered, at doubling distances. Repeats keep their number, so that an answer to any
// of them counts.
void Endpoint::repeat_port_status(PeerIndex index, Peer& peer, Instant now) {
  Peer::PortStatus& status = peer.port_status;
  awaited_.put({.kind = AwaitedRequest::Kind::kPortStatus,
                .id = status.id,
                .peer = index,
                .peer_serial = peer.serial});
  status.next = now + status.interval;
  status.interval = std::min(status.interval * 2, context_.settings.probe.interval_max);
  context_.queue_control({.kind = ControlItem::Kind::kPortStatus,
                          .id = status.id.raw(),
                          .serial = peer.serial,
                          .owner = index});
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
    report_port_status(index, *peer, now);
    if (up) on_plane_restored(index, *peer, plane, now);
    wake_waiting(*peer);
  }
}

}  // namespace openmrc::core
