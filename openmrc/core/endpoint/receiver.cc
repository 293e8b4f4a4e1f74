// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/receiver.h"

#include <variant>

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

}  // namespace

// MRC 6.1 (QP-15, QP-17): the queue pair that a packet is for, if its peer sent it.
[[gnu::always_inline]] inline QueuePair* Receiver::receiver_of(Qpn qpn, Plane plane,
                                                               const wire::Packet& packet) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr) {
    state_.context.counters.add(Count::kDropNoQueuePair);
    return nullptr;
  }
  if (qp->connection.remote == Qpn{}) {  // before RTR there is no peer (QP-16)
    state_.context.counters.add(Count::kDropState);
    return nullptr;
  }
  if (!comes_from(packet, state_.peers[qp->connection.peer].addresses[plane.raw()])) {
    state_.context.counters.add(Count::kDropSource);
    return nullptr;
  }
  return qp;
}

inline ArrivalInfo Receiver::arrival_info(Plane plane, const wire::Packet& packet) const {
  return {.ev = wire::ev_of(packet),
          .marked = packet.ecn == wire::Ecn::kCongested,
          .path_unwelcome = !state_.local_ports.has(plane)};
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::RdmaWrite& write) {
  QueuePair* qp = receiver_of(write.destination_qp, plane, packet);
  if (qp == nullptr) return;
  const UnwrappedPsn psn = qp->responder.unwrapped(write.psn);
  if (qp->state == QueuePairState::kError) [[unlikely]]
    return answer_from_error(*qp, psn, wire::ev_of(packet));
  // QP-20
  if (write.payload.size() > qp->connection.mtu)
    return state_.context.counters.add(Count::kDropOversize);
  if (!qp->responder.is_plausible(psn, write.meth.msn)) [[unlikely]]
    return state_.context.counters.add(Count::kDropMsn);
  const Turn at = state_.turn(*qp, now);
  state_.context.counters.add_received(plane);
  const auto refusal = qp->responder.on_write(at, write, psn, arrival_info(plane, packet));
  at.peer.last_heard = now;
  if (now >= at.peer.next_refresh) probes_.refresh_reverse_paths(now, qp->connection.peer, at.peer);
  if (refusal) [[unlikely]]
    refuse(*qp, *refusal, now);
}

// Apart, so that it costs data nothing.
// NOLINTNEXTLINE(readability-convert-member-functions-to-static): what it calls are no such
void Receiver::handle_other(Instant now, Plane plane, const wire::Packet& packet) {
  std::visit([&](const auto& of_its_kind) { receive(now, plane, packet, of_its_kind); },
             packet.transport.body);
}

// The peer violated the protocol: it is notified, and the queue pair is done (MRC 6.3).
void Receiver::refuse(QueuePair& qp, const Responder::Refusal& refusal, Instant now) {
  qp.refusal = refusal;
  if (state_.context.tracing()) {
    state_.context.record({.when = now,
                           .kind = TraceKind::kRefused,
                           .qpn = qp.connection.local,
                           .psn = refusal.psn,
                           .value = static_cast<std::int64_t>(refusal.syndrome)});
  }
  const UnwrappedPsn psn = qp.responder.unwrapped(refusal.psn);
  connections_.fail(qp, {.status = WorkStatus::kFlushed, .by_us = true, .psn = psn}, now);
  state_.context.queue_control({.kind = ControlItem::Kind::kAcknowledge,
                                .share = PeerShares::of(qp.connection.peer),
                                .serial = qp.connection.serial,
                                .owner = qp.connection.index});
}

// A queue pair in ERROR says so, or its peer would try until its retries are used up.
// QP-39, QP-40
void Receiver::answer_from_error(QueuePair& qp, UnwrappedPsn psn, Ev ev) {
  state_.context.counters.add(Count::kDropState);
  if (qp.refusal) {
    state_.context.queue_control({.kind = ControlItem::Kind::kAcknowledge,
                                  .share = PeerShares::of(qp.connection.peer),
                                  .serial = qp.connection.serial,
                                  .owner = qp.connection.index});
    return;
  }
  state_.context.queue_control({.kind = ControlItem::Kind::kNack,
                                .reason = wire::NackReason::kUnexpectedEvent,
                                .share = PeerShares::of(qp.connection.peer),
                                .serial = qp.connection.serial,
                                .owner = qp.connection.index,
                                .ev = ev,
                                .psn = psn});
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::TrimmedWrite& trimmed) {
  QueuePair* qp = receiver_of(trimmed.destination_qp, plane, packet);
  if (qp == nullptr) return;
  // QP-18
  if (!answers_requests(qp->state)) return state_.context.counters.add(Count::kDropState);
  const UnwrappedPsn psn = qp->responder.unwrapped(trimmed.psn);
  if (!qp->responder.is_plausible(psn, trimmed.meth.msn))
    return state_.context.counters.add(Count::kDropMsn);
  state_.peers[qp->connection.peer].last_heard = now;
  qp->responder.on_trimmed(state_.turn(*qp, now), trimmed, psn, arrival_info(plane, packet));
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::ReliabilityProbe& probe) {
  QueuePair* qp = receiver_of(probe.destination_qp, plane, packet);
  if (qp == nullptr) return;
  // QP-19
  if (probe.peth.dpdcid != wire::connection_id(qp->connection.local) ||
      probe.peth.spdcid != wire::connection_id(qp->connection.remote)) {
    return state_.context.counters.add(Count::kDropConnectionId);
  }
  if (qp->state == QueuePairState::kError) {
    return answer_from_error(*qp, qp->responder.cumulative(), wire::ev_of(packet));
  }
  Peer& peer = state_.peers[qp->connection.peer];
  peer.last_heard = now;
  unsigned copies = 1;
  if (now >= peer.next_search) {
    probes_.search_reverse_paths(now, qp->connection.peer, peer);
    copies = kSearchWidth;
  }
  qp->responder.on_probe(state_.turn(*qp, now), probe, arrival_info(plane, packet), copies);
}

// Feedback may have opened the window, for this queue pair and for those that share it.
inline void Receiver::after_feedback(QueuePair& qp, const std::optional<Fatal>& fatal,
                                     Instant now) {
  Peer& peer = state_.peers[qp.connection.peer];
  peer.last_heard = now;
  if (fatal) {
    connections_.fail(qp, *fatal, now);
  } else {
    sending_.make_ready(qp);
  }
  sending_.wake(peer);
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Sack& sack) {
  QueuePair* qp = receiver_of(sack.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend)
    return state_.context.counters.add(Count::kDropState);
  if (sack.seth.dpdcid != wire::connection_id(qp->connection.local) ||
      sack.seth.spdcid != wire::connection_id(qp->connection.remote)) {
    return state_.context.counters.add(Count::kDropConnectionId);
  }
  qp->requestor.on_sack(state_.turn(*qp, now), sack);
  after_feedback(*qp, std::nullopt, now);
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Nack& nack) {
  QueuePair* qp = receiver_of(nack.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend)
    return state_.context.counters.add(Count::kDropState);
  if (nack.neth.dpdcid != wire::connection_id(qp->connection.local) ||
      nack.neth.spdcid != wire::connection_id(qp->connection.remote)) {
    return state_.context.counters.add(Count::kDropConnectionId);
  }
  after_feedback(*qp, qp->requestor.on_nack(state_.turn(*qp, now), nack), now);
}

void Receiver::receive(Instant now, Plane plane, const wire::Packet& packet,
                       const wire::Acknowledge& acknowledge) {
  QueuePair* qp = receiver_of(acknowledge.destination_qp, plane, packet);
  if (qp == nullptr) return;
  if (qp->state != QueuePairState::kReadyToSend)
    return state_.context.counters.add(Count::kDropState);
  after_feedback(*qp, qp->requestor.on_acknowledge(state_.turn(*qp, now), acknowledge), now);
}

}  // namespace openmrc::core
