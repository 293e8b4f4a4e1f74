// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/path_probes.h"

#include <algorithm>

namespace openmrc::core {

std::shared_ptr<AwaitedProbes> PathProbes::probes_to(
    const std::vector<wire::Ipv6Address>& addresses) {
  std::shared_ptr<AwaitedProbes> probes;
  state_.peers.visit_address(addresses[0], [&](PeerIndex, const Peer& peer) {
    if (peer.addresses == addresses) probes = peer.probes;
    return probes == nullptr;
  });
  if (probes != nullptr) return probes;
  return std::make_shared<AwaitedProbes>(first_id_, state_.context.settings.request_ids);
}

bool PathProbes::take_answer(Instant now, const wire::Ipv6Address& source,
                             wire::EndpointRequestId id) {
  AwaitedProbe probe;
  state_.peers.visit_address(source, [&](PeerIndex, const Peer& of_the_host) {
    const AwaitedProbe* found = of_the_host.probes->find(id);
    if (found == nullptr) return true;
    probe = *found;
    of_the_host.probes->remove(id);
    return false;
  });
  if (probe.kind == AwaitedProbe::Kind::kNothing) return false;
  Peer* peer = state_.peers.find(probe.peer);
  if (peer == nullptr || peer->serial != probe.peer_serial) return false;
  peer->last_heard = now;
  state_.context.counters.add(Count::kEvProbesAnswered);
  take_path_answer(now, probe, *peer);
  return true;
}

// What the answer to a probe of ours says about its path.
void PathProbes::take_path_answer(Instant now, const AwaitedProbe& awaited, Peer& peer) {
  if (awaited.kind == AwaitedProbe::Kind::kBaseRtt) return take_base_rtt(now, awaited, peer);
  const Plane plane = peer.paths.profile().entry(awaited.ev).plane;
  if (awaited.kind == AwaitedProbe::Kind::kPort) {
    return take_port_answer(now, awaited.peer, peer, plane);
  }
  const EvState state = peer.paths.state(awaited.ev);
  const bool is_found = state != EvState::kDenied && peer.reverse.is_searching(plane, now);
  if (is_usable(state) || is_found) {
    peer.confirm_reverse(awaited.ev, plane, now);
  }
  if (awaited.kind == AwaitedProbe::Kind::kReversePath) {
    if (const auto missing = peer.reverse_probes.answered(awaited.ev, plane)) {
      change_ev(state_.context, awaited.peer, peer, *missing, EvInput::kMissing, now);
    }
    return;
  }
  // MRC 9.3.1: answered often enough, the path is good again. Once is enough if it is the only one
  // that is known to work (PATH-51).
  ProbeSettings probe = state_.context.settings.probe;
  if (peer.is_silent(now)) probe.probe_successes = 1;
  const PathIndex path = peer.paths.profile().path_of(awaited.ev);
  if (peer.health.answered(path, now, peer.congestion.base_rtt(), probe)) {
    change_ev(state_.context, awaited.peer, peer, awaited.ev, EvInput::kProbeClean, now);
    sending_.wake(peer);
  }
  arm_timer(state_.context, awaited.peer, peer);
}

void PathProbes::take_base_rtt(Instant now, const AwaitedProbe& awaited, Peer& peer) {
  const auto rtt = peer.base_rtt_probes.answered(awaited.id, now);
  if (!rtt) return;
  peer.congestion.on_base_rtt(*rtt, peer.paths.profile().planes());
  probe_base_rtt(awaited.peer, peer, now);
  arm_timer(state_.context, awaited.peer, peer);
}

// MRC 7.4.8 (PATH-64): the port answers, so it is up, whoever said that it is not.
void PathProbes::take_port_answer(Instant now, PeerIndex index, Peer& peer, Plane plane) {
  if (!peer.claims.refute(plane, now)) return;
  state_.context.counters.add(Count::kPortStatusRefuted);
  if (peer.remote_ports.has(plane)) return;
  peer.remote_ports.add(plane);
  start_again(index, peer, plane, now);
  sending_.wake(peer);
}

void PathProbes::search_reverse_paths(Instant now, PeerIndex index, Peer& peer) {
  peer.next_search = after_round_trip(now, index, peer);
  if (!peer.health.empty()) hurry(index, peer, now);
  peer.reverse.doubt(peer.paths);
  for (unsigned i = 0; i < kSearchWidth; ++i) {
    const auto path = peer.reverse.search(peer.paths, state_.ports_to(peer));
    if (path) probe_ev(index, peer, *path, AwaitedProbe::Kind::kReversePath);
  }
}

// CC-56: probes for each round trip would fill the way back if it is guessed too short. Who
// receives learns it, and until then probes ever more rarely.
Instant PathProbes::after_round_trip(Instant now, PeerIndex index, Peer& peer) {
  const Duration rtt = peer.congestion.base_rtt();
  if (!peer.congestion.is_learning()) return now + rtt;
  peer.base_rtt_probes.start(now, rtt);
  arm_timer(state_.context, index, peer);
  return std::max(now + rtt, peer.base_rtt_probes.next_time());
}

void PathProbes::refresh_reverse_paths(Instant now, PeerIndex index, Peer& peer) {
  peer.next_refresh =
      std::max(after_round_trip(now, index, peer), now + state_.context.settings.reorder_floor);
  const bool sends =
      peer.last_sent != Instant{} && peer.last_sent + peer.congestion.base_rtt() > now;
  if (sends) return;
  if (const auto path = peer.reverse_probes.next(peer.paths, state_.ports_to(peer))) {
    probe_ev(index, peer, *path, AwaitedProbe::Kind::kReversePath);
  }
}

// MRC 9.3.1: whether paths on which packets were missing work.
void PathProbes::probe_paths(PeerIndex index, Peer& peer, Instant now) {
  // Not before its answer could be here.
  const Duration patience =
      std::max(peer.congestion.base_rtt() * 2, state_.context.settings.reorder_floor);
  while (const auto probe = peer.health.next_due(now, patience, state_.context.settings.probe)) {
    const auto ev = peer.paths.probe_ev(probe->path);
    if (!ev) continue;
    if (probe->confirms_failure) change_ev(state_.context, index, peer, *ev, EvInput::kLost, now);
    probe_ev(index, peer, {*ev, peer.paths.profile().entry(*ev).plane}, AwaitedProbe::Kind::kBadEv);
  }
}

// MRC 7.4.8: whether ports are down that the peer says are.
void PathProbes::probe_ports(PeerIndex index, Peer& peer, Instant now) {
  const PortClaims::Due due = peer.claims.due(now, state_.context.settings.probe.interval_max);
  peer.remote_ports = peer.remote_ports.without(due.confirmed);
  for (std::size_t i = 0; i < state_.planes(); ++i) {
    const Plane plane(static_cast<std::uint8_t>(i));
    if (!due.probe.has(plane)) continue;
    const PlaneRange evs = peer.paths.profile().range(plane);
    const EvIndex ev(static_cast<std::uint8_t>(evs.first + peer.claims.turn() % evs.count));
    probe_ev(index, peer, {ev, plane}, AwaitedProbe::Kind::kPort);
  }
  arm_timer(state_.context, index, peer);
}

// UET 3.6.13 (CC-26, CC-56): how long the way is, where nobody knows, for who sends and for who
// only receives. Control packets pass the queues of data. A reliability probe would do, but it says
// that nothing is heard.
void PathProbes::probe_base_rtt(PeerIndex index, Peer& peer, Instant now) {
  BaseRttProbes& probes = peer.base_rtt_probes;
  if (now < probes.next_time()) return;
  const Duration interval_max = state_.context.settings.probe.interval_max;
  const bool sends = peer.losses.is_running();
  const bool is_idle = !sends && peer.last_heard + interval_max < now;
  if (!peer.congestion.is_learning() || is_idle) return probes.stop();
  const bool is_first_awaited = sends && peer.last_feedback == Instant{};
  // Who only receives has nothing but answers to learn from.
  if (probes.is_complete() && !is_first_awaited && (sends || probes.has_answer())) {
    probes.stop();
    peer.congestion.end_learning();
    return sending_.wake(peer);  // the window may have grown
  }
  probes.postpone(now, interval_max);
  const auto path =
      is_first_awaited ? std::nullopt : peer.paths.choose_for_probe(state_.ports_to(peer));
  if (!path) return;
  const auto id = peer.probes->add({.kind = AwaitedProbe::Kind::kBaseRtt,
                                    .ev = path->ev,
                                    .peer = index,
                                    .peer_serial = peer.serial});
  if (queue(index, peer, *path, id)) probes.sent(id, now);
}

void PathProbes::hurry(PeerIndex index, Peer& peer, Instant now) {
  peer.health.hurry(now, peer.congestion.base_rtt());
  arm_timer(state_.context, index, peer);
}

// MRC 7.4.7 (PATH-45): an EV probe takes the path that it asks about.
void PathProbes::probe_ev(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
                          AwaitedProbe::Kind kind) {
  const bool asks_for_port = kind == AwaitedProbe::Kind::kPort;
  if (!asks_for_port && !peer.remote_ports.has(path.plane)) return;
  queue(index, peer, path,
        peer.probes->add({.kind = kind, .ev = path.ev, .peer = index, .peer_serial = peer.serial}));
}

bool PathProbes::queue(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
                       wire::EndpointRequestId id) {
  return state_.context.queue_control({.kind = ControlItem::Kind::kEvProbe,
                                       .ev_index = path.ev,
                                       .plane = path.plane,
                                       .id = id.raw(),
                                       .share = PeerShares::of(index),
                                       .serial = peer.serial,
                                       .owner = index});
}

void PathProbes::start_again(PeerIndex index, Peer& peer, Plane plane, Instant now) {
  peer.health.start_again(peer.paths.profile().paths(plane), now, peer.congestion.base_rtt());
  arm_timer(state_.context, index, peer);
}

void PathProbes::time_out(PeerIndex index, Peer& peer, Instant now) {
  probe_paths(index, peer, now);
  probe_ports(index, peer, now);
  probe_base_rtt(index, peer, now);
  arm_timer(state_.context, index, peer);
}

}  // namespace openmrc::core
