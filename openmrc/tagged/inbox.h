// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/messages/work.h"

namespace openmrc::tagged {

// What the network reports to a group, until a thread of the application looks at it: who reports
// holds the lock of a shard, and must not wait for a group.
class Inbox {
 public:
  struct Entry {
    int rank = 0;
    messages::Completion completion{};
    bool failed = false;  // the queue pair has; there is no completion
  };

  void push(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(entry);
    ++generation_;
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<Entry> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(entries_, {});
  }
  // Whoever waits looks again.
  void wake() {
    const std::lock_guard lock(mutex_);
    ++generation_;
    changed_.notify_all();
  }
  [[nodiscard]] std::uint64_t generation() {
    const std::lock_guard lock(mutex_);
    return generation_;
  }
  // Until there is something new since `seen`.
  void wait(std::uint64_t seen, Duration at_most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(at_most.raw()),
                      [&] { return generation_ != seen; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  std::uint64_t generation_ = 0;
};

}  // namespace openmrc::tagged
