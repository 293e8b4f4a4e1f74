// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/completion_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "openmrc/base/check.h"
#include "openmrc/host/clock.h"
#include "openmrc/host/shard.h"

namespace openmrc::host {

CompletionQueue::~CompletionQueue() {
  if (event_ >= 0) close(event_);
}

// The caller holds the lock.
std::size_t CompletionQueue::take(std::span<Completion> into) {
  const std::size_t count = std::min(into.size(), completions_.size());
  std::ranges::generate(into.first(count), [this] { return completions_.pop(); });
  return count;
}

std::size_t CompletionQueue::poll(std::span<Completion> into) {
  home_.check();
  if (driver_ != nullptr) driver_->progress();
  const std::lock_guard lock(mutex_);
  return take(into);
}

std::size_t CompletionQueue::wait(std::span<Completion> into, Duration timeout) {
  home_.check();
  if (driver_ == nullptr) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::chrono::nanoseconds(timeout.raw()),
                      [this] { return !completions_.empty(); });
    return take(into);
  }
  const Instant end = now() + timeout;
  for (;;) {
    if (const std::size_t count = poll(into); count > 0) return count;
    const Instant at = now();
    if (at >= end) return 0;
    driver_->sleep(end - at);
  }
}

int CompletionQueue::descriptor() {
  if (driver_ != nullptr) return driver_->descriptor();
  const std::lock_guard lock(mutex_);
  if (event_ < 0) {
    event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    OPENMRC_CHECK(event_ >= 0, "the process may open another descriptor");
  }
  return event_;
}

void CompletionQueue::arm() {
  home_.check();
  if (driver_ != nullptr) return;
  if (alarm_) {
    const std::lock_guard lock(mutex_);
    armed_ = true;
    return;
  }
  const int event = descriptor();
  const std::lock_guard lock(mutex_);
  eventfd_t past = 0;
  (void)eventfd_read(event, &past);  // empty is fine
  armed_ = true;
}

void CompletionQueue::push(std::span<const Completion> completions) {
  const std::lock_guard lock(mutex_);
  for (const Completion& completion : completions) completions_.push(completion);
  arrived_.notify_all();
  if (!armed_) return;
  armed_ = false;
  if (alarm_) return alarm_();
  (void)eventfd_write(event_, 1);  // a full counter is readable as well
}

}  // namespace openmrc::host
