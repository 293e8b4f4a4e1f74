// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous events of verbs. The soft device has none to report: what befalls its queue pairs is
// told by libmrc. Programs have a thread that waits for them until the context is closed.
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

// Kept by whoever waits, for the context may go meanwhile. The descriptor becomes readable when the
// context is closed, and stays so.
struct Waiting {
  Waiting() = default;
  ~Waiting() {
    if (fd >= 0) close(fd);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  int fd = -1;
};

struct AllWaiting {
  std::mutex mutex;
  std::unordered_map<const ibv_context*, std::shared_ptr<Waiting>> of_context;
};

AllWaiting& all() {
  static auto& waiting = *new AllWaiting;  // threads may outlive main()
  return waiting;
}

std::shared_ptr<Waiting> find(const ibv_context* context) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().of_context.find(context);
  return found == all().of_context.end() ? nullptr : found->second;
}

}  // namespace

bool is_soft(const ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: return is_soft(event->element.cq);
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: return is_soft(event->element.qp);
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: return is_soft(event->element.srq);
    case IBV_EVENT_WQ_FATAL: return is_soft(event->element.wq);
    default: return true;
  }
}

namespace soft_verbs {

int open_async_events(const ibv_context* context) {
  auto waiting = std::make_shared<Waiting>();
  waiting->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (waiting->fd < 0) return -1;
  const std::lock_guard lock(all().mutex);
  all().of_context.insert_or_assign(context, waiting);
  return waiting->fd;
}

void close_async_events(const ibv_context* context) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().of_context.find(context);
  eventfd_write(found->second->fd, 1);
  all().of_context.erase(found);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* /*event*/) {
  const std::shared_ptr<Waiting> waiting = find(context);
  if (waiting == nullptr) {
    errno = EBADF;
    return -1;
  }
  eventfd_t count = 0;
  if (eventfd_read(waiting->fd, &count) != 0) return -1;  // interrupted, or non-blocking
  eventfd_write(waiting->fd, count);                      // the next one that waits
  errno = EBADF;
  return -1;
}

void ibv_ack_async_event(ibv_async_event* /*event*/) {}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
