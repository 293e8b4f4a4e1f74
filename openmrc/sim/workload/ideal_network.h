// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// For tests: runs all programs of a workload over a network that loses nothing and in which every
// message takes a random time. Messages of one sender to one receiver keep their order; nothing
// else does.
class IdealNetwork {
 public:
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t bytes = 0;
    MessageTag tag = 0;
    Picoseconds sent{};
    Picoseconds arrived{};
    Picoseconds acknowledged{};
  };
  struct Mark {
    std::uint32_t host = 0;
    StepMark mark{};
  };

  IdealNetwork(const Workload& workload, std::uint32_t hosts, std::uint64_t seed,
               Picoseconds delay_max = Picoseconds(1'000'000))
      : delay_max_(delay_max), rng_(seed) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      programs_.push_back(workload.program(fabric::HostIndex(host)));
      destinations_.push_back(workload.destinations(fabric::HostIndex(host)));
      if (programs_.back() != nullptr) wake_.insert({Picoseconds{}, host});
    }
    wake_at_.resize(hosts);
  }

  void run() {
    while (!wake_.empty() || !events_.empty()) {
      if (events_.empty() || (!wake_.empty() && wake_.begin()->first <= events_.top().time)) {
        const auto [time, host] = *wake_.begin();
        wake_.erase(wake_.begin());
        wake_at_[host] = kNoTime;
        call(host, time,
             [time](Program& program, Requests& requests) { program.on_time(time, requests); });
      } else {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
    }
  }

  [[nodiscard]] bool all_done() const {
    return std::ranges::all_of(
        programs_, [](const auto& program) { return program == nullptr || program->done(); });
  }
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  [[nodiscard]] std::uint32_t sent_to_unknown_hosts() const { return sent_to_unknown_hosts_; }
  // The most messages of one host that were in flight together.
  [[nodiscard]] std::uint32_t outstanding_max() const { return outstanding_max_; }

  [[nodiscard]] std::uint64_t bytes_from(std::uint32_t host) const {
    std::uint64_t bytes = 0;
    for (const Message& message : messages_) bytes += message.from == host ? message.bytes : 0;
    return bytes;
  }
  [[nodiscard]] std::uint64_t bytes_to(std::uint32_t host) const {
    std::uint64_t bytes = 0;
    for (const Message& message : messages_) bytes += message.to == host ? message.bytes : 0;
    return bytes;
  }

 private:
  struct Event {
    Picoseconds time{};
    std::uint64_t order = 0;
    std::size_t message = 0;
    bool acknowledges = false;

    bool operator>(const Event& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };

  Picoseconds random_delay() {
    return Picoseconds(
        1 + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(delay_max_.raw()))));
  }

  void handle(const Event& event) {
    const Message message = messages_[event.message];
    if (event.acknowledges) {
      --outstanding_[message.from];
      call(message.from, event.time, [&](Program& program, Requests& requests) {
        program.on_sent(event.time, fabric::HostIndex(message.to), message.tag, requests);
      });
    } else if (programs_[message.to] != nullptr) {
      call(message.to, event.time, [&](Program& program, Requests& requests) {
        program.on_received(event.time, fabric::HostIndex(message.from), message.tag, requests);
      });
    }
  }

  template <class Call>
  void call(std::uint32_t host, Picoseconds now, Call&& what) {
    Requests requests;
    what(*programs_[host], requests);
    for (const Send& send : requests.sends) start(host, now, send);
    for (const StepMark& mark : requests.steps) marks_.push_back({.host = host, .mark = mark});
    if (requests.wake_at == kNoTime) return;
    wake_.erase({wake_at_[host], host});
    wake_at_[host] = std::max(requests.wake_at, now);
    wake_.insert({wake_at_[host], host});
  }

  void start(std::uint32_t from, Picoseconds now, const Send& send) {
    if (std::ranges::find(destinations_[from], send.to) == destinations_[from].end()) {
      ++sent_to_unknown_hosts_;
    }
    outstanding_max_ = std::max(outstanding_max_, ++outstanding_[from]);
    Picoseconds& last = last_arrival_[{from, send.to.raw()}];
    last = std::max(last, now + random_delay());
    const Picoseconds acknowledged = last + random_delay();
    events_.push({.time = last, .order = ++order_, .message = messages_.size()});
    events_.push({.time = acknowledged,
                  .order = ++order_,
                  .message = messages_.size(),
                  .acknowledges = true});
    messages_.push_back({.from = from,
                         .to = send.to.raw(),
                         .bytes = send.bytes,
                         .tag = send.tag,
                         .sent = now,
                         .arrived = last,
                         .acknowledged = acknowledged});
  }

  Picoseconds delay_max_;
  Rng rng_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::vector<fabric::HostIndex>> destinations_;
  std::set<std::pair<Picoseconds, std::uint32_t>> wake_;
  std::vector<Picoseconds> wake_at_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> last_arrival_;
  std::map<std::uint32_t, std::uint32_t> outstanding_;
  std::vector<Message> messages_;
  std::vector<Mark> marks_;
  std::uint64_t order_ = 0;
  std::uint32_t sent_to_unknown_hosts_ = 0;
  std::uint32_t outstanding_max_ = 0;
};

// A fabric of racks in one plane, for programs that do not look at it.
inline fabric::Fabric plain_fabric(std::uint32_t racks, std::uint32_t hosts_per_rack) {
  return *fabric::Fabric::make(
      {.racks = racks, .hosts_per_rack = hosts_per_rack, .uplinks = racks > 1 ? 2U : 0U});
}

}  // namespace openmrc::sim
