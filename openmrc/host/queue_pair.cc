// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/queue_pair.h"

#include <fmt/core.h>

#include <mutex>
#include <new>
#include <utility>

#include "openmrc/host/destination.h"
#include "openmrc/host/host.h"

namespace openmrc::host {
namespace {

// What memory limits, limits work: to whoever posts it is all the same.
template <class Post>
Result<void, PostError> within_memory(Post post) {
  try {
    return post();
  } catch (const std::bad_alloc&) {
    return failure(PostError::kLimit);
  }
}

}  // namespace

QueuePair::~QueuePair() {
  const bool was_created = qpn_ != Qpn{};
  if (!was_created || !shard_.is_of_this_process()) return;
  shard_.attach(qpn_, nullptr, nullptr);
  shard_.run([&](core::Endpoint& endpoint, Instant) { endpoint.destroy_queue_pair(qpn_); });
  host_.forget(qpn_);
}

ConnectionInfo QueuePair::connection_info() const {
  ConnectionInfo info = own_info(host_);
  info.qpn = qpn_.raw();
  info.psn = psn_.raw();
  return info;
}

// QP-9
Result<void, Error> QueuePair::connect(const ConnectionInfo& peer) {
  const Config& config = host_.config();
  auto to = destination_of(host_, peer);
  if (!to) return failure(std::move(to.error()));
  peer_ = *to;
  const ReceiveAttributes recv{.remote_qpn = Qpn(peer.qpn),
                               .remote_psn = Psn(peer.psn),
                               .mtu = peer.mtu,
                               .mpr_dest = config.transport.mpr,
                               .max_wimm_dest = config.transport.max_wimm,
                               .dynamic_mpr = config.transport.dynamic_mpr && peer.dynamic_mpr};
  core::ReadyToSendAttributes send = profile::send_attributes(config.transport);
  send.first_psn = psn_;
  send.mpr = peer.mpr;
  send.max_wimm = peer.max_wimm;
  auto result = to_init();
  if (result) result = to_ready_to_recv(*to, recv);
  if (result) result = to_ready_to_send(send);
  if (result) return {};
  return failure(
      Error{.what = fmt::format("queue pair {:#x} cannot be connected to {} {:#x}: {}", qpn_.raw(),
                                peer.host, peer.qpn, text_of(result.error()))});
}

Result<void, core::ModifyError> QueuePair::to_init() {
  return shard_.run([&](core::Endpoint& endpoint, Instant) {
    return endpoint.to_init(qpn_, Host::init_attributes(domain_));
  });
}

Result<void, core::ModifyError> QueuePair::to_ready_to_recv(const Destination& peer,
                                                            const ReceiveAttributes& attributes) {
  const core::ReadyToRecvAttributes recv = host_.attributes_to(peer, attributes);
  Destination to = peer;
  const auto result = shard_.run([&](core::Endpoint& endpoint, Instant now) {
    return endpoint.to_ready_to_recv(qpn_, now, recv);
  });
  if (!result) return failure(result.error());
  peer_ = std::move(to);
  return {};
}

Result<void, core::ModifyError> QueuePair::to_ready_to_send(
    const core::ReadyToSendAttributes& attributes) {
  return shard_.run([&](core::Endpoint& endpoint, Instant now) {
    return endpoint.to_ready_to_send(qpn_, now, attributes);
  });
}

Result<void, core::ModifyError> QueuePair::to_error() {
  return shard_.run(
      [&](core::Endpoint& endpoint, Instant now) { return endpoint.to_error(qpn_, now); });
}

Result<void, core::ModifyError> QueuePair::to_reset() {
  return shard_.run([&](core::Endpoint& endpoint, Instant) { return endpoint.to_reset(qpn_); });
}

Result<void, PostError> QueuePair::post_write(const Write& write) {
  return post_writes({&write, 1}).last;
}

QueuePair::Posted QueuePair::post_writes(std::span<const Write> writes) {
  return shard_.post([&](core::Endpoint& endpoint, Instant now) {
    Posted posted;
    for (const Write& write : writes) {
      core::WriteRequest request{.id = write.id,
                                 .data = wire::Payload::of_bytes(write.data),
                                 .remote_address = write.remote_address,
                                 .rkey = write.rkey};
      if (write.immediate) request.immediate = wire::Immediate(*write.immediate);
      posted.last = within_memory([&] { return endpoint.post_write(qpn_, now, request); });
      if (!posted.last) break;
      ++posted.count;
    }
    return posted;
  });
}

Result<void, PostError> QueuePair::post_receive(WorkId id) {
  return shard_.post(
      [&](core::Endpoint& endpoint, Instant) {
        return within_memory([&] { return endpoint.post_receive(qpn_, id); });
      },
      Shard::Send::kLater);
}

core::QueuePairState QueuePair::state() const {
  return shard_.look([&](const core::Endpoint& endpoint) {
    return endpoint.state(qpn_).value_or(core::QueuePairState::kReset);
  });
}

std::optional<std::string> QueuePair::failure_text() const {
  return host_.failure_text(qpn_, peer_);
}

std::vector<PlanePaths> QueuePair::paths() const {
  return shard_.look([&](const core::Endpoint& endpoint) {
    std::vector<PlanePaths> planes;
    const core::Peer* peer = endpoint.peer_of(qpn_);
    if (peer == nullptr) return planes;
    const core::EvProfile& profile = peer->paths.profile();
    planes.resize(profile.planes());
    for (std::size_t i = 0; i < planes.size(); ++i) {
      planes[i].peer_is_down = !peer->remote_ports.has(Plane(static_cast<std::uint8_t>(i)));
    }
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const core::EvIndex ev(static_cast<std::uint8_t>(i));
      ++planes[profile.entry(ev).plane.raw()].evs[static_cast<std::size_t>(peer->paths.state(ev))];
    }
    return planes;
  });
}

std::optional<SendWindow> QueuePair::send_window() const {
  return shard_.look([&](const core::Endpoint& endpoint) -> std::optional<SendWindow> {
    const core::QueuePair* qp = endpoint.queue_pair(qpn_);
    if (qp == nullptr || qp->state != core::QueuePairState::kReadyToSend) return std::nullopt;
    return SendWindow{.psns = qp->requestor.psn_range(),
                      .bytes = endpoint.peer_of(qpn_)->congestion.window()};
  });
}

bool QueuePair::offer_mpr(std::uint8_t mpr) {
  return shard_.run(
      [&](core::Endpoint& endpoint, Instant) { return endpoint.offer_mpr(qpn_, mpr); });
}

bool QueuePair::set_receiver_penalty(std::uint8_t penalty) {
  return shard_.run([&](core::Endpoint& endpoint, Instant) {
    return endpoint.set_receiver_penalty(qpn_, penalty, penalty == 0);
  });
}

bool QueuePair::probe_path(core::EvIndex ev, std::uint32_t tag) {
  return shard_.run([&](core::Endpoint& endpoint, Instant now) {
    return endpoint.probe_path(qpn_, now, ev, tag);
  });
}

std::vector<core::ProbeAnswer> QueuePair::take_probe_answers() {
  const std::lock_guard lock(host_.events_mutex_);
  return std::exchange(host_.probe_answers_[qpn_.raw()], {});
}

}  // namespace openmrc::host
