// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/flow_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;
using Flow = FlowList::Flow;

// A flow as its sender sees it.
struct OwnFlow {
  MessageTag tag = 0;
  Flow flow{};
  std::uint32_t messages_of_after = 0;  // so many make up the flow that it waits for
};

class FlowProgram final : public Program {
 public:
  explicit FlowProgram(const std::vector<OwnFlow>& flows) {  // sorted by tag
    for (const OwnFlow& own : flows) {
      const auto place = static_cast<std::uint32_t>(flows_.size());
      flows_.push_back({.to = HostIndex(own.flow.to),
                        .tag = own.tag,
                        .bytes = own.flow.bytes,
                        .messages_left = own.flow.repeat});
      if (own.flow.after < 0) {
        timed_.push_back({.start = own.flow.start, .place = place});
      } else {
        waiting_.push_back({.tag = static_cast<MessageTag>(own.flow.after),
                            .messages_left = own.messages_of_after,
                            .place = place});
      }
    }
    std::ranges::stable_sort(timed_, {}, &Timed::start);
    std::ranges::stable_sort(waiting_, {}, &Waiting::tag);
    unfinished_ = flows_.size();
  }

  void on_time(Picoseconds now, Requests& requests) override {
    for (; next_timed_ < timed_.size() && timed_[next_timed_].start <= now; ++next_timed_) {
      send(timed_[next_timed_].place, requests);
    }
    ask_to_be_woken(requests);
  }

  void on_sent(Picoseconds /*now*/, HostIndex /*to*/, MessageTag tag, Requests& requests) override {
    const auto found = std::ranges::lower_bound(flows_, tag, {}, &State::tag);
    OPENMRC_CHECK(found != flows_.end() && found->tag == tag, "not a message of this host");
    if (--found->messages_left > 0) {
      send(static_cast<std::size_t>(found - flows_.begin()), requests);
    } else {
      --unfinished_;
    }
    start_those_after(tag, requests);
  }

  void on_received(Picoseconds /*now*/, HostIndex /*from*/, MessageTag tag,
                   Requests& requests) override {
    start_those_after(tag, requests);
  }

  [[nodiscard]] bool done() const override { return unfinished_ == 0; }

 private:
  struct State {
    HostIndex to{};
    MessageTag tag = 0;
    std::uint64_t bytes = 0;
    std::uint32_t messages_left = 0;  // until the last is acknowledged
  };
  struct Timed {
    Picoseconds start{};
    std::uint32_t place = 0;  // in flows_
  };
  struct Waiting {
    MessageTag tag = 0;
    std::uint32_t messages_left = 0;
    std::uint32_t place = 0;
  };

  void send(std::size_t place, Requests& requests) const {
    const State& flow = flows_[place];
    requests.sends.push_back({.to = flow.to, .bytes = flow.bytes, .tag = flow.tag});
  }

  // A flow is either sent or received by this host, so that each of its messages counts once.
  void start_those_after(MessageTag tag, Requests& requests) {
    for (Waiting& waiting : std::ranges::equal_range(waiting_, tag, {}, &Waiting::tag)) {
      if (--waiting.messages_left == 0) send(waiting.place, requests);
    }
    ask_to_be_woken(requests);
  }

  void ask_to_be_woken(Requests& requests) const {
    if (next_timed_ < timed_.size()) requests.wake_at = timed_[next_timed_].start;
  }

  std::vector<State> flows_;
  std::vector<Timed> timed_;  // by start
  std::size_t next_timed_ = 0;
  std::vector<Waiting> waiting_;  // by tag
  std::size_t unfinished_ = 0;
};

class FlowListWorkload final : public Workload {
 public:
  FlowListWorkload(FlowList settings, std::uint32_t hosts)
      : flows_(std::move(settings.flows)), first_of_(hosts + 1), by_sender_(flows_.size()) {
    for (const Flow& flow : flows_) ++first_of_[flow.from + 1];
    for (std::size_t i = 1; i < first_of_.size(); ++i) first_of_[i] += first_of_[i - 1];
    std::vector<std::uint32_t> next(first_of_.begin(), first_of_.end() - 1);
    for (std::uint32_t i = 0; i < flows_.size(); ++i) by_sender_[next[flows_[i].from]++] = i;
  }

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    std::vector<HostIndex> result;
    for (const std::uint32_t index : flows_of(host)) result.emplace_back(flows_[index].to);
    std::ranges::sort(result);
    const auto repeats = std::ranges::unique(result);
    result.erase(repeats.begin(), repeats.end());
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    const auto indices = flows_of(host);
    if (indices.empty()) return nullptr;
    std::vector<OwnFlow> own;
    own.reserve(indices.size());
    for (const std::uint32_t index : indices) {
      const Flow& flow = flows_[index];
      own.push_back({.tag = index,
                     .flow = flow,
                     .messages_of_after =
                         flow.after < 0 ? 0 : flows_[static_cast<std::size_t>(flow.after)].repeat});
    }
    return std::make_unique<FlowProgram>(own);
  }

 private:
  [[nodiscard]] std::span<const std::uint32_t> flows_of(HostIndex host) const {
    const std::uint32_t first = first_of_[host.raw()];
    return std::span(by_sender_).subspan(first, first_of_[host.raw() + 1] - first);
  }

  std::vector<Flow> flows_;
  std::vector<std::uint32_t> first_of_;   // by host, into by_sender_
  std::vector<std::uint32_t> by_sender_;  // indices of flows, in order for each sender
};

std::string problem_with_after(const std::vector<Flow>& flows, const Flow& flow) {
  if (flow.after < 0) return {};
  if (static_cast<std::size_t>(flow.after) >= flows.size()) {
    return fmt::format("waits for flow {}, and there are {}", flow.after, flows.size());
  }
  const Flow& other = flows[static_cast<std::size_t>(flow.after)];
  if (other.to == flow.from || other.from == flow.from) return {};
  return fmt::format(
      "starts at host {} and waits for flow {}, which goes from {} to {}: a host knows only of "
      "flows that it sends or receives",
      flow.from, flow.after, other.from, other.to);
}

std::string problem_with_flow(const std::vector<Flow>& flows, const Flow& flow,
                              std::uint32_t hosts) {
  if (flow.from >= hosts || flow.to >= hosts) {
    return fmt::format("goes from {} to {}, and the last host is {}", flow.from, flow.to,
                       hosts - 1);
  }
  if (flow.from == flow.to) return fmt::format("goes from host {} to itself", flow.from);
  if (flow.bytes == 0) return "bytes must be above 0";
  if (flow.bytes > kMessageBytesMax) return "has more than 1 TiB";
  if (flow.repeat == 0) return "repeat must be above 0";
  if (flow.start < Picoseconds{}) return "starts before time 0";
  return problem_with_after(flows, flow);
}

// A flow that waits for itself in the end; -1 if there is none.
std::int64_t flow_in_circle(const std::vector<Flow>& flows) {
  constexpr std::uint32_t kNotSeen = 0;
  std::vector<std::uint32_t> seen_from(flows.size(), kNotSeen);  // which walk came by here first
  for (std::uint32_t first = 0; first < flows.size(); ++first) {
    const std::uint32_t walk = first + 1;
    for (std::int64_t at = first; at >= 0;) {
      std::uint32_t& seen = seen_from[static_cast<std::size_t>(at)];
      if (seen == walk) return at;
      if (seen != kNotSeen) break;
      seen = walk;
      at = flows[static_cast<std::size_t>(at)].after;
    }
  }
  return -1;
}

}  // namespace

std::string problem_with(const FlowList& settings, const fabric::Fabric& fabric) {
  const std::vector<Flow>& flows = settings.flows;
  if (flows.empty()) return "there are no flows";
  if (flows.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return "there are too many flows";
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::string problem = problem_with_flow(flows, flows[i], fabric.hosts());
    if (!problem.empty()) return fmt::format("flow {} {}", i, problem);
  }
  const std::int64_t circle = flow_in_circle(flows);
  if (circle >= 0) return fmt::format("flow {} waits for itself, through others or not", circle);
  return {};
}

std::unique_ptr<Workload> workload_of(const FlowList& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return std::make_unique<FlowListWorkload>(settings, fabric.hosts());
}

}  // namespace openmrc::sim
