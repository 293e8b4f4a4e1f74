// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous events of verbs: of ports, queue pairs and shared receive queues. Programs have a
// thread that waits for them until the context is closed.
#include "openmrc/verbs/verbs_events.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "openmrc/verbs/verbs_cq.h"
#include "openmrc/verbs/verbs_qp.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_srq.h"

namespace openmrc::libmrc {
namespace {

// An event's object, and where it counts what was fetched and what was acknowledged.
struct Counted {
  void* object = nullptr;  // null: it is about a port
  pthread_mutex_t* mutex = nullptr;
  pthread_cond_t* cond = nullptr;
  std::uint32_t* fetched = nullptr;
  std::uint32_t* acknowledged = nullptr;
};

Counted counted(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR: {
      SoftCompletionQueue& cq = soft(*event.element.cq);
      return {&cq, &cq.verbs.mutex, &cq.verbs.cond, &cq.async_events_fetched,
              &cq.verbs.async_events_completed};
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
      SoftQueuePair& qp = soft(*event.element.qp);
      return {&qp, &qp.verbs.mutex, &qp.verbs.cond, &qp.events_fetched, &qp.verbs.events_completed};
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
      SoftSharedQueue& srq = soft(*event.element.srq);
      return {&srq, &srq.verbs.mutex, &srq.verbs.cond, &srq.events_fetched,
              &srq.verbs.events_completed};
    }
    default: return {};
  }
}

// Kept by whoever waits, for the context may go meanwhile. The descriptor counts the events; when
// the context is closed it becomes readable, and stays so.
class AsyncEvents final : public Device::Listener {
 public:
  AsyncEvents() : fd_(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)) {}
  ~AsyncEvents() {
    if (fd_ >= 0) ::close(fd_);
  }
  AsyncEvents(const AsyncEvents&) = delete;
  AsyncEvents& operator=(const AsyncEvents&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

  void push(const ibv_async_event& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    (void)eventfd_write(fd_, 1);
  }
  void forget(const void* object) {
    const std::lock_guard lock(mutex_);
    std::erase_if(events_, [&](const auto& event) { return counted(event).object == object; });
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    (void)eventfd_write(fd_, 1);
  }
  // Returns 0 or, with errno, -1: interrupted, non-blocking, or closed.
  int next(ibv_async_event& event) {
    for (;;) {
      eventfd_t one = 0;
      if (eventfd_read(fd_, &one) != 0) return -1;
      const std::lock_guard lock(mutex_);
      if (closed_) {
        (void)eventfd_write(fd_, one);  // the next one that waits
        errno = EBADF;
        return -1;
      }
      if (events_.empty()) continue;  // its object has gone meanwhile
      event = events_.front();
      events_.pop_front();
      if (const Counted at = counted(event); at.object != nullptr) {
        pthread_mutex_lock(at.mutex);
        ++*at.fetched;
        pthread_mutex_unlock(at.mutex);
      }
      return 0;
    }
  }

  // Completions say what befell a queue pair.
  void on_event(const core::Event& /*event*/) override {}
  void on_port(Plane plane, bool up) override {
    ibv_async_event event{};
    event.event_type = up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR;
    event.element.port_num = plane.raw() + 1;
    push(event);
  }

 private:
  const int fd_;
  std::mutex mutex_;
  std::deque<ibv_async_event> events_;
  bool closed_ = false;
};

struct AllEvents {
  std::mutex mutex;
  std::unordered_map<const ibv_context*, std::shared_ptr<AsyncEvents>> of_context;
};

AllEvents& all() {
  static auto& events = *new AllEvents;  // threads may outlive main()
  return events;
}

std::shared_ptr<AsyncEvents> find(const ibv_context* context) {
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

void push_async_event(const ibv_context* context, const ibv_async_event& event) {
  if (const auto events = find(context)) events->push(event);
}

void forget_async_events(const ibv_context* context, const void* object) {
  if (const auto events = find(context)) events->forget(object);
}

namespace soft_verbs {

int open_async_events(const ibv_context* context) {
  auto events = std::make_shared<AsyncEvents>();
  if (events->fd() < 0) return -1;
  const std::lock_guard lock(all().mutex);
  Device::of_process()->add_listener(*events);
  all().of_context.insert_or_assign(context, events);
  return events->fd();
}

void close_async_events(const ibv_context* context) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().of_context.find(context);
  Device::of_process()->remove_listener(*found->second);
  found->second->close();
  all().of_context.erase(found);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const std::shared_ptr<AsyncEvents> events = find(context);
  if (events != nullptr) return events->next(*event);
  errno = EBADF;
  return -1;
}

void ibv_ack_async_event(ibv_async_event* event) {
  const Counted at = counted(*event);
  if (at.object == nullptr) return;
  pthread_mutex_lock(at.mutex);
  ++*at.acknowledged;
  pthread_cond_signal(at.cond);
  pthread_mutex_unlock(at.mutex);
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
