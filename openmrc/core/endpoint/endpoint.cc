// SPDX-License-Identifier: BSD-3-Clause
// Setting up: profiles, queue pairs, posting.
#include "openmrc/core/endpoint/endpoint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::core {
namespace {

// A number that was just freed is not given out again while packets to its last owner may still be
// in flight, if others are to be had.
constexpr std::size_t kFreeNumbersMin = 1024;

}  // namespace

Endpoint::Endpoint(const EndpointSettings& settings, std::uint64_t seed, TraceSink* trace)
    : context_(settings, trace),
      rng_(seed),
      local_ports_(PlaneMask::first(settings.addresses.size())),
      awaited_(static_cast<std::uint16_t>(rng_.next()), context_.settings.request_ids) {
  OPENMRC_CHECK(!settings.addresses.empty() && settings.addresses.size() <= kPlanesMax,
                "an endpoint has 1 to 31 ports");
  OPENMRC_CHECK(settings.first_qpn >= kFirstUsableQpn, "queue pair numbers 0 to 2 are reserved");
  OPENMRC_CHECK(
      settings.first_qpn.raw() + settings.limits.queue_pairs <= std::size_t{Qpn::kMax} + 1,
      "queue pair numbers have 24 bits");
  OPENMRC_CHECK(settings.ev_burst >= 1 && settings.ev_burst <= kEvBurstMax,
                "1 to 64 packets in a row take one EV");
}

Endpoint::~Endpoint() = default;

EvProfileId Endpoint::add_ev_profile(EvProfile profile) {
  return add_ev_profile(std::make_shared<const EvProfile>(std::move(profile)));
}

EvProfileId Endpoint::add_ev_profile(std::shared_ptr<const EvProfile> profile) {
  ev_profiles_.push_back(
      std::make_unique<ProfileEntry>(ProfileEntry{.profile = std::move(profile), .denied = {}}));
  return EvProfileId(static_cast<std::uint32_t>(ev_profiles_.size() - 1));
}

CcProfileId Endpoint::add_cc_profile(const CongestionSettings& settings) {
  cc_profiles_.push_back(settings);
  return CcProfileId(static_cast<std::uint32_t>(cc_profiles_.size() - 1));
}

const EvProfile& Endpoint::ev_profile(EvProfileId id) const {
  OPENMRC_CHECK(id.raw() < ev_profiles_.size(), "no such EV profile");
  return *ev_profiles_[id.raw()]->profile;
}

Result<Qpn, CreateError> Endpoint::create_queue_pair() {
  auto& all = queue_pairs_.all;
  const bool at_limit = all.size() >= context_.settings.limits.queue_pairs;
  if (at_limit && free_queue_pairs_.empty()) return failure(CreateError::kLimit);
  QueuePairIndex index = 0;
  if (at_limit || free_queue_pairs_.size() >= kFreeNumbersMin) {
    index = free_queue_pairs_.pop();
  } else {
    index = static_cast<QueuePairIndex>(all.size());
    all.emplace_back();
  }
  all[index] = std::make_unique<QueuePair>();
  all[index]->connection.local = Qpn(context_.settings.first_qpn.raw() + index);
  all[index]->connection.index = index;
  return all[index]->connection.local;
}

bool Endpoint::destroy_queue_pair(Qpn qpn) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return false;
  disconnect(*qp, Flush::kForget, Instant{});
  qp->destroyed = true;
  qp->state = QueuePairState::kReset;
  if (qp->queued == QueuePair::Queued::kNowhere) release(qp->connection.index);
  return true;
}

void Endpoint::release(QueuePairIndex index) {
  queue_pairs_.all[index].reset();
  free_queue_pairs_.push(index);
}

// Ends the connection, if there is one: what was posted, and the tie to the peer.
void Endpoint::disconnect(QueuePair& qp, Flush how, Instant now) {
  qp.responder.flush(context_, qp.connection.local, how);
  if (qp.connection.remote == Qpn{}) return;
  qp.requestor.flush(turn(qp, now), {}, how);
  leave_peer(qp);
}

void Endpoint::leave_peer(QueuePair& qp) {
  const PeerIndex index = qp.connection.peer;
  Peer& peer = peers_[index];
  // Whoever waits is looked at again; that also takes this one off the list.
  while (!peer.waiting.empty()) {
    QueuePair& waiting = queue_pairs_[peer.waiting.pop_front(queue_pairs_)];
    waiting.queued = QueuePair::Queued::kNowhere;
    make_ready(waiting);
  }
  qp.connection.remote = Qpn{};
  if (--peer.queue_pairs == 0) peers_.remove(index);
}

Result<void, ModifyError> Endpoint::to_init(Qpn qpn, const InitAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToInit)) return failure(ModifyError::kTransition);
  if (attributes.ev_profile.raw() >= ev_profiles_.size() ||
      attributes.cc_profile.raw() >= cc_profiles_.size()) {
    return failure(ModifyError::kProfile);
  }
  qp->init = attributes;
  qp->connection.domain = attributes.domain;
  qp->state = QueuePairState::kInit;
  return {};
}

Result<void, ModifyError> Endpoint::check(const InitAttributes& init,
                                          const ReadyToRecvAttributes& attributes) const {
  const std::size_t planes = context_.settings.addresses.size();
  if (init.ev_profile.raw() >= ev_profiles_.size() ||
      init.cc_profile.raw() >= cc_profiles_.size()) {
    return failure(ModifyError::kProfile);
  }
  if (attributes.remote_qpn < kFirstUsableQpn) return failure(ModifyError::kRemoteQpn);
  if (attributes.mtu < kMtuMin || attributes.mtu > kMtuMax) return failure(ModifyError::kMtu);
  if (attributes.mpr_dest == 0 || attributes.max_wimm_dest == 0) {
    return failure(ModifyError::kWindow);
  }
  if (attributes.remote_addresses.size() != planes ||
      ev_profile(init.ev_profile).planes() != planes) {
    return failure(ModifyError::kPlanes);
  }
  const bool any_ipv4 = std::any_of(attributes.remote_addresses.begin(),
                                    attributes.remote_addresses.end(), wire::is_mapped_ipv4);
  if (any_ipv4 && ev_profile(init.ev_profile).mode() != EvFormatMode::kUdp) {
    return failure(ModifyError::kEvFormat);
  }
  return {};
}

PeerIndex Endpoint::join_peer(const QueuePair& qp, const ReadyToRecvAttributes& attributes) {
  std::optional<PeerIndex> known;
  peers_.visit_address(attributes.remote_addresses[0], [&](PeerIndex index, const Peer& peer) {
    if (peer.addresses == attributes.remote_addresses &&
        peer.path_overlay == attributes.path_overlay && peer.ev_profile == qp.init.ev_profile &&
        peer.cc_profile == qp.init.cc_profile) {
      known = index;
    }
    return !known;
  });
  if (!known) {
    const ProfileEntry& entry = *ev_profiles_[qp.init.ev_profile.raw()];
    auto peer =
        std::make_unique<Peer>(*entry.profile, cc_profiles_[qp.init.cc_profile.raw()], rng_.next(),
                               context_.settings.ev_burst, context_.settings.path_policy);
    peer->serial = ++serial_;
    peer->addresses = attributes.remote_addresses;
    peer->is_ipv4 = wire::is_mapped_ipv4(attributes.remote_addresses[0]);
    peer->is_srv6 = entry.profile->mode() == EvFormatMode::kSrv6;
    peer->path_overlay = attributes.path_overlay;
    peer->ev_profile = qp.init.ev_profile;
    peer->cc_profile = qp.init.cc_profile;
    for (const EvIndex ev : entry.denied) peer->paths.apply(ev, EvInput::kDeny, {}, {});
    known = peers_.add(std::move(peer));
  }
  ++peers_[*known].queue_pairs;
  return *known;
}

Result<void, ModifyError> Endpoint::to_ready_to_recv(Qpn qpn, Instant now,
                                                     const ReadyToRecvAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToReadyToRecv)) {
    return failure(ModifyError::kTransition);
  }
  InitAttributes init = qp->init;
  init.ev_profile = attributes.ev_profile.value_or(init.ev_profile);
  init.cc_profile = attributes.cc_profile.value_or(init.cc_profile);
  if (const auto result = check(init, attributes); !result) return failure(result.error());
  qp->init = init;
  qp->connection.remote = attributes.remote_qpn;
  qp->connection.serial = ++serial_;
  qp->connection.mtu = attributes.mtu;
  qp->connection.dynamic_mpr = attributes.dynamic_mpr;
  qp->connection.peer_sends_trim_nacks = attributes.peer_sends_trim_nacks;
  qp->connection.peer = join_peer(*qp, attributes);
  qp->responder.connect(attributes);
  qp->refusal.reset();
  change_state(*qp, QueuePairState::kReadyToRecv, now);
  // A port of ours may be down, and a new peer does not know.
  if (local_ports_ != PlaneMask::first(planes())) {
    report_port_status(qp->connection.peer, peers_[qp->connection.peer], now);
  }
  return {};
}

Result<void, ModifyError> Endpoint::check(const ReadyToSendAttributes& attributes) {
  if (attributes.mpr == 0 || attributes.max_wimm == 0) return failure(ModifyError::kWindow);
  if (attributes.timeout > kTimeoutExponentMax || attributes.linear_retries > kLinearRetriesMax ||
      attributes.exponential_retries > kExponentialRetriesMax) {
    return failure(ModifyError::kRetry);
  }
  return {};
}

Result<void, ModifyError> Endpoint::to_ready_to_send(Qpn qpn, Instant now,
                                                     const ReadyToSendAttributes& attributes) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  if (!next_state(qp->state, QueuePairInput::kToReadyToSend)) {
    return failure(ModifyError::kTransition);
  }
  if (const auto result = check(attributes); !result) return failure(result.error());
  qp->requestor = Requestor(attributes);
  change_state(*qp, QueuePairState::kReadyToSend, now);
  return {};
}

void Endpoint::change_state(QueuePair& qp, QueuePairState state, Instant now) {
  qp.state = state;
  if (context_.tracing()) {
    context_.record({.when = now,
                     .kind = TraceKind::kQueuePair,
                     .qpn = qp.connection.local,
                     .value = static_cast<std::int64_t>(state)});
  }
}

Result<void, ModifyError> Endpoint::to_error(Qpn qpn, Instant now) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  qp->responder.flush(context_, qp->connection.local, Flush::kComplete);
  if (answers_requests(qp->state)) {
    qp->requestor.flush(turn(*qp, now), {.status = WorkStatus::kFlushed}, Flush::kComplete);
    wake_waiting(peers_[qp->connection.peer]);  // its share of the window is free
  }
  change_state(*qp, QueuePairState::kError, now);
  return {};
}

Result<void, ModifyError> Endpoint::to_reset(Qpn qpn) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(ModifyError::kNoQueuePair);
  disconnect(*qp, Flush::kForget, Instant{});
  qp->state = QueuePairState::kReset;
  qp->refusal.reset();
  return {};
}

// MRC 6.1: the protocol ends a queue pair.
void Endpoint::fail(QueuePair& qp, const Fatal& fatal, Instant now) {
  if (!next_state(qp.state, QueuePairInput::kFatal)) return;
  const Peer& peer = peers_[qp.connection.peer];
  context_.counters.add(Count::kQueuePairsFailed);
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
  const auto ev = fatal.by_us ? std::nullopt : qp.requestor.path_of(context_, fatal.psn);
  if (ev) {
    failure.path_known = true;
    failure.ev = peer.paths.profile().entry(*ev).ev;
    failure.plane = peer.paths.profile().entry(*ev).plane;
  }
  context_.queue_event(failure);
  qp.requestor.flush(turn(qp, now), fatal, Flush::kComplete);
  qp.responder.flush(context_, qp.connection.local, Flush::kComplete);
  wake_waiting(peers_[qp.connection.peer]);  // its share of the window is free
  change_state(qp, QueuePairState::kError, now);
}

std::optional<QueuePairState> Endpoint::state(Qpn qpn) const {
  const QueuePair* qp = find(qpn);
  if (qp == nullptr) return std::nullopt;
  return qp->state;
}

Result<void, PostError> Endpoint::post_write(Qpn qpn, Instant now, const WriteRequest& request) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(PostError::kNoQueuePair);
  if (qp->state != QueuePairState::kReadyToSend) return failure(PostError::kState);
  const std::uint32_t length = request.data.size();
  if (request.remote_address > std::numeric_limits<std::uint64_t>::max() - length) {
    return failure(PostError::kAddressWraps);
  }
  const PoolIndex index = context_.messages.take();
  if (index == kNoElement) return failure(PostError::kLimit);
  const std::uint32_t mtu = qp->connection.mtu;
  context_.messages[index] = {
      .id = request.id,
      .data = request.data.has_bytes() ? request.data.bytes().data() : nullptr,
      .remote_address = request.remote_address,
      .length = length,
      .packets = std::max(1U, static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu)),
      .rkey = request.rkey,
      .immediate = request.immediate.value_or(wire::Immediate{}),
      .has_immediate = request.immediate.has_value()};
  qp->requestor.post(turn(*qp, now), index);
  make_ready(*qp);
  return {};
}

Result<void, PostError> Endpoint::post_receive(Qpn qpn, WorkId id) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(PostError::kNoQueuePair);
  if (qp->state == QueuePairState::kReset || qp->state == QueuePairState::kError) {
    return failure(PostError::kState);
  }
  const PoolIndex index = context_.receives.take();
  if (index == kNoElement) return failure(PostError::kLimit);
  context_.receives[index].id = id;
  qp->responder.post_receive(context_, index);
  return {};
}

std::optional<Completion> Endpoint::poll_completion() {
  if (context_.completions.empty()) return std::nullopt;
  return context_.completions.pop();
}

std::optional<Event> Endpoint::poll_event() {
  if (context_.events.empty()) return std::nullopt;
  return context_.events.pop();
}

void Endpoint::set_plane_unwelcome(Plane plane, bool unwelcome) {
  if (unwelcome) {
    unwelcome_planes_.add(plane);
  } else {
    unwelcome_planes_.remove(plane);
  }
}

void Endpoint::set_ev_denied(Instant now, EvProfileId profile, EvIndex ev, bool denied) {
  OPENMRC_CHECK(profile.raw() < ev_profiles_.size() && ev.raw() < ev_profile(profile).size(),
                "no such EV");
  auto& list = ev_profiles_[profile.raw()]->denied;
  std::erase(list, ev);
  if (denied) list.push_back(ev);
  for (PeerIndex index = 0; index < peers_.size(); ++index) {
    Peer* peer = peers_.find(index);
    if (peer == nullptr || peer->ev_profile != profile) continue;
    change_ev(context_, index, *peer, ev, denied ? EvInput::kDeny : EvInput::kAllow, now);
    wake_waiting(*peer);
  }
}

bool Endpoint::offer_mpr(Qpn qpn, std::uint8_t mpr) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr || mpr == 0 || mpr * kPsnsPerMpr > qp->responder.window().range()) return false;
  qp->responder.offer_mpr(mpr);
  return true;
}

bool Endpoint::set_receiver_penalty(Qpn qpn, std::uint8_t penalty, bool restore) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr || penalty > 127) return false;
  qp->responder.set_receiver_penalty(penalty, restore);
  return true;
}

const QueuePair* Endpoint::queue_pair(Qpn qpn) const { return find(qpn); }

const Peer* Endpoint::peer_of(Qpn qpn) const {
  const QueuePair* qp = find(qpn);
  if (qp == nullptr || qp->connection.remote == Qpn{}) return nullptr;
  return &peers_[qp->connection.peer];
}

}  // namespace openmrc::core
