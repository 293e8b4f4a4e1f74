// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/connections.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace openmrc::core {

Result<Qpn, CreateError> Connections::create(MessageHandler* messages) {
  QueuePair* qp = state_.queue_pairs.create();
  if (qp == nullptr) return failure(CreateError::kLimit);
  qp->connection.messages = messages;
  return qp->connection.local;
}

bool Connections::destroy(Qpn qpn) {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  if (qp == nullptr) return false;
  disconnect(*qp, Flush::kForget, Instant{});
  qp->destroyed = true;
  qp->state = QueuePairState::kReset;
  if (qp->queued == QueuePair::Queued::kNowhere) state_.queue_pairs.release(qp->connection.index);
  return true;
}

// Ends the connection, if there is one: what was posted, and the tie to the peer.
void Connections::disconnect(QueuePair& qp, Flush how, Instant now) {
  qp.responder.flush(state_.context, qp.connection, how);
  if (qp.connection.remote == Qpn{}) return;
  qp.requestor.flush(state_.turn(qp, now), {}, how);
  leave_peer(qp);
}

void Connections::leave_peer(QueuePair& qp) {
  const PeerIndex index = qp.connection.peer;
  Peer& peer = state_.peers[index];
  // Whoever waits is looked at again; that also takes this one off the list.
  sending_.wake_all(peer);
  qp.connection.remote = Qpn{};
  if (--peer.queue_pairs == 0) state_.peers.remove(index);
}

// UD-3
QueuePair* Connections::find(Qpn qpn) const {
  QueuePair* qp = state_.queue_pairs.find(qpn);
  return qp == nullptr || qp->datagrams != nullptr ? nullptr : qp;
}

// QP-5
Result<void, ModifyError> Connections::to_init(Qpn qpn, const InitAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToInit)) return failure(ModifyError::kTransition);
  if (!state_.profiles.has(attributes.ev_profile, attributes.cc_profile)) {
    return failure(ModifyError::kProfile);
  }
  qp->init = attributes;
  // MSG-5
  qp->connection.domain = attributes.remote_write ? attributes.domain : kNoDomain;
  qp->state = QueuePairState::kInit;
  return {};
}

// QP-6
Result<void, ModifyError> Connections::check(const InitAttributes& init,
                                             const ReadyToRecvAttributes& attributes) const {
  if (!state_.profiles.has(init.ev_profile, init.cc_profile)) return failure(ModifyError::kProfile);
  const EvProfile& evs = state_.profiles.evs(init.ev_profile);
  if (attributes.remote_qpn < kFirstUsableQpn) return failure(ModifyError::kRemoteQpn);
  if (attributes.mtu < kMtuMin || attributes.mtu > kMtuMax) return failure(ModifyError::kMtu);
  if (attributes.mpr_dest == 0 || attributes.max_wimm_dest == 0) {
    return failure(ModifyError::kWindow);
  }
  if (attributes.remote_addresses.size() != state_.planes() || evs.planes() != state_.planes()) {
    return failure(ModifyError::kPlanes);
  }
  const bool any_ipv4 = std::any_of(attributes.remote_addresses.begin(),
                                    attributes.remote_addresses.end(), wire::is_mapped_ipv4);
  // QP-8
  if (any_ipv4 && evs.mode() != EvFormatMode::kUdp) {
    return failure(ModifyError::kEvFormat);
  }
  return {};
}

PeerIndex Connections::add_peer(const InitAttributes& init,
                                const ReadyToRecvAttributes& attributes) {
  const EvProfile& evs = state_.profiles.evs(init.ev_profile);
  const EndpointSettings& settings = state_.context.settings;
  auto peer = std::make_unique<Peer>(evs, state_.profiles.congestion(init.cc_profile), rng_.next(),
                                     settings.ev_burst, settings.path_policy);
  peer->serial = ++serial_;
  peer->addresses = attributes.remote_addresses;
  peer->probes = probes_.probes_to(attributes.remote_addresses);
  peer->is_ipv4 = wire::is_mapped_ipv4(attributes.remote_addresses[0]);
  peer->is_srv6 = evs.mode() == EvFormatMode::kSrv6;
  peer->path_overlay = attributes.path_overlay;
  peer->ev_profile = init.ev_profile;
  peer->cc_profile = init.cc_profile;
  // PATH-12
  for (const EvIndex ev : state_.profiles.denied(init.ev_profile)) {
    peer->paths.apply(ev, EvInput::kDeny, {}, {});
  }
  return state_.peers.add(std::move(peer));
}

PeerIndex Connections::join_peer(const QueuePair& qp, const ReadyToRecvAttributes& attributes) {
  std::optional<PeerIndex> known;
  state_.peers.visit_address(
      attributes.remote_addresses[0], [&](PeerIndex index, const Peer& peer) {
        if (peer.addresses == attributes.remote_addresses &&
            peer.path_overlay == attributes.path_overlay && peer.ev_profile == qp.init.ev_profile &&
            peer.cc_profile == qp.init.cc_profile) {
          known = index;
        }
        return !known;
      });
  if (!known) known = add_peer(qp.init, attributes);
  ++state_.peers[*known].queue_pairs;
  return *known;
}

Result<void, ModifyError> Connections::to_ready_to_recv(Qpn qpn, Instant now,
                                                        const ReadyToRecvAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToReadyToRecv)) {
    return failure(ModifyError::kTransition);
  }
  InitAttributes init = qp->init;
  init.ev_profile = attributes.ev_profile.value_or(init.ev_profile);
  init.cc_profile = attributes.cc_profile.value_or(init.cc_profile);
  // QP-4
  if (const auto result = check(init, attributes); !result) return failure(result.error());
  qp->init = init;
  // First what needs memory: without it nothing has changed.
  qp->responder.connect(attributes);
  qp->connection.peer = join_peer(*qp, attributes);
  qp->connection.remote = attributes.remote_qpn;
  qp->connection.serial = ++serial_;
  qp->connection.mtu = attributes.mtu;
  qp->connection.dynamic_mpr = attributes.dynamic_mpr;
  qp->connection.peer_sends_trim_nacks = attributes.peer_sends_trim_nacks;
  qp->refusal.reset();
  change_state(*qp, QueuePairState::kReadyToRecv, now);
  // A port of ours may be down, and a new peer does not know (PATH-59).
  if (state_.local_ports != PlaneMask::first(state_.planes())) {
    requests_.report_port_status(qp->connection.peer, state_.peers[qp->connection.peer], now);
  }
  return {};
}

// QP-7
Result<void, ModifyError> Connections::check(const ReadyToSendAttributes& attributes) {
  if (attributes.mpr == 0 || attributes.max_wimm == 0) return failure(ModifyError::kWindow);
  if (attributes.timeout > kTimeoutExponentMax || attributes.linear_retries > kLinearRetriesMax ||
      attributes.exponential_retries > kExponentialRetriesMax) {
    return failure(ModifyError::kRetry);
  }
  return {};
}

Result<void, ModifyError> Connections::to_ready_to_send(Qpn qpn, Instant now,
                                                        const ReadyToSendAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToReadyToSend)) {
    return failure(ModifyError::kTransition);
  }
  if (const auto result = check(attributes); !result) return failure(result.error());
  qp->requestor = Requestor(attributes);
  state_.peers[qp->connection.peer].congestion.expect_senders(attributes.senders);
  change_state(*qp, QueuePairState::kReadyToSend, now);
  return {};
}

void Connections::change_state(QueuePair& qp, QueuePairState state, Instant now) {
  qp.state = state;
  if (state_.context.tracing()) {
    state_.context.record({.when = now,
                           .kind = TraceKind::kQueuePair,
                           .qpn = qp.connection.local,
                           .value = static_cast<std::int64_t>(state)});
  }
}

// QP-41
Result<void, ModifyError> Connections::to_error(Qpn qpn, Instant now) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  qp->responder.flush(state_.context, qp->connection, Flush::kComplete);
  if (answers_requests(qp->state)) {
    qp->requestor.flush(state_.turn(*qp, now), {.status = WorkStatus::kFlushed}, Flush::kComplete);
    sending_.wake(state_.peers[qp->connection.peer]);  // its share of the window is free
  }
  change_state(*qp, QueuePairState::kError, now);
  return {};
}

// QP-42
Result<void, ModifyError> Connections::to_reset(Qpn qpn) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  disconnect(*qp, Flush::kForget, Instant{});
  qp->state = QueuePairState::kReset;
  qp->refusal.reset();
  return {};
}

// MRC 6.1 (QP-38): the protocol ends a queue pair.
void Connections::fail(QueuePair& qp, const Fatal& fatal, Instant now) {
  if (!next_state(qp.state, QueuePairInput::kFatal)) return;
  const Peer& peer = state_.peers[qp.connection.peer];
  state_.context.counters.add(Count::kQueuePairsFailed);
  Failure failure{.qpn = qp.connection.local,
                  .remote_qpn = qp.connection.remote,
                  .status = fatal.status,
                  .by_peer = fatal.by_peer,
                  .by_us = fatal.by_us,
                  .psn = fatal.psn.wrapped(),
                  .retries = qp.requestor.retries(),
                  .last_heard = peer.last_heard,
                  .last_feedback = peer.last_feedback};
  // What we refused is a PSN of the peer's.
  const auto ev = fatal.by_us ? std::nullopt : qp.requestor.path_of(state_.context, fatal.psn);
  if (ev) {
    failure.path_known = true;
    failure.ev = peer.paths.profile().entry(*ev).ev;
    failure.plane = peer.paths.profile().entry(*ev).plane;
  }
  state_.context.queue_event(failure);
  qp.requestor.flush(state_.turn(qp, now), fatal, Flush::kComplete);
  qp.responder.flush(state_.context, qp.connection, Flush::kComplete);
  sending_.wake(state_.peers[qp.connection.peer]);  // its share of the window is free
  change_state(qp, QueuePairState::kError, now);
}

}  // namespace openmrc::core
