// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/endpoint_requests.h"

#include <algorithm>
#include <variant>

namespace openmrc::core {
namespace {

// Whether the packet came over the version of IP that we speak in its plane. One of the other
// version cannot be answered: we have no address to answer from.
bool speaks_our_ip(const wire::Packet& packet, const wire::Ipv6Address& own) {
  const auto* route = std::get_if<wire::Ipv6Route>(&packet.route);
  const bool is_ipv4 = wire::is_mapped_ipv4(own);
  return route == nullptr ? is_ipv4 : !is_ipv4 && !wire::is_mapped_ipv4(route->source);
}

}  // namespace

// MRC 7.3: requests to the endpoint itself. They carry no connection, so they can do little: a
// probe is answered, and a port status counts only if it comes from a peer we have (PATH-46).
void EndpointRequests::receive(Instant now, Plane plane, const wire::Packet& packet,
                               const wire::EndpointRequest& request) {
  if (!speaks_our_ip(packet, state_.context.settings.addresses[plane.raw()])) {
    return state_.context.counters.add(Count::kDropUnknownPeer);
  }
  const wire::Ipv6Address source = wire::source_address(packet);
  if (!responses_.admits(source, now)) {
    return state_.context.counters.add(Count::kDropEndpointFlood);
  }
  if (request.erth.op == wire::EndpointOp::kPortStatusUpdate &&
      !apply_port_status(now, source, request)) {
    return;
  }
  // MRC 9.3.1 (PATH-66, SEC-20): a plane that peers are to leave must not look well.
  if (request.erth.op == wire::EndpointOp::kEvProbe && !state_.local_ports.has(plane)) {
    return state_.context.counters.add(Count::kDropUnwelcomePlane);
  }
  responses_.queue(plane, source, wire::ev_of(packet), request);
}

// Whether a port status is newer than the last. Not if a newer one of the same endpoint has
// overtaken it on its way: each endpoint numbers its requests in order, and none is on its way for
// as long as a second. The numbers of one endpoint have the same upper bits; the bits that count
// wrap among themselves (PATH-62, PATH-63).
bool EndpointRequests::is_newer(Instant now, Peer& peer, wire::EndpointRequestId id) const {
  constexpr Duration kOnItsWayMax = seconds(1);
  const RequestIds& ids = state_.context.settings.request_ids;
  const auto last = std::find_if(peer.remote_statuses.begin(), peer.remote_statuses.end(),
                                 [&](const Peer::RemoteStatus& status) {
                                   return ((status.id ^ id.raw()) & ~ids.counted) == 0;
                                 });
  if (last == peer.remote_statuses.end()) {
    peer.remote_statuses.push_back({.when = now, .id = id.raw()});
    return true;
  }
  const bool is_older = ((id.raw() - last->id) & ids.in_half()) > ids.in_half() / 2;
  if (is_older && now < last->when + kOnItsWayMax) return false;
  *last = {.when = now, .id = id.raw()};
  return true;
}

// MRC 7.4.8. A status that would leave no way to the peer is not accepted: it came over one.
// PATH-60, PATH-61
bool EndpointRequests::apply_port_status(Instant now, const wire::Ipv6Address& source,
                                         const wire::EndpointRequest& request) {
  const PlaneMask ports =
      planes_of(request.erth.port_status_mask) & PlaneMask::first(state_.planes());
  bool known = false;
  if ((ports & state_.local_ports).empty()) {
    state_.context.counters.add(Count::kDropPortStatus);
    return false;
  }
  state_.peers.visit_address(source, [&](PeerIndex index, Peer& peer) {
    known = true;
    if (!is_newer(now, peer, request.id)) return true;
    for (std::size_t i = 0; i < state_.planes(); ++i) {
      const Plane plane(static_cast<std::uint8_t>(i));
      if (ports.has(plane) && !peer.remote_ports.has(plane)) {
        probes_.start_again(index, peer, plane, now);
      }
    }
    peer.claims.withdraw(ports);
    const PlaneMask down = PlaneMask::first(state_.planes()).without(ports);
    const PlaneMask left = peer.claims.add(down, now, peer.congestion.base_rtt());
    peer.remote_ports = ports | (peer.remote_ports & down).without(left);
    probes_.probe_ports(index, peer, now);
    peer.last_heard = now;
    sending_.wake(peer);
    return true;
  });
  state_.context.counters.add(known ? Count::kPortStatusReceived : Count::kDropUnknownPeer);
  return known;
}

// Whatever is answered that was not asked, or by somebody who was not, changes nothing (SEC-25).
void EndpointRequests::receive(Instant now, Plane arrived_by, const wire::Packet& packet,
                               const wire::EndpointResponse& response) {
  const wire::Ipv6Address source = wire::source_address(packet);
  const bool known = probes_.take_answer(now, source, response.id) ||
                     take_status_answer(now, source, response.id) ||
                     take_asked_answer(now, arrived_by, source, response.id);
  if (!known) state_.context.counters.add(Count::kDropResponseUnknown);
}

// MRC 7.4.8: a host that has answered knows, whatever destinations there are at its addresses.
bool EndpointRequests::take_status_answer(Instant now, const wire::Ipv6Address& source,
                                          wire::EndpointRequestId id) {
  bool known = false;
  state_.peers.visit_address(source, [&](PeerIndex, Peer& peer) {
    if (!peer.port_status.unanswered || peer.port_status.id != id) return true;
    peer.port_status.unanswered = false;
    peer.last_heard = now;
    known = true;
    return true;
  });
  return known;
}

// One by a path of the owner's choice may be answered from any port of the other host, so from an
// address of another plane at times; what both have in common is known to those who asked. The
// number alone must do.
bool EndpointRequests::take_asked_answer(Instant now, Plane arrived_by,
                                         const wire::Ipv6Address& source,
                                         wire::EndpointRequestId id) {
  const AskedRequest* found = asked_.find(id);
  if (found == nullptr || found->unsent) return false;
  ProbeAnswer answer{.tag = found->tag, .plane = arrived_by, .rtt = now - found->sent};
  if (found->path) {
    Peer* peer = state_.peers.find(found->path->peer);
    if (peer == nullptr || peer->serial != found->path->peer_serial) return false;
    if (std::ranges::find(peer->addresses, source) == peer->addresses.end()) return false;
    peer->last_heard = now;
    answer.qpn = found->path->qpn;
    answer.index = found->path->ev;
  }
  asked_.remove(id);
  state_.context.counters.add(Count::kEvProbesAnswered);
  state_.context.queue_event(answer);
  return true;
}

bool EndpointRequests::probe_path(Instant now, const Connection& connection, EvIndex ev,
                                  std::uint32_t tag) {
  const Peer& peer = state_.peers[connection.peer];
  const Plane plane = peer.paths.profile().entry(ev).plane;
  if (!peer.remote_ports.has(plane)) return true;  // nobody would answer
  const auto id = asked_.add({.path = AskedRequest::Path{.peer = connection.peer,
                                                         .peer_serial = peer.serial,
                                                         .qpn = connection.local,
                                                         .ev = ev},
                              .tag = tag,
                              .sent = now},
                             port_status_id_);
  if (!id) return false;
  if (probes_.queue(connection.peer, peer, {ev, plane}, *id)) return true;
  asked_.remove(*id);
  return false;
}

bool EndpointRequests::send(Instant now, const DirectRequest& request) {
  const auto id = asked_.add({.tag = request.tag, .sent = now, .unsent = request}, port_status_id_);
  if (!id) return false;
  if (state_.context.queue_control({.kind = ControlItem::Kind::kDirectRequest, .id = id->raw()})) {
    return true;
  }
  asked_.remove(*id);
  return false;
}

const DirectRequest* EndpointRequests::find_direct(std::uint16_t id) {
  const AskedRequest* found = asked_.find(wire::EndpointRequestId(id));
  return found == nullptr || !found->unsent ? nullptr : &*found->unsent;
}

void EndpointRequests::forget_direct(std::uint16_t id) {
  if (AskedRequest* found = asked_.find(wire::EndpointRequestId(id))) found->unsent.reset();
}

// Updates are counted by themselves, so that their order shows however much is probed in between
// (PATH-58).
void EndpointRequests::next_port_status() {
  const RequestIds& ids = state_.context.settings.request_ids;
  do {
    port_status_id_ = wire::EndpointRequestId(ids.upper(port_status_id_.raw() + 1U));
  } while (asked_.find(port_status_id_) != nullptr);
}

void EndpointRequests::report_port_status(PeerIndex index, Peer& peer, Instant now) {
  peer.port_status.unanswered = true;
  peer.port_status.interval = std::max(peer.congestion.rtt() * 2, microseconds(1));
  peer.port_status.id = port_status_id_;
  repeat_port_status(index, peer, now);
}

// Until it is answered, at doubling distances. Repeats keep their number, so that an answer to any
// of them counts (PATH-57, PATH-58).
void EndpointRequests::repeat_port_status(PeerIndex index, Peer& peer, Instant now) {
  Peer::PortStatus& status = peer.port_status;
  status.next = now + status.interval;
  status.interval = std::min(status.interval * 2, state_.context.settings.probe.interval_max);
  state_.context.queue_control({.kind = ControlItem::Kind::kPortStatus,
                                .id = status.id.raw(),
                                .share = PeerShares::of(index),
                                .serial = peer.serial,
                                .owner = index});
  arm_timer(state_.context, index, peer);
}

void EndpointRequests::time_out(PeerIndex index, Peer& peer, Instant now) {
  if (!peer.port_status.unanswered || peer.port_status.next > now) return;
  repeat_port_status(index, peer, now);
}

}  // namespace openmrc::core
