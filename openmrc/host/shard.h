// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/clock.h"
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/host/flood_watch.h"
#include "openmrc/host/home_process.h"
#include "openmrc/host/link_watch.h"
#include "openmrc/host/polling_callers.h"
#include "openmrc/host/retransmit_copies.h"
#include "openmrc/messages/layer.h"

namespace openmrc::host {

// Where queue pairs and shared receive queues with messages report. Called while the shard waits:
// it is quick and does not call the runtime, except for texts.
class MessageSink {
 public:
  virtual void on_completion(const messages::Completion& completion) = 0;
  virtual void on_event(const messages::Event& event) = 0;

 protected:
  ~MessageSink() = default;
};

// One endpoint and its way to the network. Whoever holds the lock owns both: the shard's own thread
// for a burst at a time, or an application thread that posts. So there is no lock per packet and
// nothing is handed from thread to thread: who posts a write also sends it.
class Shard {
 public:
  struct Settings {
    core::EndpointSettings endpoint{};
    std::uint64_t seed = 0;
    Progress progress = Progress::kSleep;
    std::function<Instant()> clock = host::now;  // another one only in tests
    std::function<void(Plane, bool up)> on_port = {};
  };
  // What the endpoint reports of paths and failures; called with the lock held.
  using EventSink = std::function<void(const core::Event&)>;

  static Result<std::unique_ptr<Shard>, Error> open(const Settings& settings,
                                                    std::unique_ptr<datapath::Datapath> datapath,
                                                    std::optional<LinkWatch> links,
                                                    EventSink on_event);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // Starts the thread, if the shard shall have one.
  void start();

  // False in a child made by fork(): the thread and what it owns are the parent's.
  [[nodiscard]] bool is_of_this_process() const { return home_.is_here(); }

  // Calls work(endpoint, now) as the owner, then reports and sends what came of it. What has
  // nothing to send itself may leave the rest, too, to a caller that drives the shard
  // (Send::kLater). Memory that `work` does not get is its caller's to handle (std::bad_alloc).
  enum class Send { kNow, kLater };
  template <class Work>
  auto run(Work work, Send send = Send::kNow) {
    return run_on(endpoint_, work, send);
  }
  // The same with the layer of queue pairs that have messages.
  template <class Work>
  auto run_messages(Work work, Send send = Send::kNow) {
    return run_on(messages_, work, send);
  }
  // The same for who only looks.
  template <class Look>
  auto look(Look look) {
    const Ownership owner(*this);
    return look(std::as_const(endpoint_), *datapath_);
  }
  template <class Look>
  auto look_at_messages(Look look) {
    const Ownership owner(*this);
    return look(std::as_const(messages_));
  }

  // The worst flood of packets that were dropped.
  [[nodiscard]] std::optional<FloodWatch::Flood> flood() {
    const Ownership owner(*this);
    return floods_.worst();
  }

  // A port carries traffic while its link is up and it is not disabled.
  void set_port_enabled(Plane plane, bool enabled);
  [[nodiscard]] bool port_is_up(Plane plane);
  // Of its interface; 0: not known.
  [[nodiscard]] std::uint32_t port_mtu(Plane plane);

  // Where completions of this queue pair go, from now on; null: nowhere.
  void attach(Qpn qpn, CompletionQueue* writes, CompletionQueue* receives);
  // The same of a queue pair, or a shared receive queue, with messages.
  void attach(Qpn qpn, MessageSink* sink);
  void attach(messages::SharedQueueId queue, MessageSink* sink);

  // One round: takes what has arrived and is due, sends. Returns whether anything happened.
  bool progress();
  // The same by a caller that polls, unless somebody else is at it, which is not waited for.
  bool help();
  // Until something may have happened.
  void sleep(Duration at_most);
  // Readable when progress() has something to do.
  [[nodiscard]] int descriptor() const { return epoll_.get(); }

 private:
  static constexpr std::size_t kBurst = 64;
  // How many bursts are taken, and sent, before it is the other's turn. What has arrived may call
  // for twice as many control packets: sending must keep up, or reports are dropped.
  static constexpr int kArrivalsInARow = 2;
  static constexpr int kBurstsInARow = 8;
  // Timers wait for arrivals that were not looked at, so many rounds at most.
  static constexpr int kRoundsWithoutTimers = 16;

  // Threads take turns: one that comes back at once finds whoever waited ahead of it. A mutex alone
  // would let a busy thread have it again and again.
  class Ownership {
   public:
    explicit Ownership(Shard& shard) : shard_(shard) {
      shard.home_.check();
      const std::lock_guard next(shard.next_);
      shard.mutex_.lock();
    }
    ~Ownership() { shard_.mutex_.unlock(); }
    Ownership(const Ownership&) = delete;
    Ownership& operator=(const Ownership&) = delete;

   private:
    Shard& shard_;
  };

  struct Port {
    bool link = true;
    bool enabled = true;
  };

  struct Destinations {
    CompletionQueue* writes = nullptr;
    CompletionQueue* receives = nullptr;
    MessageSink* messages = nullptr;  // instead of the two
  };

  template <class Owned, class Work>
  auto run_on(Owned& owned, Work& work, Send send) {
    const Ownership owner(*this);
    const Instant at = clock_();
    if constexpr (std::is_void_v<decltype(work(owned, at))>) {
      work(owned, at);
      (void)follow_up(send);
    } else {
      auto result = work(owned, at);
      (void)follow_up(send);
      return result;
    }
  }

  Shard(const Settings& settings, std::unique_ptr<datapath::Datapath> datapath,
        std::optional<LinkWatch> links, EventSink on_event);
  [[nodiscard]] Result<void, Error> watch();
  void serve();
  void rest();
  [[nodiscard]] std::optional<bool> try_round();
  // These two end the process if there is no memory: what they are in the midst of, such as a
  // completion that is handed over, can be neither undone nor done without.
  [[nodiscard]] bool round() noexcept;
  [[nodiscard]] bool follow_up(Send send) noexcept;
  enum class Arrivals : std::uint8_t { kNone, kSome, kMore };
  [[nodiscard]] Arrivals take_arrivals();
  void take_link_changes(Instant at);
  void set_port(Instant at, std::size_t plane);
  void attach(Qpn qpn, const Destinations& destinations);
  [[nodiscard]] std::size_t transmit();
  void send(std::span<core::Transmit> burst);
  void deliver_events();
  [[nodiscard]] bool deliver_completions();
  [[nodiscard]] bool serve_messages();
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void set_alarm();

  const HomeProcess home_;
  const Progress progress_;
  const std::function<Instant()> clock_;
  std::unique_ptr<datapath::Datapath> datapath_;
  std::optional<LinkWatch> links_;
  EventSink on_event_;
  std::function<void(Plane, bool)> on_port_;
  datapath::FileDescriptor epoll_;
  datapath::FileDescriptor alarm_;  // a timer
  datapath::FileDescriptor wake_;   // to end the thread

  std::mutex next_;   // held by who will be the owner next
  std::mutex mutex_;  // held by the owner
  // From here on: the owner's.
  core::Endpoint endpoint_;
  messages::Layer messages_;
  Qpn first_qpn_;
  std::vector<Port> ports_;                  // by plane
  std::vector<Destinations> destinations_;   // by queue pair number, from first_qpn_ on
  std::vector<MessageSink*> shared_queues_;  // by number
  std::vector<core::Transmit> transmits_;
  std::vector<datapath::Outgoing> outgoing_;
  RetransmitCopies copies_{kBurst};
  std::vector<datapath::Incoming> incoming_;
  std::vector<Completion> completions_;  // of one queue, to be handed over together
  bool more_to_send_ = false;            // and ports are free: whoever comes next goes on at once
  int rounds_without_timers_ = 0;
  Instant alarm_at_{};
  Instant links_looked_at_{};
  FloodWatch floods_;

  PollingCallers callers_;
  std::atomic<bool> thread_rests_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace openmrc::host
