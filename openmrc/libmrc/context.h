// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "openmrc/verbs/device.h"

namespace openmrc::libmrc {

// How many objects refer to another one, which cannot be destroyed before.
class Users {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove() { count_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

 private:
  std::atomic<std::uint32_t> count_ = 0;
};

// Events that an application fetched and has to acknowledge before what they name is destroyed.
class FetchedEvents {
 public:
  void fetched() {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  void acknowledged(std::uint32_t count) {
    const std::lock_guard lock(mutex_);
    open_ -= count;
    if (open_ <= 0) none_.notify_all();
  }
  void wait_until_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return open_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::int64_t open_ = 0;
};

}  // namespace openmrc::libmrc

// What the opaque types of mrc.h are.

struct mrc_context final : openmrc::libmrc::Device::Listener {
  mrc_context(ibv_context* context, openmrc::libmrc::Device& from, openmrc::host::Host& host,
              std::uint32_t version)
      : verbs(context), device(from), runtime(host), api_version(version) {}

  // A queue pair failed.
  void on_event(const openmrc::core::Event& event) override;
  void add(mrc_qp& qp);
  void remove(const mrc_qp& qp);

  void push_event(const mrc_async_event& event);
  // Waits; false: the context is being destroyed.
  bool next_event(mrc_async_event& event);
  // Nobody waits for events any more when this returns.
  void end_events();

  ibv_context* const verbs;
  openmrc::libmrc::Device& device;
  openmrc::host::Host& runtime;
  const std::uint32_t api_version;  // 0: not stated
  openmrc::libmrc::Users users;     // queues, queue pairs, channels, hints
  std::atomic<std::uint32_t> hints = 0;

 private:
  std::mutex qps_mutex_;
  std::unordered_map<std::uint32_t, mrc_qp*> qps_;  // by number
  std::mutex events_mutex_;
  std::condition_variable event_came_;
  std::deque<mrc_async_event> events_;
  int waiting_ = 0;
  bool ended_ = false;
};

struct mrc_qp_hint {
  mrc_context& context;
  mrc_qp_hint_attr attr{};
  std::mutex mutex{};
  openmrc::libmrc::Users users{};
};
