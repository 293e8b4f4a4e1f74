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
#include <type_traits>
#include <utility>
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
#include "openmrc/host/fair_mutex.h"
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

// One endpoint and its way to the network. The endpoint has a lock, which is held for what the
// protocol does and never over a system call; so who posts waits for no packet. The data path has
// another: whoever holds it, the shard's own thread or an application thread that has posted or
// polls, takes what has arrived, sends what there is to send, and reports what has completed. Who
// posts while somebody else is at that leaves a note, and it is done along with the rest. No lock
// is taken for a packet, and nothing is handed from thread to thread.
class Shard {
 public:
  struct Settings {
    core::EndpointSettings endpoint{};
    std::uint64_t seed = 0;
    Progress progress = Progress::kSleep;
    std::function<Instant()> clock = host::now;  // another one only in tests
    std::function<void(Plane, bool up)> on_port = {};
  };
  // What the endpoint reports of paths and failures; called with the protocol's lock.
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

  // Calls work(endpoint, now), then reports and sends what came of it. Nothing is sent or reported
  // meanwhile: what it ends or takes away is no longer in use when it returns; and what was
  // received before is acknowledged, also by a queue pair that ends now. Memory that `work` does
  // not get is its caller's to handle (std::bad_alloc).
  template <class Work>
  auto run(Work work) {
    return run_on(endpoint_, work);
  }
  // The same with the layer of queue pairs that have messages.
  template <class Work>
  auto run_messages(Work work) {
    return run_on(messages_, work);
  }

  // The same for work that only adds to what there is; while it is done, packets come and go. What
  // has nothing to send itself may leave the rest to a caller that drives the shard (Send::kLater).
  enum class Send { kNow, kLater };
  template <class Work>
  auto post(Work work, Send send = Send::kNow) {
    return post_to(endpoint_, work, send);
  }
  template <class Work>
  auto post_messages(Work work) {
    return post_to(messages_, work, Send::kNow);
  }

  // For who only looks.
  template <class Look>
  auto look(Look look) {
    const std::lock_guard lock(protocol());
    return look(std::as_const(endpoint_));
  }
  template <class Look>
  auto look_at_messages(Look look) {
    const std::lock_guard lock(protocol());
    return look(std::as_const(messages_));
  }
  template <class Look>
  auto look_at_datapath(Look look) {
    const std::lock_guard driver(driving());
    return look(std::as_const(*datapath_));
  }

  // The worst flood of packets that were dropped.
  [[nodiscard]] std::optional<FloodWatch::Flood> flood() {
    const std::lock_guard lock(protocol());
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

  struct Port {
    bool link = true;
    bool enabled = true;
  };

  struct Destinations {
    CompletionQueue* writes = nullptr;
    CompletionQueue* receives = nullptr;
    MessageSink* messages = nullptr;  // instead of the two
  };

  // Each with the check that this is not a child made by fork().
  FairMutex& protocol() {
    home_.check();
    return protocol_;
  }
  FairMutex& driving() {
    home_.check();
    return driving_;
  }

  template <class Owned, class Work>
  auto run_on(Owned& owned, Work& work) {
    std::unique_lock driver(driving());
    std::unique_lock lock(protocol_);
    if (answers_wait_) send_answers(lock);
    const Instant at = clock_();
    if constexpr (std::is_void_v<decltype(work(owned, at))>) {
      work(owned, at);
      (void)follow_up(lock);
      driver.unlock();
      catch_up();
    } else {
      auto result = work(owned, at);
      (void)follow_up(lock);
      driver.unlock();
      catch_up();
      return result;
    }
  }
  template <class Owned, class Work>
  auto post_to(Owned& owned, Work& work, Send send) {
    std::unique_lock lock(protocol());
    auto result = work(owned, clock_());
    lock.unlock();
    if (send == Send::kNow || progress_ != Progress::kCaller) drive();
    return result;
  }

  Shard(const Settings& settings, std::unique_ptr<datapath::Datapath> datapath,
        std::optional<LinkWatch> links, EventSink on_event);
  [[nodiscard]] Result<void, Error> watch();
  void serve();
  void rest();
  [[nodiscard]] std::optional<bool> try_round();
  // What was posted is sent: by this thread, or by whoever drives the shard already.
  void drive();
  // By whoever drove it, after that: what was posted meanwhile.
  void catch_up();
  void attach(Qpn qpn, const Destinations& destinations);

  // By whoever drives the shard. These two end the process if there is no memory: what they are in
  // the midst of, such as a completion that is handed over, can be neither undone nor done without.
  using ProtocolLock = std::unique_lock<FairMutex>;
  [[nodiscard]] bool round() noexcept;
  [[nodiscard]] bool follow_up(ProtocolLock& lock) noexcept;  // which it lets go
  void send_answers(ProtocolLock& lock);                      // which it has again
  enum class Arrivals : std::uint8_t { kNone, kSome, kMore };
  [[nodiscard]] Arrivals take_arrivals(ProtocolLock& lock);  // which it has then
  void take_link_changes(Instant at);
  void send(std::span<core::Transmit> burst);
  void hand_over_reports();
  void set_alarm();

  // With both locks.
  void set_port(Instant at, std::size_t plane);
  [[nodiscard]] std::size_t fill_burst();
  void take_events();
  void take_completions();
  void take_messages();
  void take_deadline();

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

  FairMutex driving_;   // locked before the other, if both are
  FairMutex protocol_;  // never held over a system call
  // Not zero: something was posted that whoever drives the shard has not looked after yet.
  std::atomic<unsigned> posted_ = 0;

  // Under the protocol's lock.
  core::Endpoint endpoint_;
  messages::Layer messages_;
  Qpn first_qpn_;
  std::vector<Port> ports_;                  // by plane
  std::vector<Destinations> destinations_;   // by queue pair number, from first_qpn_ on
  std::vector<MessageSink*> shared_queues_;  // by number
  int rounds_without_timers_ = 0;
  FloodWatch floods_;

  // Of whoever drives the shard.
  std::vector<core::Transmit> transmits_;
  std::vector<datapath::Outgoing> outgoing_;
  RetransmitCopies copies_{kBurst};
  std::uint64_t unreadable_ = 0;  // packets whose payload could not be read any more
  std::vector<datapath::Incoming> incoming_;
  // What has completed, to be handed over without the protocol's lock.
  std::vector<std::pair<CompletionQueue*, Completion>> completions_;
  std::vector<std::pair<MessageSink*, messages::Completion>> message_completions_;
  std::vector<Completion> of_one_queue_;
  bool more_to_send_ = false;          // and ports are free: whoever comes next goes on at once
  bool answers_wait_ = false;          // for what the caller posts, or its next poll
  std::optional<Instant> deadline_{};  // when something is due, as was last looked
  Instant alarm_at_{};
  Instant links_looked_at_{};

  PollingCallers callers_;
  std::atomic<bool> thread_rests_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace openmrc::host
