// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/context.h"

#include <variant>

#include "openmrc/libmrc/queue_pair.h"

void mrc_context::on_event(const openmrc::core::Event& event) {
  const auto* failed = std::get_if<openmrc::core::Failure>(&event);
  if (failed == nullptr) return;
  const std::lock_guard lock(qps_mutex_);
  const auto found = qps_.find(failed->qpn.raw());
  if (found == qps_.end()) return;
  mrc_async_event told{};
  told.element.qp = found->second;
  told.event_type = failed->by_us ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_FATAL;
  push_event(told);
}

void mrc_context::add(mrc_qp& qp) {
  const std::lock_guard lock(qps_mutex_);
  qps_[qp.number()] = &qp;
}

void mrc_context::remove(const mrc_qp& qp) {
  {
    const std::lock_guard lock(qps_mutex_);
    qps_.erase(qp.number());
  }
  const std::lock_guard lock(events_mutex_);
  std::erase_if(events_, [&](const mrc_async_event& event) { return event.element.qp == &qp; });
}

void mrc_context::push_event(const mrc_async_event& event) {
  const std::lock_guard lock(events_mutex_);
  events_.push_back(event);
  event_came_.notify_one();
}

bool mrc_context::next_event(mrc_async_event& event) {
  std::unique_lock lock(events_mutex_);
  ++waiting_;
  event_came_.wait(lock, [this] { return ended_ || !events_.empty(); });
  --waiting_;
  if (ended_) {
    event_came_.notify_all();  // who ends may be waiting for this
    return false;
  }
  event = events_.front();
  events_.pop_front();
  // Before anybody else can look: who destroys the queue pair has to wait from now on.
  event.element.qp->events.fetched();
  return true;
}

void mrc_context::end_events() {
  std::unique_lock lock(events_mutex_);
  ended_ = true;
  event_came_.notify_all();
  event_came_.wait(lock, [this] { return waiting_ == 0; });
}
