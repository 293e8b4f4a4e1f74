// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/host/host.h"

namespace openmrc::libmrc {

struct SoftCompletionQueue;

// Where several completion queues report that they have something.
struct SoftChannel {
  ibv_comp_channel verbs{};  // first: applications have pointers to it; its descriptor counts

  void push(SoftCompletionQueue& cq);
  // Waits, unless the descriptor was set not to; null: errno says why.
  SoftCompletionQueue* next();
  void forget(const SoftCompletionQueue& cq);

 private:
  std::mutex mutex_;
  std::deque<SoftCompletionQueue*> reported_;
};

struct SoftCompletionQueue {
  ibv_cq_ex extended{};  // first: applications have pointers to it
  ibv_cq& verbs = *ibv_cq_ex_to_cq(&extended);
  bool stamps = false;  // completions are to say when they came
  std::atomic<std::uint32_t> users = 0;
  std::uint32_t completion_events_fetched = 0;  // guarded by verbs.mutex
  std::uint32_t async_events_fetched = 0;       // the same

  // The runtime of queue pairs that report here.
  void set_runtime(host::Host& runtime) { runtime_.store(&runtime, std::memory_order_release); }

  // From a shard. `solicited`: wakes also those who wait for such completions only.
  void push(const ibv_wc& completion, bool solicited);
  [[nodiscard]] int poll(std::span<ibv_wc> into);
  // A completion and when it came, if stamps were asked for.
  struct Entry {
    ibv_wc completion{};
    Instant at{};
  };
  // One at a time, until end_poll(); other threads that do so wait meanwhile. False: there is none.
  [[nodiscard]] bool start_poll();
  [[nodiscard]] bool next_poll();
  void end_poll() { poll_mutex_.unlock(); }
  [[nodiscard]] const Entry& current() const { return current_; }
  // The next completion is reported on the channel; at once if one has come since the last report
  // and was not polled, as adapters do, so that none is missed.
  void arm(bool solicited_only);
  // A queue pair goes away, and its completions with it.
  void forget(std::uint32_t qpn);

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };

  // Calls use(entry) for up to so many; returns how many there were.
  template <class Use>
  std::size_t take(std::size_t at_most, Use use);
  void make_progress();
  void report();

  std::atomic<host::Host*> runtime_ = nullptr;
  std::mutex mutex_;
  core::GrowingRing<Entry> completions_;
  std::atomic<std::size_t> size_ = 0;  // of the ring, for who only looks
  Armed armed_ = Armed::kNo;
  std::uint64_t pushed_ = 0;
  std::uint64_t popped_ = 0;
  std::uint64_t unreported_ = 0;  // what was pushed up to the last that nobody was told of
  std::uint64_t unreported_solicited_ = 0;
  bool overrun_ = false;
  std::mutex poll_mutex_;  // from start_poll() to end_poll()
  Entry current_;
};

inline SoftCompletionQueue& soft(ibv_cq& cq) { return reinterpret_cast<SoftCompletionQueue&>(cq); }
inline SoftChannel& soft(ibv_comp_channel& channel) {
  return reinterpret_cast<SoftChannel&>(channel);
}

}  // namespace openmrc::libmrc
