// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/graph_workload.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

class GraphProgram final : public Program {
 public:
  GraphProgram(Graph graph, const Ranks& ranks, std::uint32_t iterations)
      : graph_(std::move(graph)), ranks_(ranks), iterations_(iterations) {
    for (std::uint32_t i = 0; i < graph_.peers.size(); ++i) {
      peer_of_rank_.emplace_back(graph_.peers[i].rank, i);
    }
    std::ranges::sort(peer_of_rank_);
    early_.resize(graph_.peers.size());
  }

  void on_time(Picoseconds now, Requests& requests) override {
    if (!begun_) begin_iteration(now);
    begun_ = true;
    while (!timers_.empty() && timers_.top().first <= now) {
      const OpIndex op = timers_.top().second;
      timers_.pop();
      if (graph_.ops[op].kind == OpKind::kCompute) computing_ = false;
      finish(op);
    }
    advance(now, requests);
  }

  void on_sent(Picoseconds now, HostIndex to, MessageTag tag, Requests& requests) override {
    const Graph::Peer& peer = graph_.peers[peer_index(to)];
    finish(peer.sends[tag % peer.sends.size()]);
    advance(now, requests);
  }

  // The sender may be iterations ahead of us, and may send before we wait for it.
  void on_received(Picoseconds now, HostIndex from, MessageTag tag, Requests& requests) override {
    const std::size_t index = peer_index(from);
    OPENMRC_CHECK(!graph_.peers[index].receives.empty(), "a message that the graph receives");
    early_[index].push_back(tag);
    if (!begun_) return;
    take_early(index);
    advance(now, requests);
  }

  [[nodiscard]] bool done() const override { return iteration_ == iterations_; }

 private:
  enum class Receive : std::uint8_t { kNothing, kAwaited, kHere };
  using Timer = std::pair<Picoseconds, OpIndex>;

  [[nodiscard]] std::size_t peer_index(HostIndex host) const {
    const std::uint32_t rank = *ranks_.rank(host);
    const auto found = std::ranges::lower_bound(peer_of_rank_, std::pair(rank, 0U));
    OPENMRC_CHECK(found != peer_of_rank_.end() && found->first == rank, "a peer of the graph");
    return found->second;
  }

  void begin_iteration(Picoseconds now) {
    iteration_begin_ = now;
    left_ = graph_.ops.size();
    waits_ = graph_.waits_for;
    receives_.assign(graph_.ops.size(), Receive::kNothing);
    for (std::size_t i = 0; i < early_.size(); ++i) take_early(i);
    for (OpIndex op = 0; op < waits_.size(); ++op) {
      if (waits_[op] == 0) ready_.push_back(op);
    }
  }

  // What has come for this iteration.
  void take_early(std::size_t index) {
    const Ops& receives = graph_.peers[index].receives;
    std::erase_if(early_[index], [&](MessageTag tag) {
      if (tag / receives.size() != iteration_) return false;
      const OpIndex op = receives[tag % receives.size()];
      const bool awaited = receives_[op] == Receive::kAwaited;
      receives_[op] = Receive::kHere;
      if (awaited) finish(op);
      return true;
    });
  }

  void finish(OpIndex op) {
    --left_;
    for (std::uint32_t i = graph_.first_dependent[op]; i < graph_.first_dependent[op + 1]; ++i) {
      if (--waits_[graph_.dependents[i]] == 0) ready_.push_back(graph_.dependents[i]);
    }
  }

  // Does all that can be done now.
  void advance(Picoseconds now, Requests& requests) {
    for (;;) {
      while (!ready_.empty()) {
        const OpIndex op = ready_.front();
        ready_.pop_front();
        start(op, now, requests);
      }
      compute(now);
      if (left_ > 0 || done()) break;
      requests.steps.push_back({.step = iteration_, .begin = iteration_begin_, .end = now});
      if (++iteration_ < iterations_) begin_iteration(now);
    }
    if (!timers_.empty()) requests.wake_at = timers_.top().first;
  }

  void start(OpIndex op, Picoseconds now, Requests& requests) {
    const Op& what = graph_.ops[op];
    switch (what.kind) {
      case OpKind::kSend: send(what, requests); return;
      case OpKind::kReceive:
        if (receives_[op] == Receive::kHere) return finish(op);
        receives_[op] = Receive::kAwaited;
        return;
      case OpKind::kCompute: computations_.push_back(op); return;
      case OpKind::kDelay: timers_.emplace(now + what.time, op); return;
      case OpKind::kJoin: return finish(op);
    }
  }

  void send(const Op& op, Requests& requests) {
    const auto count =
        static_cast<std::uint32_t>(graph_.peers[peer_index(ranks_.host(op.peer))].sends.size());
    requests.sends.push_back(
        {.to = ranks_.host(op.peer), .bytes = op.bytes, .tag = iteration_ * count + op.sequence});
  }

  void compute(Picoseconds now) {
    if (computing_ || computations_.empty()) return;
    computing_ = true;
    const OpIndex op = computations_.front();
    computations_.pop_front();
    timers_.emplace(now + graph_.ops[op].time, op);
  }

  Graph graph_;
  Ranks ranks_;
  std::uint32_t iterations_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> peer_of_rank_;  // sorted

  bool begun_ = false;
  bool computing_ = false;
  std::uint32_t iteration_ = 0;
  Picoseconds iteration_begin_{};
  std::size_t left_ = 0;
  std::vector<std::uint32_t> waits_;
  std::vector<Receive> receives_;               // by operation
  std::vector<std::vector<MessageTag>> early_;  // by peer
  std::deque<OpIndex> ready_;
  std::deque<OpIndex> computations_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

class GraphWorkload final : public Workload {
 public:
  GraphWorkload(std::shared_ptr<const GraphSource> source, const Ranks& ranks,
                std::uint32_t iterations)
      : source_(std::move(source)), ranks_(ranks), iterations_(iterations) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    std::vector<HostIndex> result;
    const auto rank = ranks_.rank(host);
    if (!rank) return result;
    for (const Graph::Peer& peer : source_->graph(*rank).peers) {
      if (!peer.sends.empty()) result.push_back(ranks_.host(peer.rank));
    }
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    const auto rank = ranks_.rank(host);
    if (!rank) return nullptr;
    return std::make_unique<GraphProgram>(source_->graph(*rank), ranks_, iterations_);
  }

 private:
  std::shared_ptr<const GraphSource> source_;
  Ranks ranks_;
  std::uint32_t iterations_;
};

}  // namespace

std::unique_ptr<Workload> graph_workload(std::shared_ptr<const GraphSource> source,
                                         const Ranks& ranks, std::uint32_t iterations) {
  return std::make_unique<GraphWorkload>(std::move(source), ranks, iterations);
}

}  // namespace openmrc::sim
