// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/host/home_process.h"

namespace openmrc::host {

using core::Completion;

class Shard;

// Where the outcome of posted work is fetched, of as many queue pairs as the application likes. It
// holds whatever its queue pairs may have outstanding. Any thread may use it.
class CompletionQueue {
 public:
  // `driver`: the shard that makes progress only when it is called; null if shards have threads.
  explicit CompletionQueue(Shard* driver) : driver_(driver) {}
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  // Takes what there is and returns how many, without waiting.
  [[nodiscard]] std::size_t poll(std::span<Completion> into);
  // Waits until there is something, at most so long; 0 when the time is up.
  [[nodiscard]] std::size_t wait(std::span<Completion> into, Duration timeout);

  // For an event loop: the descriptor becomes readable when a completion comes after arm(). Call
  // arm(), then poll() once, then wait for the descriptor. Without threads of its own the runtime
  // moves only in poll() and wait(), so there the descriptor says that poll() has work to do.
  [[nodiscard]] int descriptor();
  void arm();
  // Instead of the descriptor, said before the queue is used: called by the thread that brings the
  // completion, while the shard waits. It is quick and does not call the queue.
  void set_alarm(std::function<void()> alarm) { alarm_ = std::move(alarm); }

 private:
  friend class Shard;
  void push(std::span<const Completion> completions);
  [[nodiscard]] std::size_t take(std::span<Completion> into);

  const HomeProcess home_;
  Shard* driver_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  core::GrowingRing<Completion> completions_;
  std::function<void()> alarm_;
  int event_ = -1;
  bool armed_ = false;
};

}  // namespace openmrc::host
