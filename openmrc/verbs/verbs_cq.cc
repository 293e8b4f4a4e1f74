// SPDX-License-Identifier: BSD-3-Clause
// Completion queues and channels of verbs.
#include "openmrc/verbs/verbs_cq.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "openmrc/host/clock.h"
#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_events.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {

void SoftChannel::push(SoftCompletionQueue& cq) {
  const std::lock_guard lock(mutex_);
  reported_.push_back(&cq);
  (void)eventfd_write(verbs.fd, 1);
}

SoftCompletionQueue* SoftChannel::next() {
  for (;;) {
    eventfd_t one = 0;
    // Waits here, or not, as the application has set the descriptor.
    if (eventfd_read(verbs.fd, &one) != 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (reported_.empty()) continue;  // its queue has gone meanwhile
    SoftCompletionQueue* cq = reported_.front();
    reported_.pop_front();
    pthread_mutex_lock(&cq->verbs.mutex);
    ++cq->completion_events_fetched;
    pthread_mutex_unlock(&cq->verbs.mutex);
    return cq;
  }
}

void SoftChannel::forget(const SoftCompletionQueue& cq) {
  const std::lock_guard lock(mutex_);
  std::erase(reported_, &cq);
}

void SoftCompletionQueue::push(const ibv_wc& completion, bool solicited) {
  const std::lock_guard lock(mutex_);
  if (completions_.size() >= static_cast<std::size_t>(verbs.cqe)) {
    // As hardware does, which has no more room than the program asked for.
    if (!overrun_) {
      ibv_async_event event{};
      event.event_type = IBV_EVENT_CQ_ERR;
      event.element.cq = &verbs;
      push_async_event(verbs.context, event);
    }
    overrun_ = true;
    return;
  }
  completions_.push({completion, stamps ? host::now() : Instant{}});
  ++pushed_;
  size_.store(completions_.size(), std::memory_order_release);
  if (verbs.channel == nullptr) return;
  if (armed_ == Armed::kAny || (armed_ == Armed::kSolicited && solicited)) return report();
  unreported_ = pushed_;
  if (solicited) unreported_solicited_ = pushed_;
}

// The caller holds the lock.
void SoftCompletionQueue::report() {
  armed_ = Armed::kNo;
  unreported_ = unreported_solicited_ = 0;
  soft(*verbs.channel).push(*this);
}

template <class Use>
std::size_t SoftCompletionQueue::take(std::size_t at_most, Use use) {
  if (size_.load(std::memory_order_acquire) == 0) return 0;
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(at_most, completions_.size());
  for (std::size_t i = 0; i < count; ++i) use(completions_.pop());
  popped_ += count;
  size_.store(completions_.size(), std::memory_order_release);
  return count;
}

// Who polls has time: no other thread has to be woken for what has arrived.
void SoftCompletionQueue::make_progress() {
  host::Host* runtime = runtime_.load(std::memory_order_acquire);
  if (runtime != nullptr) runtime->help();
}

int SoftCompletionQueue::poll(std::span<ibv_wc> into) {
  const auto take_all = [&] {
    auto to = into.begin();
    return take(into.size(), [&](const Entry& entry) { *to++ = entry.completion; });
  };
  std::size_t count = take_all();
  if (count == 0 && !into.empty()) {
    make_progress();
    count = take_all();
  }
  return static_cast<int>(count);
}

bool SoftCompletionQueue::start_poll() {
  poll_mutex_.lock();
  if (next_poll()) return true;
  make_progress();
  if (next_poll()) return true;
  poll_mutex_.unlock();
  return false;
}

bool SoftCompletionQueue::next_poll() {
  if (take(1, [this](const Entry& entry) { current_ = entry; }) == 0) return false;
  extended.wr_id = current_.completion.wr_id;
  extended.status = current_.completion.status;
  return true;
}

void SoftCompletionQueue::arm(bool solicited_only) {
  const std::lock_guard lock(mutex_);
  if (verbs.channel == nullptr) return;
  if (armed_ != Armed::kAny) armed_ = solicited_only ? Armed::kSolicited : Armed::kAny;
  if ((armed_ == Armed::kAny ? unreported_ : unreported_solicited_) > popped_) report();
}

void SoftCompletionQueue::forget(std::uint32_t qpn) {
  const std::lock_guard lock(mutex_);
  for (std::size_t left = completions_.size(); left > 0; --left) {
    const Entry entry = completions_.pop();
    if (entry.completion.qp_num != qpn) completions_.push(entry);
  }
  popped_ = pushed_ - completions_.size();
  size_.store(completions_.size(), std::memory_order_release);
}

namespace {

// Adapters have more than was asked for, and programs have come to need it: ib_send_lat -e asks for
// one, and has two in its queue.
int entries_for(int asked) {
  constexpr unsigned kLeast = 64;
  return static_cast<int>(std::max(kLeast, std::bit_ceil(static_cast<unsigned>(asked) + 1)) - 1);
}

}  // namespace

namespace soft_verbs {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto made = std::make_unique<SoftChannel>();
  made->verbs.context = context;
  made->verbs.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  return made->verbs.fd < 0 ? nullptr : &made.release()->verbs;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  pthread_mutex_lock(&channel->context->mutex);
  const bool used = channel->refcnt != 0;
  pthread_mutex_unlock(&channel->context->mutex);
  if (used) return fail(EBUSY);
  close(channel->fd);
  delete &soft(*channel);
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  if (cqe < 1 || cqe > kCqeMax || vector < 0 || vector >= context->num_comp_vectors) {
    return null(EINVAL);
  }
  auto made = std::make_unique<SoftCompletionQueue>();
  ibv_cq& cq = made->verbs;
  cq.context = context;
  cq.channel = channel;
  cq.cq_context = cq_context;
  cq.cqe = entries_for(cqe);
  pthread_mutex_init(&cq.mutex, nullptr);
  pthread_cond_init(&cq.cond, nullptr);
  if (channel != nullptr) {
    pthread_mutex_lock(&context->mutex);
    ++channel->refcnt;
    pthread_mutex_unlock(&context->mutex);
  }
  return ibv_cq_ex_to_cq(&made.release()->extended);
}

int ibv_destroy_cq(ibv_cq* cq) {
  SoftCompletionQueue& queue = soft(*cq);
  if (queue.users.load() != 0) return fail(EBUSY);
  if (cq->channel != nullptr) {
    soft(*cq->channel).forget(queue);
    pthread_mutex_lock(&cq->context->mutex);
    --cq->channel->refcnt;
    pthread_mutex_unlock(&cq->context->mutex);
  }
  forget_async_events(cq->context, &queue);
  wait_for_acknowledgements(*cq, queue.completion_events_fetched, cq->comp_events_completed);
  wait_for_acknowledgements(*cq, queue.async_events_fetched, cq->async_events_completed);
  pthread_cond_destroy(&cq->cond);
  pthread_mutex_destroy(&cq->mutex);
  delete &queue;
  return 0;
}

int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  if (in_forked_child()) return -fail(kForkedError);
  if (count < 0) return -fail(EINVAL);
  return soft(*cq).poll({completions, static_cast<std::size_t>(count)});
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  if (in_forked_child()) return fail(kForkedError);
  soft(*cq).arm(solicited_only != 0);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  SoftCompletionQueue* next = soft(*channel).next();
  if (next == nullptr) return -1;
  *cq = &next->verbs;
  *cq_context = next->verbs.cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
