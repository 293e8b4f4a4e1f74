// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

namespace openmrc::host {

// Threads take turns: one that comes back at once finds whoever waited ahead of it. A std::mutex
// alone would let a busy thread have it again and again.
class FairMutex {
 public:
  void lock() {
    const std::lock_guard next(next_);
    held_.lock();
  }
  [[nodiscard]] bool try_lock() {
    const std::unique_lock next(next_, std::try_to_lock);
    return next && held_.try_lock();
  }
  void unlock() { held_.unlock(); }

 private:
  std::mutex next_;  // held by who will have it next
  std::mutex held_;
};

}  // namespace openmrc::host
