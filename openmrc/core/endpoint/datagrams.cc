// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/datagrams.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "openmrc/core/context/limits.h"
#include "openmrc/core/endpoint/route.h"

namespace openmrc::core {
namespace {

std::size_t length_of(const DatagramRequest& request) {
  std::size_t length = 0;
  for (const ConstBytes piece : request.pieces) length += piece.size();
  return length;
}

}  // namespace

// UD-3, UD-6
Result<Qpn, CreateError> Datagrams::create(DatagramHandler& handler,
                                           const DatagramAttributes& attributes) {
  if (attributes.mtu < kMtuMin || attributes.mtu > kMtuMax || attributes.send_queue == 0 ||
      attributes.send_queue > kDatagramQueueMax) {
    return failure(CreateError::kAttributes);
  }
  if (all_.size() >= kDatagramQueuePairsMax) return failure(CreateError::kLimit);
  // First what needs memory: without it nothing has changed.
  auto queue = std::make_unique<DatagramQueue>(handler, attributes, state_.planes());
  all_.reserve(all_.size() + 1);
  flowlets_.resize(kFlowlets);
  QueuePair* qp = state_.queue_pairs.create();
  if (qp == nullptr) return failure(CreateError::kLimit);
  queue->number = qp->connection.local;
  qp->datagrams = queue.get();
  all_.push_back(std::move(queue));
  return qp->connection.local;
}

// UD-11
void Datagrams::leave(Qpn qpn) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr || qp->datagrams == nullptr) return;
  waiting_ -= qp->datagrams->size();
  std::erase_if(all_, [&](const auto& queue) { return queue.get() == qp->datagrams; });
  qp->datagrams = nullptr;
}

DatagramQueue* Datagrams::find(Qpn qpn) const {
  const QueuePair* qp = state_.queue_pairs.find(qpn);
  return qp == nullptr ? nullptr : qp->datagrams;
}

bool Datagrams::set_qkey(Qpn qpn, wire::QKey qkey) {
  DatagramQueue* queue = find(qpn);
  if (queue == nullptr) return false;
  queue->qkey = qkey;
  return true;
}

// Whether there are ways from our ports to these addresses, as for a connection (QP-6, QP-8).
bool Datagrams::is_reachable(const DatagramRequest& request) const {
  if (request.remote_qpn < kFirstUsableQpn || !state_.profiles.has(request.ev_profile)) {
    return false;
  }
  const EvProfile& evs = state_.profiles.evs(request.ev_profile);
  if (request.addresses.size() != state_.planes() || evs.planes() != state_.planes()) return false;
  const std::vector<wire::Ipv6Address>& own = state_.context.settings.addresses;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool is_ipv4 = wire::is_mapped_ipv4(request.addresses[i]);
    if (is_ipv4 != wire::is_mapped_ipv4(own[i])) return false;
    if (is_ipv4 && evs.mode() != EvFormatMode::kUdp) return false;
  }
  return true;
}

// UD-5, UD-6
Result<void, PostError> Datagrams::post(Qpn qpn, const DatagramRequest& request) {
  DatagramQueue* queue = find(qpn);
  if (queue == nullptr) return failure(PostError::kNoQueuePair);
  if (length_of(request) > queue->mtu) return failure(PostError::kTooLong);
  if (!is_reachable(request)) return failure(PostError::kDestination);
  if (queue->full()) return failure(PostError::kLimit);
  queue->push(request);
  ++waiting_;
  return {};
}

// UD-4, UD-5
void Datagrams::receive(Plane plane, const wire::Packet& packet, const wire::UdSend& datagram) {
  Counters& counters = state_.context.counters;
  const DatagramQueue* queue = find(datagram.destination_qp);
  if (queue == nullptr) return counters.add(Count::kDropNoQueuePair);
  if (datagram.deth.qkey != queue->qkey) return counters.add(Count::kDropQKey);
  if (datagram.payload.size() > queue->mtu) return counters.add(Count::kDropOversize);
  counters.add(Count::kDatagramsReceived);
  queue->handler.on_datagram({.source = wire::source_address(packet),
                              .plane = plane,
                              .source_qp = datagram.deth.source_qp,
                              .immediate = datagram.immediate,
                              .payload = datagram.payload});
}

// Something waits.
DatagramQueue& Datagrams::next_in_turn() {
  do {
    turn_ = (turn_ + 1) % all_.size();
  } while (all_[turn_]->empty());
  return *all_[turn_];
}

// UD-10
ControlSent Datagrams::send(Instant now, PlaneMask ports, Transmit& out) {
  DatagramQueue& queue = next_in_turn();
  const PlaneMask free = ports & state_.local_ports;
  if (state_.local_ports.empty()) {
    state_.context.counters.add(Count::kDropDatagramNoPort);
  } else {
    const DatagramQueue::Waiting& datagram = queue.front();
    Flowlet& flowlet = flowlet_to(datagram.addresses[0]);
    const bool stays = goes_on(flowlet, datagram, now);
    if (stays ? !free.has(flowlet.path->plane) : free.empty()) return ControlSent::kNoPort;
    if (!stays) flowlet.path = choose(datagram, free);
    flowlet.to = datagram.addresses[0];
    flowlet.ev_profile = datagram.ev_profile;
    flowlet.last = now;
    fill(queue, *flowlet.path, out);
    state_.context.counters.add(Count::kDatagramsSent);
  }
  queue.pop();
  --waiting_;
  return state_.local_ports.empty() ? ControlSent::kDropped : ControlSent::kYes;
}

Datagrams::Flowlet& Datagrams::flowlet_to(const wire::Ipv6Address& address) {
  return flowlets_[(address.group(6) * 31U + address.group(7)) % kFlowlets];
}

// UD-12
bool Datagrams::goes_on(const Flowlet& flowlet, const DatagramQueue::Waiting& datagram,
                        Instant now) {
  const bool is_same = flowlet.path && flowlet.to == datagram.addresses[0] &&
                       flowlet.ev_profile == datagram.ev_profile &&
                       now <= flowlet.last + kFlowletGap;
  if (!is_same || !state_.local_ports.has(flowlet.path->plane)) return false;
  const auto denied = state_.profiles.denied(datagram.ev_profile);
  if (std::ranges::find(denied, flowlet.path->ev) != denied.end()) return false;
  const Peer* peer = peer_of(datagram);
  return peer == nullptr || (peer->remote_ports.has(flowlet.path->plane) &&
                             peer->paths.state(flowlet.path->ev) == EvState::kGood);
}

// The destination as connections know it, if there are any.
Peer* Datagrams::peer_of(const DatagramQueue::Waiting& datagram) {
  Peer* known = nullptr;
  state_.peers.visit_address(datagram.addresses[0], [&](PeerIndex, Peer& peer) {
    if (std::ranges::equal(peer.addresses, datagram.addresses) &&
        peer.path_overlay == datagram.path_overlay && peer.ev_profile == datagram.ev_profile) {
      known = &peer;
    }
    return known == nullptr;
  });
  return known;
}

// The planes in turn, and the EVs of each; where connections have learned which of them work, one
// of those. `ports` are some that are up (UD-8, UD-9).
Datagrams::Path Datagrams::choose(const DatagramQueue::Waiting& datagram, PlaneMask ports) {
  Peer* peer = peer_of(datagram);
  if (peer != nullptr) {
    const PlaneMask good = ports & peer->remote_ports & peer->paths.planes();
    if (!good.empty()) {
      const Plane plane = good.next_from(next_plane_);
      if (const auto ev = peer->paths.any_good(plane)) {
        next_plane_ = static_cast<std::uint8_t>(plane.raw() + 1);
        return {.plane = plane, .ev = *ev};
      }
    }
  }
  const Plane plane = ports.next_from(next_plane_);
  next_plane_ = static_cast<std::uint8_t>(plane.raw() + 1);
  const std::size_t first = state_.profiles.evs(datagram.ev_profile).range(plane).first;
  return {.plane = plane,
          .ev = allowed_ev(datagram.ev_profile, plane)
                    .value_or(EvIndex(static_cast<std::uint8_t>(first)))};
}

// The next of the plane's EVs that the controller does not deny.
std::optional<EvIndex> Datagrams::allowed_ev(EvProfileId profile, Plane plane) {
  const PlaneRange range = state_.profiles.evs(profile).range(plane);
  const auto denied = state_.profiles.denied(profile);
  std::uint32_t& next = next_ev_[plane.raw()];
  for (std::size_t i = 0; i < range.count; ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(range.first + next++ % range.count));
    if (std::ranges::find(denied, ev) == denied.end()) return ev;
  }
  return std::nullopt;
}

// UD-1, UD-7
void Datagrams::fill(DatagramQueue& queue, const Path& path, Transmit& out) {
  const EndpointSettings& settings = state_.context.settings;
  const DatagramQueue::Waiting& datagram = queue.front();
  const EvProfile& evs = state_.profiles.evs(datagram.ev_profile);
  out.plane = path.plane;
  set_plain_route(settings, datagram.addresses[path.plane.raw()], evs.entry(path.ev).ev, out);
  if (evs.mode() == EvFormatMode::kSrv6) {
    set_encapsulation(evs, datagram.path_overlay, path.ev, out.packet);
  }
  out.packet.traffic_class = wire::TrafficClass::kNoTrim;
  out.packet.ecn = wire::Ecn::kNotCapable;
  out.packet.transport.pkey = settings.pkey;
  out.packet.transport.body =
      wire::UdSend{.destination_qp = datagram.remote_qpn,
                   .psn = queue.next_psn,
                   .deth = {.qkey = datagram.qkey, .source_qp = queue.number},
                   .immediate = datagram.immediate,
                   .payload = datagram.payload};
  queue.next_psn = queue.next_psn + 1;
}

}  // namespace openmrc::core
