// SPDX-License-Identifier: BSD-3-Clause
// What leaves: control packets first, then data, queue pair after queue pair.
#include <algorithm>

#include "openmrc/base/hold.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::core {
namespace {

void set_ipv4(const wire::Ipv6Address& source, const wire::Ipv6Address& destination, Ev ev,
              wire::Packet& packet) {
  packet.route = wire::Ipv4Route{.source = wire::unmapped(source),
                                 .destination = wire::unmapped(destination),
                                 .ev_low = static_cast<std::uint16_t>(ev.raw())};
}

[[gnu::always_inline]] inline void set_ipv6(const wire::Ipv6Address& source,
                                            const wire::Ipv6Address& destination, Ev ev,
                                            wire::Packet& packet) {
  auto& route = hold<wire::Ipv6Route>(packet.route);
  route.source = source;
  route.destination = destination;
  route.ev = ev;
  route.encapsulation.reset();
}

// The way to an address without a path of ours.
[[gnu::cold]] void set_plain(const wire::Ipv6Address& source, const wire::Ipv6Address& destination,
                             Ev ev, wire::Packet& packet) {
  if (wire::is_mapped_ipv4(destination)) return set_ipv4(source, destination, ev, packet);
  set_ipv6(source, destination, ev, packet);
}

// In a small burst data leaves before the control packets, which come first otherwise: somebody
// waits for it, and on a host each packet that leaves earlier makes it wait for a system call.
[[gnu::noinline]] void send_data_first(std::span<Transmit> burst) {
  const auto data = std::ranges::find_if(burst, [](const Transmit& one) {
    return one.packet.traffic_class != wire::TrafficClass::kControl;
  });
  std::rotate(burst.begin(), data, burst.end());
}

}  // namespace

std::size_t Endpoint::poll_transmit(Instant now, PlaneMask free_ports, Ports ports,
                                    std::span<Transmit> out) {
  if (!waiting_for_room_.empty()) [[unlikely]]
    wake_waiting_for_room();
  std::size_t count = 0;
  // What has no free port goes to the end of its queue; each is asked once.
  std::size_t control_tries = context_.control.size();
  std::size_t blocked = 0;
  while (count < out.size() && !free_ports.empty()) {
    Sent sent = Sent::kNothingToSend;
    if (control_tries > 0 && !context_.control.empty()) {
      --control_tries;
      sent = send_control(now, free_ports, out[count]);
      if (sent != Sent::kYes) continue;
    } else {
      if (ready_.empty() || blocked > 0) break;
      sent = take_turn(now, free_ports, out[count]);
      if (sent == Sent::kNoPort) ++blocked;
      if (sent != Sent::kYes) continue;
    }
    if (ports == Ports::kTakenOnce) free_ports.remove(out[count].plane);
    ++count;
  }
  if (count > 1 && count <= kSmallBurst && ports == Ports::kReused) {
    send_data_first(out.first(count));
  }
  return count;
}

void Endpoint::make_ready(QueuePair& qp) {
  if (qp.queued != QueuePair::Queued::kNowhere) return;
  qp.queued = QueuePair::Queued::kReady;
  qp.burst = 0;
  ready_.push_back(queue_pairs_, qp.connection.index);
}

// As many as the window has room for, in the order in which they came. No spurious wakeups:
// who finds the window closed goes to the end of the line, and could miss every opening.
void Endpoint::wake_waiting(Peer& peer) {
  for (ByteCount taken; !peer.waiting.empty();) {
    QueuePair& first = queue_pairs_[peer.waiting.first()];
    const ByteCount size = nominal_size(first.connection.mtu, false);
    const bool fits = peer.in_flight + taken + size <= peer.congestion.window();
    if (!fits && !(peer.nothing_moves() && taken == ByteCount(0))) return;
    peer.waiting.pop_front(queue_pairs_);
    first.queued = QueuePair::Queued::kNowhere;
    make_ready(first);
    taken += size;
  }
}

void Endpoint::wake_waiting_for_room() {
  for (std::size_t room = context_.sent.room(); room > 0 && !waiting_for_room_.empty(); --room) {
    QueuePair& first = queue_pairs_[waiting_for_room_.first()];
    waiting_for_room_.pop_front(queue_pairs_);
    first.queued = QueuePair::Queued::kNowhere;
    make_ready(first);
  }
}

// Lets the first queue pair in line send one packet.
inline Endpoint::Sent Endpoint::take_turn(Instant now, PlaneMask ports, Transmit& out) {
  QueuePair& qp = queue_pairs_[ready_.first()];
  const Sent sent = qp.state == QueuePairState::kReadyToSend ? send_data(now, ports, qp, out)
                                                             : Sent::kNothingToSend;
  // Its turn does not end while packets to its peer stay on one path: they may leave as one.
  if (sent == Sent::kYes &&
      (++qp.burst < kBurstPerQueuePair || peers_[qp.connection.peer].paths.in_burst())) {
    return sent;
  }
  ready_.pop_front(queue_pairs_);
  qp.queued = QueuePair::Queued::kNowhere;
  switch (sent) {
    case Sent::kYes:
    case Sent::kNoPort: make_ready(qp); break;
    case Sent::kMustWait:
      // Who has sent waits behind those that have not had their turn, or they would never have one.
      if (qp.burst > 0) {
        make_ready(qp);
        break;
      }
      qp.queued = QueuePair::Queued::kWaiting;
      peers_[qp.connection.peer].waiting.push_back(queue_pairs_, qp.connection.index);
      break;
    case Sent::kNoRoom:
      qp.queued = QueuePair::Queued::kWaiting;
      waiting_for_room_.push_back(queue_pairs_, qp.connection.index);
      break;
    case Sent::kNothingToSend:
    case Sent::kDropped:
      // It left its share of the window to others.
      if (qp.connection.remote != Qpn{}) wake_waiting(peers_[qp.connection.peer]);
      if (qp.destroyed) release(qp.connection.index);
      break;
  }
  return sent;
}

Endpoint::Sent Endpoint::send_data(Instant now, PlaneMask ports, QueuePair& qp, Transmit& out) {
  const Requestor::Offer offer = qp.requestor.next(context_, qp.connection.mtu);
  if (offer.what == Requestor::Next::kNothing) return Sent::kNothingToSend;
  if (offer.what == Requestor::Next::kNoRoom) return Sent::kNoRoom;
  const Turn at = turn(qp, now);
  if (!at.peer.may_send(offer.size)) return Sent::kMustWait;
  const PlaneMask usable = ports_to(at.peer) & at.peer.paths.planes();
  if (usable.empty()) {
    qp.requestor.on_no_route(at);
    return Sent::kMustWait;
  }
  const auto path = at.peer.paths.choose(ports & usable, offer.avoid);
  if (!path) return Sent::kNoPort;
  set_route(at.peer, *path, out);
  out.packet.ecn = wire::Ecn::kCapable0;
  out.packet.transport.pkey = context_.settings.pkey;
  // A peer that does not answer trimmed packets shall not get any (MRC 8).
  out.packet.traffic_class = !qp.connection.peer_sends_trim_nacks ? wire::TrafficClass::kNoTrim
                             : offer.what == Requestor::Next::kRetransmit
                                 ? wire::TrafficClass::kTrimmableRetransmission
                                 : wire::TrafficClass::kTrimmable;
  qp.requestor.send(at, offer, *path, hold<wire::RdmaWrite>(out.packet.transport.body));
  context_.counters.add(Count::kDataSent);
  context_.counters.add_sent(path->plane);
  return Sent::kYes;
}

inline void Endpoint::set_route(const Peer& peer, const PathSet::Choice& path,
                                Transmit& out) const {
  const EvProfile& profile = peer.paths.profile();
  const EvEntry& entry = profile.entry(path.ev);
  const wire::Ipv6Address& source = context_.settings.addresses[path.plane.raw()];
  const wire::Ipv6Address& destination = peer.addresses[path.plane.raw()];
  out.plane = path.plane;
  out.packet.udp_port = context_.settings.udp_port;
  if (peer.is_ipv4) [[unlikely]]
    return set_ipv4(source, destination, entry.ev, out.packet);
  set_ipv6(source, destination, entry.ev, out.packet);
  if (peer.is_srv6) set_encapsulation(peer, path.ev, out.packet);
}

// MRC 9.3.5: the outer destination is the path.
void Endpoint::set_encapsulation(const Peer& peer, EvIndex ev, wire::Packet& packet) {
  const EvProfile& profile = peer.paths.profile();
  const auto segment = profile.segment(ev);
  auto& route = std::get<wire::Ipv6Route>(packet.route);
  route.encapsulation = wire::SrEncapsulation{
      .source = route.source,
      .destination = profile.entry(ev).outer | peer.path_overlay,
      .srh = segment ? std::optional(wire::Srh{.segment = *segment}) : std::nullopt};
}

void Endpoint::set_return_route(Transmit& out) const {
  auto* route = std::get_if<wire::Ipv6Route>(&out.packet.route);
  if (route == nullptr || !context_.settings.return_routes) return;
  route->encapsulation =
      context_.settings.return_routes->route_to(out.plane, route->source, route->destination);
}

// MRC 8: control packets are not marked and not trimmed.
void Endpoint::set_control(Transmit& out, wire::TrafficClass traffic_class) const {
  out.packet.traffic_class = traffic_class;
  out.packet.ecn = wire::Ecn::kNotCapable;
  out.packet.transport.pkey = context_.settings.pkey;
}

Endpoint::Sent Endpoint::send_control(Instant now, PlaneMask ports, Transmit& out) {
  const ControlItem item = context_.control.pop();
  const Sent sent = fill_control(now, ports, item, out);
  if (sent == Sent::kNoPort) {
    context_.control.push(item);
  } else if (item.kind == ControlItem::Kind::kEndpointResponse) {
    --responses_queued_;
  }
  return sent;
}

Endpoint::Sent Endpoint::fill_control(Instant now, PlaneMask ports, const ControlItem& item,
                                      Transmit& out) {
  switch (item.kind) {
    case ControlItem::Kind::kSack:
    case ControlItem::Kind::kNack:
    case ControlItem::Kind::kAcknowledge:
    case ControlItem::Kind::kReliabilityProbe: return fill_for_queue_pair(now, ports, item, out);
    case ControlItem::Kind::kEvProbe:
    case ControlItem::Kind::kPortStatus: return fill_for_peer(now, ports, item, out);
    case ControlItem::Kind::kDirectRequest: return fill_direct(now, ports, item, out);
    case ControlItem::Kind::kEndpointResponse: break;
  }
  return fill_response(now, ports, item, out);
}

Endpoint::Sent Endpoint::fill_for_queue_pair(Instant now, PlaneMask ports, const ControlItem& item,
                                             Transmit& out) {
  using Kind = ControlItem::Kind;
  QueuePair* qp = queue_pairs_.all[item.owner].get();
  if (qp == nullptr || qp->connection.remote == Qpn{} || qp->connection.serial != item.serial) {
    return Sent::kDropped;
  }
  const bool in_error = qp->state == QueuePairState::kError;
  if (in_error && item.kind != Kind::kNack && !qp->refusal) return Sent::kDropped;
  const Turn at = turn(*qp, now);
  if (ports_to(at.peer).empty()) {
    if (item.kind == Kind::kAcknowledge) qp->responder.acknowledge_dropped();
    return Sent::kDropped;
  }
  const PlaneMask free = ports & ports_to(at.peer);
  const auto path = item.kind == Kind::kReliabilityProbe ? at.peer.paths.choose_for_probe(free)
                                                         : at.peer.choose_reverse(now, free);
  if (!path) return Sent::kNoPort;
  set_route(at.peer, *path, out);
  set_control(out, wire::TrafficClass::kControl);
  fill_body(at, *qp, item, out.packet);
  return Sent::kYes;
}

void Endpoint::fill_body(const Turn& at, QueuePair& qp, const ControlItem& item,
                         wire::Packet& out) {
  using Kind = ControlItem::Kind;
  wire::Body& body = out.transport.body;
  // From ERROR there is only a refusal to be said, whatever was queued before.
  const bool only_refusal = qp.state == QueuePairState::kError && item.kind != Kind::kNack;
  if (item.kind == Kind::kAcknowledge || only_refusal) {
    fill_acknowledge(at, qp, hold<wire::Acknowledge>(body));
  } else if (item.kind == Kind::kSack) {
    qp.responder.fill(at, item, hold<wire::Sack>(body));
    context_.counters.add(Count::kSacksSent);
  } else if (item.kind == Kind::kNack) {
    fill_nack(at, item, hold<wire::Nack>(body));
  } else {
    body = wire::ReliabilityProbe{.destination_qp = qp.connection.remote,
                                  .peth = {.id = wire::ProbeId(item.id),
                                           .spdcid = wire::connection_id(qp.connection.local),
                                           .dpdcid = wire::connection_id(qp.connection.remote),
                                           .sent = {.ticks = ticks_at(at.now)}}};
    out.ecn = wire::Ecn::kCapable0;  // the answer says whether its path is congested
    context_.counters.add(Count::kProbesSent);
  }
}

void Endpoint::fill_nack(const Turn& turn, const ControlItem& item, wire::Nack& out) {
  out.destination_qp = turn.connection.remote;
  out.neth = {.reason = item.reason,
              .entropy = item.ev,
              .spdcid = wire::connection_id(turn.connection.local),
              .dpdcid = wire::connection_id(turn.connection.remote),
              .psn = item.psn.wrapped(),
              .tx_ticks = item.tx_ticks};
  context_.counters.add(Count::kNacksSent);
}

void Endpoint::fill_acknowledge(const Turn& turn, QueuePair& qp, wire::Acknowledge& out) {
  qp.responder.fill(turn, out);
  if (qp.refusal) {
    out.psn = qp.refusal->psn.wrapped();
    out.aeth.syndrome = qp.refusal->syndrome;
  }
  context_.counters.add(qp.refusal ? Count::kNaksSent : Count::kAcksSent);
}

Endpoint::Sent Endpoint::fill_for_peer(Instant now, PlaneMask ports, const ControlItem& item,
                                       Transmit& out) {
  Peer* peer = peers_.find(item.owner);
  if (peer == nullptr || peer->serial != item.serial) return Sent::kDropped;
  const bool is_probe = item.kind == ControlItem::Kind::kEvProbe;
  PlaneMask usable = ports_to(*peer);
  if (is_probe) usable = usable & PlaneMask::only(item.plane);
  if (usable.empty()) return Sent::kDropped;
  usable = usable & ports;
  const auto path =
      is_probe ? (usable.empty() ? std::nullopt
                                 : std::optional(PathSet::Choice{item.ev_index, item.plane}))
               : peer->choose_reverse(now, usable);
  if (!path) return Sent::kNoPort;
  set_route(*peer, *path, out);
  set_control(out, wire::TrafficClass::kControl);
  out.packet.transport.body = wire::EndpointRequest{
      .id = wire::EndpointRequestId(item.id),
      .erth = {.op = is_probe ? wire::EndpointOp::kEvProbe : wire::EndpointOp::kPortStatusUpdate,
               .port_status_mask = is_probe ? 0 : port_status_of(local_ports_),
               .sent = {.ticks = ticks_at(now)}}};
  context_.counters.add(is_probe ? Count::kEvProbesSent : Count::kPortStatusSent);
  return Sent::kYes;
}

[[gnu::cold]] Endpoint::Sent Endpoint::fill_direct(Instant now, PlaneMask ports,
                                                   const ControlItem& item, Transmit& out) {
  const auto found = direct_.find(item.id);
  if (found == direct_.end()) return Sent::kDropped;
  const DirectRequest& request = found->second;
  if (!local_ports_.has(request.plane)) {
    direct_.erase(found);
    return Sent::kDropped;
  }
  if (!ports.has(request.plane)) return Sent::kNoPort;
  out.plane = request.plane;
  out.packet.udp_port = context_.settings.udp_port;
  const wire::Ipv6Address& source = context_.settings.addresses[request.plane.raw()];
  const bool is_ipv4 = wire::is_mapped_ipv4(request.destination);
  set_plain(source, request.destination, request.ev, out.packet);
  if (request.outer && !is_ipv4) {
    std::get<wire::Ipv6Route>(out.packet.route).encapsulation = wire::SrEncapsulation{
        .source = source,
        .destination = *request.outer,
        .srh =
            request.segment ? std::optional(wire::Srh{.segment = *request.segment}) : std::nullopt};
  }
  set_control(out, wire::TrafficClass::kControl);
  const bool is_probe = !request.port_status;
  out.packet.transport.body = wire::EndpointRequest{
      .id = wire::EndpointRequestId(item.id),
      .erth = {.op = is_probe ? wire::EndpointOp::kEvProbe : wire::EndpointOp::kPortStatusUpdate,
               .port_status_mask = request.port_status.value_or(0),
               .sent = {.ticks = ticks_at(now)}}};
  context_.counters.add(is_probe ? Count::kEvProbesSent : Count::kPortStatusSent);
  direct_.erase(found);
  return Sent::kYes;
}

// MRC 7.3: to a peer over a path that is known to work; to others back by the plane and EV that the
// request came by.
Endpoint::Sent Endpoint::fill_response(Instant now, PlaneMask ports, const ControlItem& item,
                                       Transmit& out) {
  Peer* known = nullptr;
  peers_.visit_address(item.address, [&](PeerIndex, Peer& peer) {
    known = &peer;
    return false;
  });
  if (known != nullptr) {
    if (ports_to(*known).empty()) return Sent::kDropped;
    const auto path = known->choose_reverse(now, ports & ports_to(*known));
    if (!path) return Sent::kNoPort;
    set_route(*known, *path, out);
  } else {
    if (!local_ports_.has(item.plane)) return Sent::kDropped;
    if (!ports.has(item.plane)) return Sent::kNoPort;
    out.plane = item.plane;
    out.packet.udp_port = context_.settings.udp_port;
    const wire::Ipv6Address& source = context_.settings.addresses[item.plane.raw()];
    set_plain(source, item.address, item.ev, out.packet);
    set_return_route(out);
  }
  set_control(out, wire::TrafficClass::kControl);
  out.packet.transport.body = wire::EndpointResponse{
      .id = wire::EndpointRequestId(item.id), .eeth = {.op = item.op, .tx_ticks = item.tx_ticks}};
  context_.counters.add(Count::kEndpointResponsesSent);
  return Sent::kYes;
}

}  // namespace openmrc::core
