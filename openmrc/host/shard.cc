// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/shard.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <variant>

#include "openmrc/base/check.h"

namespace openmrc::host {
namespace {

// A socket that took nothing is tried again after this.
constexpr Duration kBlockedRetry = microseconds(50);

// A busy-polling thread looks for link changes this often.
constexpr Duration kLinkInterval = microseconds(200);

timespec timespec_of(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
}

// The kernel takes packets of one path and length, and a shorter one behind them, as one message:
// an acknowledgement goes behind the SACK that it was queued with.
void put_acknowledgements_last(std::span<datapath::Outgoing> burst) {
  const auto goes_behind = [](const datapath::Outgoing& one, const datapath::Outgoing& next) {
    return std::holds_alternative<wire::Acknowledge>(one.packet->transport.body) &&
           std::holds_alternative<wire::Sack>(next.packet->transport.body) &&
           one.plane == next.plane && wire::ev_of(*one.packet) == wire::ev_of(*next.packet);
  };
  for (std::size_t i = 1; i < burst.size(); ++i) {
    if (goes_behind(burst[i - 1], burst[i])) std::swap(burst[i - 1], burst[i]);
  }
}

Error no_descriptor(const char* what) {
  return {.what = fmt::format("cannot open {}: {}", what, std::strerror(errno)),
          .remedy = "raise the limit of open files (ulimit -n)"};
}

}  // namespace

Result<std::unique_ptr<Shard>, Error> Shard::open(const Settings& settings,
                                                  std::unique_ptr<datapath::Datapath> datapath,
                                                  std::optional<LinkWatch> links,
                                                  EventSink on_event) {
  std::unique_ptr<Shard> shard(
      new Shard(settings, std::move(datapath), std::move(links), std::move(on_event)));
  if (auto watched = shard->watch(); !watched) return failure(std::move(watched.error()));
  return shard;
}

Shard::Shard(const Settings& settings, std::unique_ptr<datapath::Datapath> datapath,
             std::optional<LinkWatch> links, EventSink on_event)
    : progress_(settings.progress),
      clock_(settings.clock),
      datapath_(std::move(datapath)),
      links_(std::move(links)),
      on_event_(std::move(on_event)),
      on_port_(settings.on_port),
      endpoint_(settings.endpoint, settings.seed),
      messages_(endpoint_),
      first_qpn_(settings.endpoint.first_qpn),
      ports_(settings.endpoint.addresses.size()),
      transmits_(kBurst),
      outgoing_(kBurst),
      incoming_(kBurst) {}

Shard::~Shard() {
  if (!is_of_this_process()) {
    HomeProcess::leave(std::move(thread_));
    return;
  }
  stopping_ = true;
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
}

Result<void, Error> Shard::watch() {
  epoll_ = datapath::FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.is_open()) return failure(no_descriptor("a poll set"));
  alarm_ = datapath::FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!alarm_.is_open()) return failure(no_descriptor("a timer"));
  wake_ = datapath::FileDescriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_.is_open()) return failure(no_descriptor("an event"));
  std::vector<int> all(datapath_->descriptors().begin(), datapath_->descriptors().end());
  all.push_back(alarm_.get());
  all.push_back(wake_.get());
  if (links_) all.push_back(links_->descriptor());
  for (const int descriptor : all) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return failure(no_descriptor("a poll set for its sockets"));
    }
  }
  return {};
}

void Shard::start() {
  if (progress_ != Progress::kCaller) thread_ = std::thread([this] { serve(); });
}

void Shard::serve() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (progress_ == Progress::kSleep && callers_.thread_may_rest(clock_())) {
      rest();
    } else if (!progress() && progress_ == Progress::kSleep) {
      sleep(seconds(1));
    }
  }
}

// Until callers have stopped driving the shard.
void Shard::rest() {
  thread_rests_.store(true, std::memory_order_relaxed);
  do {
    pollfd ended{.fd = wake_.get(), .events = POLLIN, .revents = 0};
    const timespec at_most = timespec_of(PollingCallers::kRest.raw());
    if (ppoll(&ended, 1, &at_most, nullptr) != 0) break;
  } while (callers_.drive(clock_()));
  thread_rests_.store(false, std::memory_order_relaxed);
  if (try_round().value_or(false)) callers_.thread_was_missed(clock_());
}

bool Shard::progress() {
  std::unique_lock driver(driving());
  const bool any = round();
  driver.unlock();
  catch_up();
  return any;
}

bool Shard::help() {
  home_.check();
  const bool any = try_round().value_or(false);
  callers_.polled(clock_());
  return any;
}

// None: somebody else is at it.
std::optional<bool> Shard::try_round() {
  std::unique_lock driver(driving_, std::try_to_lock);
  if (!driver) return std::nullopt;
  const bool any = round();
  driver.unlock();
  catch_up();
  return any;
}

void Shard::drive() {
  posted_.exchange(1, std::memory_order_acq_rel);
  catch_up();
}

// Whoever posts leaves its note before it tries the lock, and whoever drives looks for notes after
// it has let go of the lock: both change posted_, so one of them sees the other.
void Shard::catch_up() {
  while (posted_.fetch_add(0, std::memory_order_acq_rel) != 0) {
    const std::unique_lock driver(driving_, std::try_to_lock);
    if (!driver) return;
    posted_.exchange(0, std::memory_order_acq_rel);
    ProtocolLock lock(protocol_);
    (void)follow_up(lock);
  }
}

void Shard::sleep(Duration at_most) {
  epoll_event events[8];
  const timespec timeout = timespec_of(at_most.raw());
  const int count = epoll_pwait2(epoll_.get(), events, std::size(events), &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd != alarm_.get()) continue;
    std::uint64_t expirations = 0;
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): nobody who sleeps is the owner
    (void)!read(alarm_.get(), &expirations, sizeof expirations);
  }
}

void Shard::attach(Qpn qpn, CompletionQueue* writes, CompletionQueue* receives) {
  attach(qpn, Destinations{.writes = writes, .receives = receives});
}

void Shard::attach(Qpn qpn, MessageSink* sink) { attach(qpn, Destinations{.messages = sink}); }

// What goes away is not reported to any more afterwards.
void Shard::attach(Qpn qpn, const Destinations& destinations) {
  const std::lock_guard driver(driving());
  const std::lock_guard lock(protocol_);
  const std::size_t index = qpn.raw() - first_qpn_.raw();
  const bool is_none = destinations.writes == nullptr && destinations.receives == nullptr &&
                       destinations.messages == nullptr;
  const bool is_known = index < destinations_.size();
  if (!is_known && is_none) return;
  if (!is_known) destinations_.resize(index + 1);
  destinations_[index] = destinations;
}

void Shard::attach(messages::SharedQueueId queue, MessageSink* sink) {
  const std::lock_guard driver(driving());
  const std::lock_guard lock(protocol_);
  if (queue >= shared_queues_.size()) shared_queues_.resize(queue + 1);
  shared_queues_[queue] = sink;
}

bool Shard::round() noexcept {
  if (links_ && clock_() >= links_looked_at_ + kLinkInterval) take_link_changes(clock_());
  ProtocolLock lock(protocol_, std::defer_lock);
  const Arrivals arrivals = take_arrivals(lock);
  // What has arrived and was not looked at may be just what a timer waits for.
  const Instant at = clock_();
  const auto deadline = endpoint_.next_deadline();
  const bool wait_on = arrivals == Arrivals::kMore && rounds_without_timers_ < kRoundsWithoutTimers;
  rounds_without_timers_ = wait_on ? rounds_without_timers_ + 1 : 0;
  const bool due = !wait_on && deadline && *deadline <= at;
  if (due) endpoint_.handle_timeout(at);
  if (floods_.is_due(at)) floods_.look(at, endpoint_.counters());
  return follow_up(lock) || arrivals != Arrivals::kNone || due;
}

void Shard::take_link_changes(Instant at) {
  links_looked_at_ = at;
  while (const auto change = links_->next()) {
    const std::lock_guard lock(protocol_);
    ports_[change->plane].link = change->up;
    set_port(at, change->plane);
  }
}

void Shard::set_port(Instant at, std::size_t plane) {
  const bool up = ports_[plane].link && ports_[plane].enabled;
  const Plane number(static_cast<std::uint8_t>(plane));
  endpoint_.set_port(at, number, up);
  if (on_port_) on_port_(number, up);
}

void Shard::set_port_enabled(Plane plane, bool enabled) {
  run([&](core::Endpoint&, Instant at) {
    ports_[plane.raw()].enabled = enabled;
    set_port(at, plane.raw());
  });
}

bool Shard::port_is_up(Plane plane) {
  const std::lock_guard lock(protocol());
  return ports_[plane.raw()].link && ports_[plane.raw()].enabled;
}

std::uint32_t Shard::port_mtu(Plane plane) {
  if (!links_) return 0;
  std::unique_lock driver(driving());
  take_link_changes(clock_());
  const std::uint32_t mtu = links_->mtu(plane.raw());
  driver.unlock();
  drive();
  return mtu;
}

Shard::Arrivals Shard::take_arrivals(ProtocolLock& lock) {
  for (int i = 0; i < kArrivalsInARow; ++i) {
    if (lock) lock.unlock();
    const Instant now = clock_();
    const std::size_t count = datapath_->receive(now, incoming_);
    lock.lock();
    endpoint_.handle_packets(now, std::span<const datapath::Incoming>(incoming_).first(count));
    if (count < incoming_.size()) return i == 0 && count == 0 ? Arrivals::kNone : Arrivals::kSome;
  }
  return Arrivals::kMore;
}

// Returns whether anything was sent.
bool Shard::follow_up(ProtocolLock& lock) noexcept {
  bool any_sent = false;
  if (datapath_->blocked() != 0) {
    lock.unlock();
    datapath_->send({});
  }
  for (int i = 0; i < kBurstsInARow; ++i) {
    if (!lock) lock.lock();
    // Why a queue pair failed is known before the completion that says that it did.
    take_events();
    take_completions();
    take_messages();
    const std::size_t count = fill_burst();
    take_events();
    take_deadline();
    lock.unlock();
    // What can be reported goes first: the application may wait for it.
    hand_over_reports();
    send(std::span(transmits_).first(count));
    any_sent = any_sent || count > 0;
    if (count < transmits_.size()) break;
  }
  set_alarm();
  return any_sent;
}

// What is reported meanwhile makes them wait once more, but only once.
void Shard::send_answers(ProtocolLock& lock) {
  for (int i = 0; answers_wait_ && i < 2; ++i) {
    (void)follow_up(lock);
    lock.lock();
  }
}

void Shard::take_events() {
  while (const auto event = endpoint_.poll_event()) {
    on_event_(*event);
    messages_.handle_event(*event);
  }
}

// Returns how many packets are to be sent.
std::size_t Shard::fill_burst() {
  for (; unreadable_ > 0; --unreadable_) endpoint_.count_unreadable();
  // Whoever drives the shard is about to be told, and may have something to send itself; what is to
  // be sent now can go along with it.
  const bool reports = !completions_.empty() || !message_completions_.empty();
  answers_wait_ = reports && progress_ == Progress::kCaller && endpoint_.wants_to_send();
  more_to_send_ = false;
  if (answers_wait_ || !endpoint_.wants_to_send()) return 0;
  const core::PlaneMask free(~datapath_->blocked());
  const std::size_t count =
      endpoint_.poll_transmit(clock_(), free, core::Endpoint::Ports::kReused, transmits_);
  more_to_send_ = count == transmits_.size();
  return count;
}

void Shard::send(std::span<core::Transmit> burst) {
  std::size_t count = 0;
  for (core::Transmit& transmit : burst) {
    if (!copies_.take(transmit, count)) {
      ++unreadable_;
      continue;
    }
    outgoing_[count++] = {.packet = &transmit.packet, .plane = transmit.plane};
  }
  const std::span ready = std::span(outgoing_).first(count);
  put_acknowledgements_last(ready);
  if (count > 0) datapath_->send(ready);
}

void Shard::take_completions() {
  while (const auto completion = endpoint_.poll_completion()) {
    const std::size_t index = completion->qpn.raw() - first_qpn_.raw();
    const Destinations to = index < destinations_.size() ? destinations_[index] : Destinations{};
    if (to.messages != nullptr) {
      messages_.handle_completion(*completion);
      continue;
    }
    CompletionQueue* queue = completion->kind == core::WorkKind::kWrite ? to.writes : to.receives;
    if (queue != nullptr) completions_.emplace_back(queue, *completion);
  }
}

// Moves queue pairs with messages, if there are any.
void Shard::take_messages() {
  if (messages_.empty()) return;
  messages_.progress(clock_());
  // Why a queue pair failed is known before its work is flushed.
  while (const auto event = messages_.poll_event()) {
    const std::size_t index = event->qpn.raw() - first_qpn_.raw();
    MessageSink* sink = nullptr;
    if (event->kind == messages::EventKind::kReceivesLow) {
      sink = shared_queues_[event->shared_queue];
    } else if (index < destinations_.size()) {
      sink = destinations_[index].messages;
    }
    if (sink != nullptr) sink->on_event(*event);
  }
  while (const auto completion = messages_.poll_completion()) {
    const std::size_t index = completion->qpn.raw() - first_qpn_.raw();
    MessageSink* sink = index < destinations_.size() ? destinations_[index].messages : nullptr;
    if (sink != nullptr) message_completions_.emplace_back(sink, *completion);
  }
}

// Those of one queue that follow each other together.
void Shard::hand_over_reports() {
  for (std::size_t i = 0; i < completions_.size();) {
    CompletionQueue* const queue = completions_[i].first;
    of_one_queue_.clear();
    for (; i < completions_.size() && completions_[i].first == queue; ++i) {
      of_one_queue_.push_back(completions_[i].second);
    }
    queue->push(of_one_queue_);
  }
  completions_.clear();
  for (const auto& [sink, completion] : message_completions_) sink->on_completion(completion);
  message_completions_.clear();
}

// When something is due; now, if there is more to do at once.
void Shard::take_deadline() {
  deadline_ = endpoint_.next_deadline();
  if (const auto of_messages = messages_.next_deadline()) {
    deadline_ = std::min(deadline_.value_or(*of_messages), *of_messages);
  }
  // A caller that drives the shard comes back by itself.
  if (progress_ == Progress::kCaller) return;
  if (more_to_send_ || messages_.wants_progress()) deadline_ = Instant{};
}

// The timer goes off when the next thing is due, or earlier: deadlines mostly move back, and to
// follow each would be a system call each.
void Shard::set_alarm() {
  // A thread that rests looks by itself.
  if (progress_ == Progress::kPoll || thread_rests_.load(std::memory_order_relaxed)) return;
  const Instant at = clock_();
  auto deadline = deadline_;
  if (deadline) deadline = std::max(*deadline, at);
  if (datapath_->blocked() != 0) {
    deadline = std::min(deadline.value_or(at + kBlockedRetry), at + kBlockedRetry);
  }
  if (!deadline) return;
  if (alarm_at_ > at && alarm_at_ <= *deadline) return;
  alarm_at_ = *deadline;
  const itimerspec when{.it_interval = {},
                        .it_value = timespec_of(std::max<std::int64_t>(1, alarm_at_.ns()))};
  const bool set = timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0;
  OPENMRC_CHECK(set, "a timer can be set");
}

}  // namespace openmrc::host
