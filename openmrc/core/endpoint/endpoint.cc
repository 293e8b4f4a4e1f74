// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/endpoint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::core {
namespace {

constexpr Duration kLookForIdleEvery = seconds(1);

}  // namespace

Endpoint::Endpoint(const EndpointSettings& settings, std::uint64_t seed, TraceSink* trace)
    : state_(settings, trace),
      rng_(seed),
      // SEC-5
      probes_(state_, sending_, static_cast<std::uint16_t>(rng_.next())),
      requests_(state_, sending_, probes_, responses_, probes_.first_id()),
      connections_(state_, sending_, probes_, requests_, rng_) {
  OPENMRC_CHECK(!settings.addresses.empty() && settings.addresses.size() <= kPlanesMax,
                "an endpoint has 1 to 31 ports");
  OPENMRC_CHECK(settings.first_qpn >= kFirstUsableQpn, "queue pair numbers 0 to 2 are reserved");
  OPENMRC_CHECK(settings.first_qpn.raw() + std::max(settings.qpns, settings.limits.queue_pairs) <=
                    std::size_t{Qpn::kMax} + 1,
                "queue pair numbers have 24 bits");
  OPENMRC_CHECK(settings.ev_burst >= 1 && settings.ev_burst <= kEvBurstMax,
                "1 to 64 packets in a row take one EV");
}

Endpoint::~Endpoint() = default;

EvProfileId Endpoint::add_ev_profile(EvProfile profile) {
  return add_ev_profile(std::make_shared<const EvProfile>(std::move(profile)));
}

std::optional<QueuePairState> Endpoint::state(Qpn qpn) const {
  const QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr) return std::nullopt;
  return qp->state;
}

Result<void, PostError> Endpoint::post_write(Qpn qpn, Instant now, const WriteRequest& request) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr) return failure(PostError::kNoQueuePair);
  // QP-21
  if (qp->state != QueuePairState::kReadyToSend) return failure(PostError::kState);
  const std::uint32_t length = request.data.size();
  // QP-23
  if (request.remote_address > std::numeric_limits<std::uint64_t>::max() - length) {
    return failure(PostError::kAddressWraps);
  }
  // QP-24
  const PoolIndex index = state_.context.messages.take();
  if (index == kNoElement) return failure(PostError::kLimit);
  const std::uint32_t mtu = qp->connection.mtu;
  state_.context.messages[index] = {
      .id = request.id,
      .data = request.data.has_bytes() ? request.data.bytes().data() : nullptr,
      .remote_address = request.remote_address,
      .length = length,
      .packets = std::max(1U, static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu)),
      .rkey = request.rkey,
      .immediate = request.immediate.value_or(wire::Immediate{}),
      .has_immediate = request.immediate.has_value()};
  qp->requestor.post(state_.turn(*qp, now), index);
  sending_.make_ready(*qp);
  return {};
}

Result<void, PostError> Endpoint::post_receive(Qpn qpn, WorkId id) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr) return failure(PostError::kNoQueuePair);
  // QP-21
  if (qp->state == QueuePairState::kReset || qp->state == QueuePairState::kError) {
    return failure(PostError::kState);
  }
  const PoolIndex index = state_.context.receives.take();
  if (index == kNoElement) return failure(PostError::kLimit);
  state_.context.receives[index].id = id;
  qp->responder.post_receive(state_.context, index);
  return {};
}

std::optional<Completion> Endpoint::poll_completion() {
  if (state_.context.completions.empty()) return std::nullopt;
  return state_.context.completions.pop();
}

std::optional<Event> Endpoint::poll_event() {
  if (state_.context.events.empty()) return std::nullopt;
  return state_.context.events.pop();
}

// PATH-67
void Endpoint::set_ev_denied(Instant now, EvProfileId profile, EvIndex ev, bool denied) {
  OPENMRC_CHECK(ev.raw() < ev_profile(profile).size(), "no such EV");
  state_.profiles.set_denied(profile, ev, denied);
  for (PeerIndex index = 0; index < state_.peers.size(); ++index) {
    Peer* peer = state_.peers.find(index);
    if (peer == nullptr || peer->ev_profile != profile) continue;
    change_ev(state_.context, index, *peer, ev, denied ? EvInput::kDeny : EvInput::kAllow, now);
    sending_.wake(*peer);
  }
}

bool Endpoint::offer_mpr(Qpn qpn, std::uint8_t mpr) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr || !answers_requests(qp->state) || !qp->connection.dynamic_mpr) return false;
  if (mpr == 0 || mpr * kPsnsPerMpr > qp->responder.window().range()) return false;
  qp->responder.offer_mpr(mpr);
  return true;
}

bool Endpoint::set_receiver_penalty(Qpn qpn, std::uint8_t penalty, bool restore) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr || penalty > 127) return false;
  qp->responder.set_receiver_penalty(penalty, restore);
  return true;
}

const Peer* Endpoint::peer_of(Qpn qpn) const {
  const QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr || qp->connection.remote == Qpn{}) return nullptr;
  return &state_.peers[qp->connection.peer];
}

void Endpoint::handle_timeout(Instant now) {
  while (const auto due = state_.context.timers.pop_due(now)) {
    if (due->owner.kind == TimerOwner::Kind::kQueuePair) {
      time_out_queue_pair(*due, now);
    } else {
      time_out_peer(*due, now);
    }
  }
}

void Endpoint::time_out_queue_pair(const TimerQueue::Due& due, Instant now) {
  QueuePair* qp = state_.queue_pairs.at(due.owner.index);
  if (qp == nullptr || !TimerQueue::accept(qp->requestor.timer(), due)) return;
  if (qp->destroyed || qp->state != QueuePairState::kReadyToSend) return;
  const Turn at = state_.turn(*qp, now);
  const bool reachable = !(state_.ports_to(at.peer) & at.peer.paths.planes()).empty();
  if (const auto fatal = qp->requestor.on_timer(at, reachable)) {
    connections_.fail(*qp, *fatal, now);
  } else {
    sending_.make_ready_in_turn(*qp);
  }
  if (at.peer.is_silent(now) && !at.peer.health.empty()) {
    probes_.hurry(qp->connection.peer, at.peer, now);
  }
  sending_.wake(at.peer);
}

void Endpoint::time_out_peer(const TimerQueue::Due& due, Instant now) {
  Peer* peer = state_.peers.find(due.owner.index);
  if (peer == nullptr || !TimerQueue::accept(peer->timer, due)) return;
  probes_.time_out(due.owner.index, *peer, now);
  requests_.time_out(due.owner.index, *peer, now);
  if (!end_flight_if_idle(*peer, now)) {
    state_.context.timers.arm(peer->timer, due.owner, now + kLookForIdleEvery);
  }
}

bool Endpoint::probe_path(Qpn qpn, Instant now, EvIndex ev, std::uint32_t tag) {
  const Peer* peer = peer_of(qpn);
  if (peer == nullptr || ev.raw() >= peer->paths.profile().size()) return false;
  return requests_.probe_path(now, state_.queue_pairs.find(qpn)->connection, ev, tag);
}

bool Endpoint::send_request(Instant now, const DirectRequest& request) {
  return request.plane.raw() < planes() && requests_.send(now, request);
}

// PATH-56
void Endpoint::set_port(Instant now, Plane plane, bool up) {
  OPENMRC_CHECK(plane.raw() < planes(), "no such port");
  if (state_.local_ports.has(plane) == up) return;
  if (up) {
    state_.local_ports.add(plane);
  } else {
    state_.local_ports.remove(plane);
  }
  requests_.next_port_status();
  for (PeerIndex index = 0; index < state_.peers.size(); ++index) {
    Peer* peer = state_.peers.find(index);
    if (peer == nullptr) continue;
    requests_.report_port_status(index, *peer, now);
    if (up) probes_.start_again(index, *peer, plane, now);
    sending_.wake(*peer);
  }
}

}  // namespace openmrc::core
