// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues of verbs.
#include "openmrc/verbs/verbs_srq.h"

#include <algorithm>
#include <memory>

#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_events.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_work.h"

namespace openmrc::libmrc {

void SoftSharedQueue::Sink::on_event(const messages::Event& /*event*/) {
  queue_.limit = 0;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  event.element.srq = &queue_.verbs;
  push_async_event(queue_.verbs.context, event);
}

namespace soft_verbs {

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  const ibv_srq_attr& asked = attributes->attr;
  if (asked.max_wr == 0 || asked.max_wr > kWorkRequestsMax || asked.max_sge > kSgeMax) {
    return null(EINVAL);
  }
  const auto runtime = device_of(pd->context)->runtime();
  if (!runtime) return null(EIO);
  auto made = std::make_unique<SoftSharedQueue>();
  made->attributes = {
      .max_wr = asked.max_wr, .max_sge = std::max(asked.max_sge, 1U), .srq_limit = 0};
  auto queue = (*runtime)->create_shared_receive_queue(
      {.requests = made->attributes.max_wr, .segments = made->attributes.max_sge}, made->sink);
  if (!queue) return null(ENOMEM);
  made->runtime = std::move(*queue);
  made->verbs.context = pd->context;
  made->verbs.srq_context = attributes->srq_context;
  made->verbs.pd = pd;
  pthread_mutex_init(&made->verbs.mutex, nullptr);
  pthread_cond_init(&made->verbs.cond, nullptr);
  ++soft_domain(pd)->users;
  attributes->attr.max_wr = made->attributes.max_wr;
  attributes->attr.max_sge = made->attributes.max_sge;
  return &made.release()->verbs;
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  SoftSharedQueue& queue = soft(*srq);
  if ((mask & ~IBV_SRQ_LIMIT) != 0) return fail((mask & IBV_SRQ_MAX_WR) != 0 ? EOPNOTSUPP : EINVAL);
  if ((mask & IBV_SRQ_LIMIT) == 0) return 0;
  if (attributes->srq_limit > queue.attributes.max_wr) return fail(EINVAL);
  queue.limit = attributes->srq_limit;
  queue.runtime->set_limit(attributes->srq_limit);
  return 0;
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  *attributes = soft(*srq).attributes;
  attributes->srq_limit = soft(*srq).limit;
  return 0;
}

int ibv_destroy_srq(ibv_srq* srq) {
  SoftSharedQueue& queue = soft(*srq);
  if (queue.users.load() != 0) return fail(EBUSY);
  queue.runtime.reset();
  forget_async_events(srq->context, &queue);
  wait_for_acknowledgements(*srq, queue.events_fetched, srq->events_completed);
  --soft_domain(srq->pd)->users;
  pthread_cond_destroy(&srq->cond);
  pthread_mutex_destroy(&srq->mutex);
  delete &queue;
  return 0;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* first, ibv_recv_wr** bad) {
  if (in_forked_child()) {
    *bad = first;
    return fail(kForkedError);
  }
  const LocalMemory memory{device_of(srq->context)->memory(), soft_domain(srq->pd)->domain};
  return post_receives(memory, first, bad,
                       [&](auto batch) { return soft(*srq).runtime->post(batch); });
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
