// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/message_queue_pair.h"

#include <fmt/core.h>

#include <new>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/messages/limits.h"
#include "openmrc/profile/transport_profile.h"

namespace openmrc::host {
namespace {

Error refused(messages::CreateError error) {
  if (error == messages::CreateError::kNoQueue) {
    return {.what = "there is no such shared receive queue"};
  }
  return {.what = "the limit of queue pairs is reached, or its queues are too long",
          .remedy = "raise max_queue_pairs in openmrc.toml"};
}

// Posts each with `post` until one is refused. Memory that cannot be had is a queue that is full.
template <class Request, class Post>
SharedReceiveQueue::Posted post_all(std::span<const Request> requests, Post post) {
  SharedReceiveQueue::Posted posted;
  try {
    for (const Request& request : requests) {
      posted.last = post(request);
      if (!posted.last) break;
      ++posted.count;
    }
  } catch (const std::bad_alloc&) {
    posted.last = failure(messages::PostError::kFull);
  }
  return posted;
}

}  // namespace

SharedReceiveQueue::~SharedReceiveQueue() {
  if (!shard_.is_of_this_process()) return;
  shard_.attach(id_, nullptr);
  const bool destroyed = shard_.run_messages(
      [&](messages::Layer& layer, Instant) { return layer.destroy_shared_queue(id_); });
  OPENMRC_CHECK(destroyed, "a shared receive queue outlives its queue pairs");
}

SharedReceiveQueue::Posted SharedReceiveQueue::post(
    std::span<const messages::ReceiveRequest> receives) {
  return shard_.post_messages([&](messages::Layer& layer, Instant) {
    return post_all(receives, [&](const auto& one) { return layer.post_shared_receive(id_, one); });
  });
}

void SharedReceiveQueue::set_limit(std::size_t limit) {
  shard_.run_messages([&](messages::Layer& layer, Instant) { layer.set_shared_limit(id_, limit); });
}

MessageQueuePair::~MessageQueuePair() {
  const bool was_created = qpn_ != Qpn{};
  if (!was_created || !shard_.is_of_this_process()) return;
  shard_.attach(qpn_, nullptr);
  shard_.run_messages(
      [&](messages::Layer& layer, Instant) { return layer.destroy_queue_pair(qpn_); });
  host_.forget(qpn_);
}

Result<void, core::ModifyError> MessageQueuePair::to_init(const Access& access) {
  core::InitAttributes attributes = Host::init_attributes(domain_);
  attributes.remote_write = access.remote_write;
  return shard_.run_messages([&](messages::Layer& layer, Instant) {
    return layer.to_init(qpn_, attributes, access.messages);
  });
}

core::ReadyToSendAttributes MessageQueuePair::send_attributes() const {
  core::ReadyToSendAttributes send = profile::send_attributes(host_.config().transport);
  send.mpr = messages::kMpr;
  send.max_wimm = messages::kImmediatesMax;
  return send;
}

Result<void, core::ModifyError> MessageQueuePair::to_ready_to_recv(
    const Destination& destination, const Peer& peer,
    const messages::ResponderAttributes& attributes) {
  messages::ResponderAttributes responder = attributes;
  responder.answers = send_attributes();
  const core::ReadyToRecvAttributes recv = host_.attributes_to(
      destination, {.remote_qpn = peer.qpn,
                    .remote_psn = peer.psn,
                    .mtu = peer.mtu,
                    .mpr_dest = messages::kMpr,
                    .max_wimm_dest = messages::kImmediatesMax,
                    .places_in_order = host_.config().verbs.in_order_placement});
  Destination to = destination;
  const auto result = shard_.run_messages([&](messages::Layer& layer, Instant now) {
    return layer.to_ready_to_recv(qpn_, now, recv, responder);
  });
  if (result) peer_ = std::move(to);
  return result;
}

Result<void, core::ModifyError> MessageQueuePair::to_ready_to_send(
    Psn first_psn, const messages::RequesterAttributes& attributes) {
  core::ReadyToSendAttributes send = send_attributes();
  send.first_psn = first_psn;
  return shard_.run_messages([&](messages::Layer& layer, Instant now) {
    return layer.to_ready_to_send(qpn_, now, send, attributes);
  });
}

Result<void, core::ModifyError> MessageQueuePair::to_error() {
  return shard_.run_messages(
      [&](messages::Layer& layer, Instant now) { return layer.to_error(qpn_, now); });
}

Result<void, core::ModifyError> MessageQueuePair::to_reset() {
  return shard_.run_messages([&](messages::Layer& layer, Instant) { return layer.to_reset(qpn_); });
}

MessageQueuePair::Posted MessageQueuePair::post_sends(
    std::span<const messages::SendRequest> sends) {
  return shard_.post_messages([&](messages::Layer& layer, Instant) {
    return post_all(sends, [&](const auto& one) { return layer.post_send(qpn_, one); });
  });
}

MessageQueuePair::Posted MessageQueuePair::post_receives(
    std::span<const messages::ReceiveRequest> receives) {
  return shard_.post_messages([&](messages::Layer& layer, Instant) {
    return post_all(receives, [&](const auto& one) { return layer.post_receive(qpn_, one); });
  });
}

std::size_t MessageQueuePair::free_sends() const {
  return shard_.look_at_messages(
      [&](const messages::Layer& layer) { return layer.free_sends(qpn_); });
}

core::QueuePairState MessageQueuePair::state() const {
  return shard_.look_at_messages([&](const messages::Layer& layer) {
    return layer.state(qpn_).value_or(core::QueuePairState::kReset);
  });
}

std::optional<std::string> MessageQueuePair::failure_text() const {
  return host_.failure_text(qpn_, peer_);
}

Result<std::unique_ptr<SharedReceiveQueue>, Error> Host::create_shared_receive_queue(
    const messages::QueueOptions& options, MessageSink& sink) {
  Shard& shard = *shards_[next_shard_.fetch_add(1) % shards_.size()];
  const auto id = shard.run_messages(
      [&](messages::Layer& layer, Instant) { return layer.create_shared_queue(options); });
  if (!id) return failure(refused(id.error()));
  std::unique_ptr<SharedReceiveQueue> made(new SharedReceiveQueue(shard, *id));
  shard.attach(*id, &sink);
  return made;
}

Result<std::unique_ptr<MessageQueuePair>, Error> Host::create_message_queue_pair(
    const MessageQueuePairOptions& options) {
  OPENMRC_CHECK(options.sink != nullptr, "a queue pair reports to somebody");
  Shard& shard = options.shared != nullptr ? options.shared->shard_
                                           : *shards_[next_shard_.fetch_add(1) % shards_.size()];
  messages::QueuePairOptions queues = options.queues;
  if (options.shared != nullptr) queues.shared_queue = options.shared->id_;
  // First what needs memory: a queue pair that was created has an owner.
  std::unique_ptr<MessageQueuePair> made(
      new MessageQueuePair(*this, shard, options.domain.value_or(domain_)));
  const auto qpn = shard.run_messages(
      [&](messages::Layer& layer, Instant) { return layer.create_queue_pair(queues); });
  if (!qpn) return failure(refused(qpn.error()));
  made->qpn_ = *qpn;
  shard.attach(*qpn, options.sink);
  return made;
}

}  // namespace openmrc::host
