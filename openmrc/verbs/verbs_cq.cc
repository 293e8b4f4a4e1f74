// SPDX-License-Identifier: BSD-3-Clause
// Completion queues and channels of verbs. Queue pairs of the soft device have those of libmrc, so
// nothing ever comes out of these; programs make them all the same.
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>

#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc::soft_verbs {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto made = std::make_unique<ibv_comp_channel>();
  made->context = context;
  made->fd = eventfd(0, EFD_CLOEXEC);
  return made->fd < 0 ? nullptr : made.release();
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  pthread_mutex_lock(&channel->context->mutex);
  const bool used = channel->refcnt != 0;
  pthread_mutex_unlock(&channel->context->mutex);
  if (used) return fail(EBUSY);
  close(channel->fd);
  delete channel;
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  if (cqe < 1 || cqe > kCqeMax || vector < 0 || vector >= context->num_comp_vectors) {
    return null(EINVAL);
  }
  auto* cq = new ibv_cq{};
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = cq_context;
  cq->cqe = cqe;
  pthread_mutex_init(&cq->mutex, nullptr);
  pthread_cond_init(&cq->cond, nullptr);
  if (channel != nullptr) {
    pthread_mutex_lock(&context->mutex);
    ++channel->refcnt;
    pthread_mutex_unlock(&context->mutex);
  }
  return cq;
}

int ibv_destroy_cq(ibv_cq* cq) {
  if (cq->channel != nullptr) {
    pthread_mutex_lock(&cq->context->mutex);
    --cq->channel->refcnt;
    pthread_mutex_unlock(&cq->context->mutex);
  }
  pthread_cond_destroy(&cq->cond);
  pthread_mutex_destroy(&cq->mutex);
  delete cq;
  return 0;
}

int poll_cq(ibv_cq* /*cq*/, int /*count*/, ibv_wc* /*completions*/) {
  return in_forked_child() ? -fail(kForkedError) : 0;
}
int req_notify_cq(ibv_cq* /*cq*/, int /*solicited_only*/) {
  return in_forked_child() ? fail(kForkedError) : 0;
}

// Waits for what does not come, or says EAGAIN if the descriptor is non-blocking.
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** /*cq*/, void** /*cq_context*/) {
  eventfd_t count = 0;
  while (eventfd_read(channel->fd, &count) == 0) {
  }
  return -1;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

}  // namespace openmrc::libmrc::soft_verbs
