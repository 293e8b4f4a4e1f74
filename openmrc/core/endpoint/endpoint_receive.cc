// SPDX-License-Identifier: BSD-3-Clause
// What arrives. Everything here may come from any host: it is checked before it is accepted, and
// what is not accepted is counted by reason.
#include <algorithm>
#include <variant>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::core {
namespace {

[[gnu::always_inline]] inline bool comes_from(const wire::Packet& packet,
                                              const wire::Ipv6Address& address) {
  if (const auto* route = std::get_if<wire::Ipv6Route>(&packet.route)) [[likely]] {
    return route->source == address;
  }
  return wire::mapped(std::get<wire::Ipv4Route>(packet.route).source) == address;
}

// Whether the packet came over the version of IP that we speak in its plane. One of the other
// version cannot be answered: we have no address to answer from.
bool speaks_our_ip(const wire::Packet& packet, const wire::Ipv6Address& own) {
  const auto* route = std::get_if<wire::Ipv6Route>(&packet.route);
  const bool is_ipv4 = wire::is_mapped_ipv4(own);
  return route == nullptr ? is_ipv4 : !is_ipv4 && !wire::is_mapped_ipv4(route->source);
}

wire::Ipv6Address source_of(const wire::Packet& packet) {
  if (const auto* route = std::get_if<wire::Ipv6Route>(&packet.route)) return route->source;
  return wire::mapped(std::get<wire::Ipv4Route>(packet.route).source);
}

}  // namespace

// MRC 6.1: the queue pair that a packet is for, if its peer sent it.
[[gnu::always_inline]] inline QueuePair* Endpoint::receiver_of(Qpn qpn, Plane plane,
                                                               const wire::Packet& packet) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) {
    context_.counters.add(Count::kDropNoQueuePair);
    return nullptr;
  }
  if (qp->connection.remote == Qpn{}) {  // before RTR there is no peer
    context_.counters.add(Count::kDropState);
    return nullptr;
  }
  if (!comes_from(packet, peers_[qp->connection.peer].addresses[plane.raw()])) {
    context_.counters.add(Count::kDropSource);
    return nullptr;
  }
  return qp;
}

inline ArrivalInfo Endpoint::arrival_info(Plane plane, const wire::Packet& packet) const {
  return {.ev = wire::ev_of(packet),
          .marked = packet.ecn == wire::Ecn::kCongested,
          .path_unwelcome = unwelcome_planes_.has(plane)};
}

[[gnu::always_inline]] inline void Endpoint::receive(Instant now, Plane plane,
                                                     const wire::Packet& packet,
                                                     const wire::RdmaWrite& write) {
  QueuePair* qp = receiver_of(write.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state == QueuePairState::kError) [[unlikely]] {
    return answer_from_error(*qp, qp->responder.window().expected().nearest(write.psn),
                             wire::ev_of(packet));
  }
  if (write.payload.size() > qp->connection.mtu) return context_.counters.add(Count::kDropOversize);
  const Turn at = turn(*qp, now);
  context_.counters.add_received(plane);
  const auto refusal = qp->responder.on_write(at, write, arrival_info(plane, packet));
  at.peer.last_heard = now;
  if (now >= at.peer.next_refresh) refresh_reverse_paths(now, qp->connection.peer, at.peer);
  if (refusal) [[unlikely]]
    refuse(*qp, *refusal, now);
}

void Endpoint::handle_packet(Instant now, Plane plane, const wire::Packet& packet) {
  OPENMRC_CHECK(plane.raw() < planes(), "no such port");
  if (packet.transport.pkey != context_.settings.pkey) {
    return context_.counters.add(Count::kDropPKey);
  }
  const wire::Body& body = packet.transport.body;
  if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) [[likely]] {
    return receive(now, plane, packet, *write);
  }
  if (const auto* sack = std::get_if<wire::Sack>(&body)) return receive(now, plane, packet, *sack);
  std::visit([&](const auto& of_its_kind) { receive(now, plane, packet, of_its_kind); }, body);
}

// The peer violated the protocol: it is notified, and the queue pair is done (MRC 6.3).
void Endpoint::refuse(QueuePair& qp, const Responder::Refusal& refusal, Instant now) {
  qp.refusal = refusal;
  if (context_.tracing()) {
    context_.record({.when = now,
                     .kind = TraceKind::kRefused,
                     .qpn = qp.connection.local,
                     .psn = refusal.psn.wrapped(),
                     .value = static_cast<std::int64_t>(refusal.syndrome)});
  }
  fail(qp, {.status = WorkStatus::kFlushed, .by_us = true, .psn = refusal.psn}, now);
  context_.queue_control({.kind = ControlItem::Kind::kAcknowledge,
                          .serial = qp.connection.serial,
                          .owner = qp.connection.index});
}

// A queue pair in ERROR says so, or its peer would try until its retries are used up.
void Endpoint::answer_from_error(QueuePair& qp, UnwrappedPsn psn, Ev ev) {
  context_.counters.add(Count::kDropState);
  if (qp.refusal) {
    context_.queue_control({.kind = ControlItem::Kind::kAcknowledge,
                            .serial = qp.connection.serial,
                            .owner = qp.connection.index});
    return;
  }
  context_.queue_control({.kind = ControlItem::Kind::kNack,
                          .reason = wire::NackReason::kUnexpectedEvent,
                          .serial = qp.connection.serial,
                          .owner = qp.connection.index,
                          .ev = ev,
                          .psn = psn});
}

void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::TrimmedWrite& trimmed) {
  QueuePair* qp = receiver_of(trimmed.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (!answers_requests(qp->state)) return context_.counters.add(Count::kDropState);
  peers_[qp->connection.peer].last_heard = now;
  qp->responder.on_trimmed(turn(*qp, now), trimmed, arrival_info(plane, packet));
}

void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::ReliabilityProbe& probe) {
  QueuePair* qp = receiver_of(probe.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (probe.peth.dpdcid != wire::connection_id(qp->connection.local) ||
      probe.peth.spdcid != wire::connection_id(qp->connection.remote)) {
    return context_.counters.add(Count::kDropConnectionId);
  }
  if (qp->state == QueuePairState::kError) {
    return answer_from_error(*qp, qp->responder.cumulative(), wire::ev_of(packet));
  }
  Peer& peer = peers_[qp->connection.peer];
  peer.last_heard = now;
  unsigned copies = 1;
  if (now >= peer.next_search) {
    search_reverse_paths(now, qp->connection.peer, peer);
    copies = kSearchWidth;
  }
  qp->responder.on_probe(turn(*qp, now), probe, arrival_info(plane, packet), copies);
}

// Feedback may have opened the window, for this queue pair and for those that share it.
inline void Endpoint::after_feedback(QueuePair& qp, const std::optional<Fatal>& fatal,
                                     Instant now) {
  Peer& peer = peers_[qp.connection.peer];
  peer.last_heard = now;
  if (fatal) {
    fail(qp, *fatal, now);
  } else {
    make_ready(qp);
  }
  wake_waiting(peer);
}

void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Sack& sack) {
  QueuePair* qp = receiver_of(sack.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend) return context_.counters.add(Count::kDropState);
  if (sack.seth.dpdcid != wire::connection_id(qp->connection.local) ||
      sack.seth.spdcid != wire::connection_id(qp->connection.remote)) {
    return context_.counters.add(Count::kDropConnectionId);
  }
  qp->requestor.on_sack(turn(*qp, now), sack);
  after_feedback(*qp, std::nullopt, now);
}

void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Nack& nack) {
  QueuePair* qp = receiver_of(nack.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend) return context_.counters.add(Count::kDropState);
  if (nack.neth.dpdcid != wire::connection_id(qp->connection.local) ||
      nack.neth.spdcid != wire::connection_id(qp->connection.remote)) {
    return context_.counters.add(Count::kDropConnectionId);
  }
  after_feedback(*qp, qp->requestor.on_nack(turn(*qp, now), nack), now);
}

void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Acknowledge& acknowledge) {
  QueuePair* qp = receiver_of(acknowledge.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend) return context_.counters.add(Count::kDropState);
  after_feedback(*qp, qp->requestor.on_acknowledge(turn(*qp, now), acknowledge), now);
}

// MRC 7.3: requests to the endpoint itself. They carry no connection, so they can do little: a
// probe is answered, and a port status counts only if it comes from a peer we have.
void Endpoint::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::EndpointRequest& request) {
  if (responses_queued_ >= kEndpointResponsesQueuedMax) {
    return context_.counters.add(Count::kDropEndpointFlood);
  }
  if (!speaks_our_ip(packet, context_.settings.addresses[plane.raw()])) {
    return context_.counters.add(Count::kDropUnknownPeer);
  }
  const wire::Ipv6Address source = source_of(packet);
  if (request.erth.op == wire::EndpointOp::kPortStatusUpdate &&
      !apply_port_status(now, source, request)) {
    return;
  }
  // MRC 9.3.1: a plane that peers are to leave must not look well.
  if (request.erth.op == wire::EndpointOp::kEvProbe && unwelcome_planes_.has(plane)) {
    return context_.counters.add(Count::kDropUnwelcomePlane);
  }
  const bool queued = context_.queue_control({.kind = ControlItem::Kind::kEndpointResponse,
                                              .op = request.erth.op,
                                              .plane = plane,
                                              .id = request.id.raw(),
                                              .tx_ticks = request.erth.sent.ticks,
                                              .ev = wire::ev_of(packet),
                                              .address = source});
  if (queued) ++responses_queued_;
}

// Whether a port status is newer than the last. Not if a newer one of the same endpoint has
// overtaken it on its way: each endpoint numbers its requests in order, and none is on its way for
// as long as a second. The numbers of one endpoint have the same upper bits; the bits that count
// wrap among themselves.
bool Endpoint::is_newer(Instant now, Peer& peer, wire::EndpointRequestId id) const {
  constexpr Duration kOnItsWayMax = seconds(1);
  const std::uint16_t counted = context_.settings.request_ids.counted;
  const auto last = std::find_if(
      peer.remote_statuses.begin(), peer.remote_statuses.end(),
      [&](const Peer::RemoteStatus& status) { return ((status.id ^ id.raw()) & ~counted) == 0; });
  if (last == peer.remote_statuses.end()) {
    peer.remote_statuses.push_back({.when = now, .id = id.raw()});
    return true;
  }
  const bool is_older = ((id.raw() - last->id) & counted) > counted / 2;
  if (is_older && now < last->when + kOnItsWayMax) return false;
  *last = {.when = now, .id = id.raw()};
  return true;
}

// MRC 7.4.8. A status that would leave no way to the peer is not accepted: it came over one.
bool Endpoint::apply_port_status(Instant now, const wire::Ipv6Address& source,
                                 const wire::EndpointRequest& request) {
  const PlaneMask ports = planes_of(request.erth.port_status_mask) & PlaneMask::first(planes());
  bool known = false;
  if ((ports & local_ports_).empty()) {
    context_.counters.add(Count::kDropPortStatus);
    return false;
  }
  peers_.visit_address(source, [&](PeerIndex index, Peer& peer) {
    known = true;
    if (!is_newer(now, peer, request.id)) return true;
    for (std::size_t i = 0; i < planes(); ++i) {
      const Plane plane(static_cast<std::uint8_t>(i));
      if (ports.has(plane) && !peer.remote_ports.has(plane)) {
        on_plane_restored(index, peer, plane, now);
      }
    }
    peer.remote_ports = ports;
    peer.last_heard = now;
    wake_waiting(peer);
    return true;
  });
  context_.counters.add(known ? Count::kPortStatusReceived : Count::kDropUnknownPeer);
  return known;
}

void Endpoint::receive(Instant now, Plane arrived_by, const wire::Packet& packet,
                       const wire::EndpointResponse& response) {
  const AwaitedRequest* awaited = awaited_.find(response.id);
  if (awaited != nullptr && awaited->kind == AwaitedRequest::Kind::kDirect) {
    return take_direct_answer(now, arrived_by, *awaited);
  }
  Peer* peer = awaited == nullptr ? nullptr : peers_.find(awaited->peer);
  const bool expected = peer != nullptr && peer->serial == awaited->peer_serial;
  if (!expected || std::find(peer->addresses.begin(), peer->addresses.end(), source_of(packet)) ==
                       peer->addresses.end()) {
    return context_.counters.add(Count::kDropResponseUnknown);
  }
  const AwaitedRequest request = *awaited;
  awaited_.remove(response.id);
  peer->last_heard = now;
  if (request.kind == AwaitedRequest::Kind::kPortStatus) {
    if (peer->port_status.id == response.id) peer->port_status.unanswered = false;
    return;
  }
  context_.counters.add(Count::kEvProbesAnswered);
  if (request.kind == AwaitedRequest::Kind::kAsked) {
    context_.queue_event(ProbeAnswer{.qpn = request.qpn,
                                     .tag = request.tag,
                                     .index = request.ev,
                                     .plane = arrived_by,
                                     .rtt = now - request.sent});
    return;
  }
  const Plane plane = peer->paths.profile().entry(request.ev).plane;
  const EvState state = peer->paths.state(request.ev);
  const bool is_found = state != EvState::kDenied && peer->reverse.is_searching(plane, now);
  if (is_usable(state) || is_found) {
    peer->confirm_reverse(request.ev, plane, now);
  }
  if (request.kind == AwaitedRequest::Kind::kReversePath) {
    if (const auto missing = peer->reverse_probes.answered(request.ev, plane)) {
      change_ev(context_, request.peer, *peer, *missing, EvInput::kMissing, now);
    }
    return;
  }
  // MRC 9.3.1: answered often enough, the path is good again. Once is enough if it is the only one
  // that is known to work.
  ProbeSettings probe = context_.settings.probe;
  if (peer->is_silent(now)) probe.probe_successes = 1;
  const PathIndex path = peer->paths.profile().path_of(request.ev);
  if (peer->health.answered(path, now, peer->congestion.base_rtt(), probe)) {
    change_ev(context_, request.peer, *peer, request.ev, EvInput::kProbeClean, now);
    wake_waiting(*peer);
  }
  arm_peer(request.peer, *peer);
}

// The receiver may answer from any of its ports, so its address is that of another plane at times;
// what both have in common is known to those who asked. The number alone must do.
void Endpoint::take_direct_answer(Instant now, Plane arrived_by, const AwaitedRequest& awaited) {
  const AwaitedRequest request = awaited;
  awaited_.remove(request.id);
  context_.counters.add(Count::kEvProbesAnswered);
  context_.queue_event(
      ProbeAnswer{.tag = request.tag, .plane = arrived_by, .rtt = now - request.sent});
}

// A reliability probe says that the peer hears nothing (MRC 7.4.6): the paths of our control
// packets may have failed, or it has lost what it sent. Its answer takes several paths, and several
// are probed, so that one that works is found in one round trip and not in one for each path. Once
// in a round trip, however many queue pairs ask.
void Endpoint::search_reverse_paths(Instant now, PeerIndex index, Peer& peer) {
  peer.next_search = now + peer.congestion.base_rtt();
  if (!peer.health.empty()) hurry_probes(index, peer, now);
  peer.reverse.doubt(peer.paths);
  for (unsigned i = 0; i < kSearchWidth; ++i) {
    const auto path = peer.reverse.search(peer.paths, ports_to(peer));
    if (path) probe_ev(index, peer, *path, AwaitedRequest::Kind::kReversePath);
  }
}

// MRC 9.3.1: who receives and does not send learns nothing about the way back from SACKs, so it
// probes one path in every round trip in which something arrives.
void Endpoint::refresh_reverse_paths(Instant now, PeerIndex index, Peer& peer) {
  const Duration rtt = peer.congestion.base_rtt();
  peer.next_refresh = now + std::max(rtt, context_.settings.reorder_floor);
  if (peer.last_sent + rtt > now && peer.last_sent != Instant{}) return;
  if (const auto path = peer.reverse_probes.next(peer.paths, ports_to(peer))) {
    probe_ev(index, peer, *path, AwaitedRequest::Kind::kReversePath);
  }
}

}  // namespace openmrc::core
