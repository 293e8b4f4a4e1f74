// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/layer.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace openmrc::messages {
namespace {

bool is_allowed(const QueueOptions& options) {
  return options.requests <= kWorkMax && options.segments <= kSegmentsMax;
}

}  // namespace

Layer::~Layer() {
  for (const auto& qp : queue_pairs_) {
    if (qp) endpoint_.destroy_queue_pair(qp->link.qpn);
  }
}

QueuePair* Layer::find(Qpn qpn) {
  const auto at = by_number_.find(qpn.raw());
  return at == by_number_.end() ? nullptr : queue_pairs_[at->second].get();
}

Result<Qpn, CreateError> Layer::create_queue_pair(const QueuePairOptions& options) {
  if (!is_allowed(options.sends) || !is_allowed(options.receives)) {
    return failure(CreateError::kLimit);
  }
  SharedQueue* shared = nullptr;
  if (options.shared_queue) {
    if (*options.shared_queue >= shared_.size()) return failure(CreateError::kNoQueue);
    shared = shared_[*options.shared_queue].get();
    if (shared == nullptr) return failure(CreateError::kNoQueue);
  }
  const auto index = free_.empty() ? static_cast<std::uint32_t>(queue_pairs_.size()) : free_.back();
  auto made =
      std::make_unique<QueuePair>(endpoint_, completions_, touched_, index, options, shared);
  const auto qpn = endpoint_.create_queue_pair(made.get());
  if (!qpn) return failure(CreateError::kLimit);
  made->link.qpn = *qpn;
  if (shared != nullptr) ++shared->sharers;
  if (free_.empty()) {
    queue_pairs_.push_back(std::move(made));
  } else {
    free_.pop_back();
    queue_pairs_[index] = std::move(made);
  }
  by_number_[qpn->raw()] = index;
  return *qpn;
}

bool Layer::destroy_queue_pair(Qpn qpn) {
  const auto at = by_number_.find(qpn.raw());
  if (at == by_number_.end()) return false;
  const std::uint32_t index = at->second;
  endpoint_.destroy_queue_pair(qpn);
  QueuePair& qp = *queue_pairs_[index];
  qp.forget();
  if (qp.shared != nullptr) --qp.shared->sharers;
  queue_pairs_[index].reset();
  free_.push_back(index);
  by_number_.erase(at);
  return true;
}

// ---- states ----

Result<void, core::ModifyError> Layer::to_init(Qpn qpn, const core::InitAttributes& attributes,
                                               const Access& access) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(core::ModifyError::kNoQueuePair);
  if (auto done = endpoint_.to_init(qpn, attributes); !done) return done;
  qp->responder.allow(attributes.domain, access);
  return {};
}

Result<void, core::ModifyError> Layer::to_ready_to_recv(
    Qpn qpn, Instant now, const core::ReadyToRecvAttributes& attributes,
    const ResponderAttributes& responder) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(core::ModifyError::kNoQueuePair);
  if (auto done = endpoint_.to_ready_to_recv(qpn, now, attributes); !done) return done;
  qp->link.peer_first_psn = attributes.remote_psn;
  qp->responder.connect(responder);
  return {};
}

Result<void, core::ModifyError> Layer::to_ready_to_send(
    Qpn qpn, Instant now, const core::ReadyToSendAttributes& attributes,
    const RequesterAttributes& requester) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(core::ModifyError::kNoQueuePair);
  // MSG-27: or it answers already, with the PSN that the peer expects.
  const auto answers = qp->responder.answers();
  const bool is_answering =
      endpoint_.state(qpn) == core::QueuePairState::kReadyToSend && !qp->ready_to_send;
  if (is_answering && answers->first_psn != attributes.first_psn) {
    return failure(core::ModifyError::kTransition);
  }
  if (!is_answering) {
    if (auto done = endpoint_.to_ready_to_send(qpn, now, attributes); !done) return done;
  }
  qp->ready_to_send = true;
  qp->requester.connect(requester);
  qp->touch();
  return {};
}

Result<void, core::ModifyError> Layer::to_error(Qpn qpn, Instant now) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(core::ModifyError::kNoQueuePair);
  if (auto done = endpoint_.to_error(qpn, now); !done) return done;
  if (!qp->flushed) fail(*qp, now);
  return {};
}

Result<void, core::ModifyError> Layer::to_reset(Qpn qpn) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(core::ModifyError::kNoQueuePair);
  if (auto done = endpoint_.to_reset(qpn); !done) return done;
  qp->forget();
  return {};
}

std::optional<core::QueuePairState> Layer::state(Qpn qpn) const {
  const auto of_endpoint = endpoint_.state(qpn);
  const auto at = by_number_.find(qpn.raw());
  const bool answers_only = of_endpoint == core::QueuePairState::kReadyToSend &&
                            at != by_number_.end() && !queue_pairs_[at->second]->ready_to_send;
  return answers_only ? core::QueuePairState::kReadyToRecv : of_endpoint;
}

// ---- work ----

Result<void, PostError> Layer::post_send(Qpn qpn, const SendRequest& request) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr) return failure(PostError::kNoQueuePair);
  const auto state = this->state(qpn);
  if (state != core::QueuePairState::kReadyToSend && state != core::QueuePairState::kError) {
    return failure(PostError::kState);
  }
  if (auto posted = qp->requester.post(request); !posted) return posted;
  if (qp->flushed) {
    qp->requester.flush(std::nullopt);
  } else {
    qp->touch();
  }
  return {};
}

std::size_t Layer::free_sends(Qpn qpn) const {
  const auto at = by_number_.find(qpn.raw());
  return at == by_number_.end() ? 0 : queue_pairs_[at->second]->requester.room();
}

Result<void, PostError> Layer::post_receive(Qpn qpn, const ReceiveRequest& request) {
  QueuePair* qp = find(qpn);
  if (qp == nullptr || qp->shared != nullptr) return failure(PostError::kNoQueuePair);
  if (endpoint_.state(qpn) == core::QueuePairState::kReset) return failure(PostError::kState);
  if (auto posted = qp->own_receives.post(request); !posted) return posted;
  if (qp->flushed) {
    qp->responder.flush();
  } else {
    qp->touch();
  }
  return {};
}

Result<SharedQueueId, CreateError> Layer::create_shared_queue(const QueueOptions& options) {
  if (!is_allowed(options)) return failure(CreateError::kLimit);
  const auto free = std::find(shared_.begin(), shared_.end(), nullptr);
  const auto id = static_cast<SharedQueueId>(free - shared_.begin());
  if (free == shared_.end()) shared_.emplace_back();
  shared_[id] = std::make_unique<SharedQueue>(options);
  return id;
}

bool Layer::destroy_shared_queue(SharedQueueId id) {
  if (id >= shared_.size() || shared_[id] == nullptr || shared_[id]->sharers > 0) return false;
  shared_[id].reset();
  return true;
}

Result<void, PostError> Layer::post_shared_receive(SharedQueueId id,
                                                   const ReceiveRequest& request) {
  if (id >= shared_.size() || shared_[id] == nullptr) return failure(PostError::kNoQueuePair);
  SharedQueue& shared = *shared_[id];
  if (auto posted = shared.receives.post(request); !posted) return posted;
  while (!shared.lacking.empty()) {
    QueuePair* qp = queue_pairs_[shared.lacking.pop()].get();
    if (qp == nullptr || qp->shared != &shared) continue;
    qp->is_lacking = false;
    qp->touch();
  }
  return {};
}

bool Layer::set_shared_limit(SharedQueueId id, std::size_t limit) {
  if (id >= shared_.size() || shared_[id] == nullptr) return false;
  shared_[id]->limit = limit;
  return true;
}

// MSG-39
bool Layer::is_read_from(RKey key) const {
  return std::ranges::any_of(queue_pairs_, [&](const auto& qp) {
    return qp && !qp->flushed && qp->responder.reads_from(key);
  });
}

void Layer::fail_readers(Instant now, RKey key) {
  for (const auto& qp : queue_pairs_) {
    if (!qp || qp->flushed || !qp->responder.reads_from(key)) continue;
    (void)endpoint_.to_error(qp->link.qpn, now);
    fail(*qp, now);
  }
}

// ---- what happened ----

bool Layer::handle_completion(const core::Completion& completion) {
  QueuePair* qp = find(completion.qpn);
  if (qp == nullptr) return false;
  qp->on_completion(completion);
  return true;
}

bool Layer::handle_event(const core::Event& event) {
  const auto* failed = std::get_if<core::Failure>(&event);
  QueuePair* qp = failed == nullptr ? nullptr : find(failed->qpn);
  if (qp == nullptr) return false;
  qp->broken = true;
  qp->touch();
  return true;
}

void Layer::progress(Instant now) {
  while (const auto due = timers_.pop_due(now)) {
    QueuePair* qp =
        due->owner.index < queue_pairs_.size() ? queue_pairs_[due->owner.index].get() : nullptr;
    if (qp != nullptr && core::TimerQueue::accept(qp->timer, *due)) qp->touch();
  }
  use_room(now);
  // What is touched meanwhile is looked at the next time: it waits for the endpoint.
  for (std::size_t left = touched_.size(); left > 0; --left) look_at(touched_.pop(), now);
}

// MSG-28: who had to wait longest is first, and goes to the end if there was too little for it.
// Room comes of any work of the endpoint that ends, also of queue pairs that are not the layer's.
void Layer::use_room(Instant now) {
  for (std::size_t left = without_room_.size(); left > 0 && endpoint_.has_room_for_write();
       --left) {
    const std::uint32_t index = without_room_.pop();
    if (queue_pairs_[index] != nullptr) queue_pairs_[index]->awaits_room = false;
    look_at(index, now);
  }
}

void Layer::look_at(std::uint32_t index, Instant now) {
  QueuePair* qp = queue_pairs_[index].get();
  if (qp == nullptr) return;
  qp->untouch();
  if (qp->flushed) return;
  if (!qp->progress(now)) return fail(*qp, now);
  if (qp->link.lacks_room && !qp->awaits_room) {
    qp->awaits_room = true;
    without_room_.push(index);
  }
  const Instant deadline = qp->requester.deadline();
  if (deadline != core::kNever) {
    timers_.arm(qp->timer, {core::TimerOwner::Kind::kQueuePair, index}, deadline);
  }
  if (qp->shared != nullptr) wait_for_receives(index, *qp);
}

void Layer::wait_for_receives(std::uint32_t index, QueuePair& qp) {
  SharedQueue& shared = *qp.shared;
  if (qp.responder.lacks_receives() && !qp.is_lacking) {
    qp.is_lacking = true;
    shared.lacking.push(index);
  }
  if (shared.receives.size() >= shared.limit) return;
  shared.limit = 0;
  const auto at = std::find_if(shared_.begin(), shared_.end(),
                               [&](const auto& queue) { return queue.get() == &shared; });
  events_.push({.kind = EventKind::kReceivesLow,
                .shared_queue = static_cast<std::uint32_t>(at - shared_.begin())});
}

// MSG-43: the queue pair is in ERROR, if it was not before.
void Layer::fail(QueuePair& qp, Instant now) {
  const Qpn qpn = qp.link.qpn;
  const bool was_error = endpoint_.state(qpn) == core::QueuePairState::kError;
  if (!was_error) (void)endpoint_.to_error(qpn, now);
  qp.broken = true;
  qp.flush();
  events_.push({.kind = EventKind::kFailed, .qpn = qpn});
  tell_of_refusal(qp);
  // MSG-44
  if (qp.shared != nullptr) events_.push({.kind = EventKind::kLastReceiveTaken, .qpn = qpn});
}

void Layer::tell_of_refusal(const QueuePair& qp) {
  const core::QueuePair* of_core = endpoint_.queue_pair(qp.link.qpn);
  if (of_core == nullptr || !of_core->refusal) return;
  const auto syndrome = of_core->refusal->syndrome;
  if (syndrome == wire::AckSyndrome::kNakRemoteOperation) return;
  events_.push({.kind = syndrome == wire::AckSyndrome::kNakRemoteAccess
                            ? EventKind::kAccessRefused
                            : EventKind::kRequestRefused,
                .qpn = qp.link.qpn});
}

std::optional<Completion> Layer::poll_completion() {
  if (completions_.empty()) return std::nullopt;
  return completions_.pop();
}

std::optional<Event> Layer::poll_event() {
  if (events_.empty()) return std::nullopt;
  return events_.pop();
}

}  // namespace openmrc::messages
