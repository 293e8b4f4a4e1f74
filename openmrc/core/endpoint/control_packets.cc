// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/control_packets.h"

#include "openmrc/base/hold.h"
#include "openmrc/core/endpoint/route.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::core {

ControlSent ControlPackets::send(Instant now, PlaneMask ports, Transmit& out) {
  const ControlItem item = state_.context.take_control();
  const ControlSent sent = fill(now, ports, item, out);
  if (sent == ControlSent::kNoPort) {
    state_.context.put_back_control(item);
  }
  return sent;
}

ControlSent ControlPackets::fill(Instant now, PlaneMask ports, const ControlItem& item,
                                 Transmit& out) {
  switch (item.kind) {
    case ControlItem::Kind::kSack:
    case ControlItem::Kind::kNack:
    case ControlItem::Kind::kAcknowledge:
    case ControlItem::Kind::kReliabilityProbe: return fill_for_queue_pair(now, ports, item, out);
    case ControlItem::Kind::kEvProbe:
    case ControlItem::Kind::kPortStatus: return fill_for_peer(now, ports, item, out);
    case ControlItem::Kind::kDirectRequest: break;
  }
  return fill_direct(now, ports, item, out);
}

ControlSent ControlPackets::fill_for_queue_pair(Instant now, PlaneMask ports,
                                                const ControlItem& item, Transmit& out) {
  using Kind = ControlItem::Kind;
  QueuePair* qp = state_.queue_pairs.at(item.owner);
  // QP-43
  if (qp == nullptr || qp->connection.remote == Qpn{} || qp->connection.serial != item.serial) {
    return ControlSent::kDropped;
  }
  const bool in_error = qp->state == QueuePairState::kError;
  if (in_error && item.kind != Kind::kNack && !qp->refusal) return ControlSent::kDropped;
  const Turn at = state_.turn(*qp, now);
  if (state_.ports_to(at.peer).empty()) {
    if (item.kind == Kind::kAcknowledge) qp->responder.acknowledge_dropped();
    return ControlSent::kDropped;
  }
  const PlaneMask free = ports & state_.ports_to(at.peer);
  const auto path = item.kind == Kind::kReliabilityProbe ? at.peer.paths.choose_for_probe(free)
                                                         : at.peer.choose_reverse(now, free);
  if (!path) return ControlSent::kNoPort;
  set_route(state_.context.settings, at.peer, *path, out);
  set_control_class(state_.context.settings, out);
  fill_body(at, *qp, item, out.packet);
  return ControlSent::kYes;
}

void ControlPackets::fill_body(const Turn& at, QueuePair& qp, const ControlItem& item,
                               wire::Packet& out) {
  using Kind = ControlItem::Kind;
  wire::Body& body = out.transport.body;
  // From ERROR there is only a refusal to be said, whatever was queued before.
  const bool only_refusal = qp.state == QueuePairState::kError && item.kind != Kind::kNack;
  if (item.kind == Kind::kAcknowledge || only_refusal) {
    fill_acknowledge(at, qp, hold<wire::Acknowledge>(body));
  } else if (item.kind == Kind::kSack) {
    qp.responder.fill(at, item, hold<wire::Sack>(body));
    state_.context.counters.add(Count::kSacksSent);
  } else if (item.kind == Kind::kNack) {
    fill_nack(at, item, hold<wire::Nack>(body));
  } else {
    body = wire::ReliabilityProbe{.destination_qp = qp.connection.remote,
                                  .peth = {.id = wire::ProbeId(item.id),
                                           .spdcid = wire::connection_id(qp.connection.local),
                                           .dpdcid = wire::connection_id(qp.connection.remote),
                                           .sent = {.ticks = ticks_at(at.now)}}};
    out.ecn = wire::Ecn::kCapable0;  // the answer says whether its path is congested
    state_.context.counters.add(Count::kProbesSent);
  }
}

// WIRE-67
void ControlPackets::fill_nack(const Turn& turn, const ControlItem& item, wire::Nack& out) {
  out.destination_qp = turn.connection.remote;
  out.neth = {.reason = item.reason,
              .entropy = item.ev,
              .spdcid = wire::connection_id(turn.connection.local),
              .dpdcid = wire::connection_id(turn.connection.remote),
              .psn = item.psn.wrapped(),
              .tx_ticks = item.tx_ticks};
  state_.context.counters.add(Count::kNacksSent);
}

// QP-37
void ControlPackets::fill_acknowledge(const Turn& turn, QueuePair& qp, wire::Acknowledge& out) {
  qp.responder.fill(turn, out);
  if (qp.refusal) {
    out.psn = qp.refusal->psn;
    out.aeth.syndrome = qp.refusal->syndrome;
  }
  state_.context.counters.add(qp.refusal ? Count::kNaksSent : Count::kAcksSent);
}

ControlSent ControlPackets::fill_for_peer(Instant now, PlaneMask ports, const ControlItem& item,
                                          Transmit& out) {
  Peer* peer = state_.peers.find(item.owner);
  if (peer == nullptr || peer->serial != item.serial) return ControlSent::kDropped;
  const bool is_probe = item.kind == ControlItem::Kind::kEvProbe;
  // A probe may ask whether the peer's port is up.
  PlaneMask usable =
      is_probe ? state_.local_ports & PlaneMask::only(item.plane) : state_.ports_to(*peer);
  if (usable.empty()) return ControlSent::kDropped;
  usable = usable & ports;
  const auto path =
      is_probe ? (usable.empty() ? std::nullopt
                                 : std::optional(PathSet::Choice{item.ev_index, item.plane}))
               : peer->choose_reverse(now, usable);
  if (!path) return ControlSent::kNoPort;
  set_route(state_.context.settings, *peer, *path, out);
  set_control_class(state_.context.settings, out);
  out.packet.transport.body = wire::EndpointRequest{
      .id = wire::EndpointRequestId(item.id),
      .erth = {.op = is_probe ? wire::EndpointOp::kEvProbe : wire::EndpointOp::kPortStatusUpdate,
               .port_status_mask = is_probe ? 0 : port_status_of(state_.local_ports),
               .sent = {.ticks = ticks_at(now)}}};
  state_.context.counters.add(is_probe ? Count::kEvProbesSent : Count::kPortStatusSent);
  return ControlSent::kYes;
}

[[gnu::cold]] ControlSent ControlPackets::fill_direct(Instant now, PlaneMask ports,
                                                      const ControlItem& item, Transmit& out) {
  const DirectRequest* request = requests_.find_direct(item.id);
  if (request == nullptr) return ControlSent::kDropped;
  if (!state_.local_ports.has(request->plane)) {
    requests_.forget_direct(item.id);
    return ControlSent::kDropped;
  }
  if (!ports.has(request->plane)) return ControlSent::kNoPort;
  out.plane = request->plane;
  set_plain_route(state_.context.settings, request->destination, request->ev, out);
  if (request->outer && !wire::is_mapped_ipv4(request->destination)) {
    auto& route = std::get<wire::Ipv6Route>(out.packet.route);
    route.encapsulation = wire::SrEncapsulation{
        .source = route.source,
        .destination = *request->outer,
        .srh = request->segment ? std::optional(wire::Srh{.segment = *request->segment})
                                : std::nullopt};
  }
  set_control_class(state_.context.settings, out);
  const bool is_probe = !request->port_status;
  out.packet.transport.body = wire::EndpointRequest{
      .id = wire::EndpointRequestId(item.id),
      .erth = {.op = is_probe ? wire::EndpointOp::kEvProbe : wire::EndpointOp::kPortStatusUpdate,
               .port_status_mask = request->port_status.value_or(0),
               .sent = {.ticks = ticks_at(now)}}};
  state_.context.counters.add(is_probe ? Count::kEvProbesSent : Count::kPortStatusSent);
  requests_.forget_direct(item.id);
  return ControlSent::kYes;
}

}  // namespace openmrc::core
