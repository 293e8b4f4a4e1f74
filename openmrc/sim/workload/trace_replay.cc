// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/trace_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "openmrc/sim/workload/collectives.h"
#include "openmrc/sim/workload/graph_workload.h"
#include "openmrc/sim/workload/ranks.h"
#include "openmrc/sim/workload/trace_check.h"

namespace openmrc::sim {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

class TraceGraphs final : public GraphSource {
 public:
  explicit TraceGraphs(TraceReplay settings) : settings_(std::move(settings)) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    return trace_graph(settings_, rank);
  }

 private:
  TraceReplay settings_;
};

// A rank's graph from its trace. Messages of a pair are numbered by group and tag, so that both
// ends number them alike, however each of them orders its nodes.
class TraceBuilder {
 public:
  TraceBuilder(const TraceReplay& settings, std::uint32_t rank)
      : settings_(settings), job_(*settings.job), trace_(job_.ranks[rank]), rank_(rank) {}

  Graph build() {
    for (const TraceNode& node : trace_) add_node(node);
    for (const auto& [group, nodes] : collectives_) {
      for (const std::size_t i : nodes) add_collective(i, group_named(group));
    }
    for (const auto& [key, nodes] : messages_) {
      for (const std::size_t i : nodes) add_message(i);
    }
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      for (const std::uint64_t id : trace_[i].waits_for) {
        graph_.wait_for(begins_[i], ends_[place_.at(id)]);
      }
    }
    return graph_.take();
  }

 private:
  using MessageKey = std::tuple<std::uint64_t, std::uint64_t, TraceKind>;  // peer, tag

  void add_node(const TraceNode& node) {
    const std::size_t i = begins_.size();
    place_.emplace(node.id, i);
    OpIndex begin = 0;
    OpIndex end = 0;
    if (node.kind == TraceKind::kCollective) {
      begin = graph_.join({});
      end = graph_.join({});
      collectives_[node.group].push_back(i);
    } else if (node.kind == TraceKind::kSend || node.kind == TraceKind::kReceive) {
      begin = end = graph_.join({});
      const bool sends = node.kind == TraceKind::kSend;
      messages_[{sends ? node.destination : node.source, node.tag, node.kind}].push_back(i);
    } else {
      const Picoseconds time = compute_time(job_, node);
      const bool computes = time > Picoseconds{} && !node.on_cpu;
      begin = end = computes ? graph_.compute(time, {}) : graph_.delay(time, {});
    }
    begins_.push_back(begin);
    ends_.push_back(end);
  }

  void add_message(std::size_t i) {
    const TraceNode& node = trace_[i];
    const bool sends = node.kind == TraceKind::kSend;
    ends_[i] =
        sends ? graph_.send(static_cast<std::uint32_t>(node.destination), node.bytes, {begins_[i]})
              : graph_.receive(static_cast<std::uint32_t>(node.source), {begins_[i]});
  }

  [[nodiscard]] RankGroup group_named(const std::string& name) const {
    RankGroup group{.ranks = ranks_of_group(job_, name)};
    group.position = position_in(group, rank_);
    return group;
  }
  static std::uint32_t position_in(const RankGroup& group, std::uint64_t rank) {
    return static_cast<std::uint32_t>(std::ranges::find(group.ranks, rank) - group.ranks.begin());
  }

  void add_collective(std::size_t i, const RankGroup& group) {
    Ops done{begins_[i]};
    if (group.size() > 1) done = collective(trace_[i], group, done);
    for (const OpIndex op : done) graph_.wait_for(ends_[i], op);
  }

  // `comm_size` is what each rank puts in, as ASTRA-sim has it.
  Ops collective(const TraceNode& node, const RankGroup& group, const Ops& after) {
    const std::uint64_t chunk = settings_.options.chunk;
    const std::uint64_t bytes = std::max<std::uint64_t>(node.bytes, group.size());
    switch (node.collective) {
      case TraceCollective::kAllGather:
        return all_gather(graph_, group, node.bytes * group.size(), chunk, after);
      case TraceCollective::kReduceScatter:
      case TraceCollective::kReduceScatterBlock:
        return reduce_scatter(graph_, group, bytes, chunk, after);
      case TraceCollective::kAllToAll: {
        const std::vector<std::uint64_t> shares(group.size(), bytes / group.size());
        return all_to_all(graph_, group, shares, after);
      }
      case TraceCollective::kBroadcast:
        return broadcast(graph_, group, position_in(group, node.root), node.bytes, chunk, after);
      case TraceCollective::kBarrier:
        return all_reduce(graph_, group, group.size(), {.kind = AllReduceKind::kRing}, after);
      default: return all_reduce(graph_, group, bytes, options_for(group), after);
    }
  }

  // Groups that an algorithm does not suit are rings.
  [[nodiscard]] AllReduceOptions options_for(const RankGroup& group) const {
    AllReduceOptions options = settings_.options;
    if (!problem_with_all_reduce_options(group.size(), options).empty()) {
      options.kind = AllReduceKind::kRing;
    }
    return options;
  }

  const TraceReplay& settings_;
  const TraceJob& job_;
  const RankTrace& trace_;
  std::uint32_t rank_;
  GraphBuilder graph_;
  std::unordered_map<std::uint64_t, std::size_t> place_;  // of a node, by its id
  Ops begins_;
  Ops ends_;
  std::map<std::string, std::vector<std::size_t>> collectives_;  // by group, in order
  std::map<MessageKey, std::vector<std::size_t>> messages_;      // in order
};

// Of one iteration of one rank, if messages take no time.
Picoseconds longest_chain(const TraceJob& job, const RankTrace& trace) {
  GraphBuilder builder;
  std::unordered_map<std::uint64_t, OpIndex> place;
  for (const TraceNode& node : trace) place[node.id] = builder.delay(compute_time(job, node), {});
  for (const TraceNode& node : trace) {
    for (const std::uint64_t id : node.waits_for) builder.wait_for(place[node.id], place[id]);
  }
  const Graph graph = builder.take();
  std::vector<std::uint32_t> waits = graph.waits_for;
  std::vector<Picoseconds> ends(graph.ops.size());
  Ops free;
  for (OpIndex op = 0; op < waits.size(); ++op) {
    if (waits[op] == 0) free.push_back(op);
  }
  Picoseconds longest{};
  for (std::size_t done = 0; done < free.size(); ++done) {
    const OpIndex op = free[done];
    ends[op] = ends[op] + graph.ops[op].time;
    longest = std::max(longest, ends[op]);
    for (std::uint32_t i = graph.first_dependent[op]; i < graph.first_dependent[op + 1]; ++i) {
      const OpIndex next = graph.dependents[i];
      ends[next] = std::max(ends[next], ends[op]);
      if (--waits[next] == 0) free.push_back(next);
    }
  }
  return longest;
}

// Operations and messages of a rank's graph.
std::string problem_with_graphs(const TraceReplay& settings) {
  const TraceJob& job = *settings.job;
  std::uint64_t ops = 0;
  std::uint64_t messages = 0;
  for (const RankTrace& trace : job.ranks) {
    std::uint64_t own = 0;
    std::uint64_t sent = 0;
    for (const TraceNode& node : trace) {
      own += 2;
      if (node.kind == TraceKind::kCollective) {
        const std::uint32_t ranks = size_of_group(job, node.group);
        const std::uint64_t bytes = node.bytes * ranks;
        own += 4 * ranks * chunks_of(bytes, settings.options.chunk, 1) + 4;
        sent += 2 * ranks * chunks_of(bytes, settings.options.chunk, 1);
      }
    }
    ops = std::max(ops, own);
    messages = std::max(messages, sent + trace.size());
  }
  return problem_with_size(settings.hosts, ops, messages, settings.steps);
}

}  // namespace

Picoseconds compute_time(const TraceJob& job, const TraceNode& node) {
  if (node.kind == TraceKind::kSend || node.kind == TraceKind::kReceive ||
      node.kind == TraceKind::kCollective) {
    return {};
  }
  if (node.duration_us > 0) {
    return Picoseconds(static_cast<std::int64_t>(node.duration_us) * kPicosecondsPerMicrosecond);
  }
  if (node.kind != TraceKind::kCompute) return {};
  const auto time = [](std::uint64_t amount, std::uint64_t per_second) {
    if (per_second == 0) return 0.0;
    return static_cast<double>(amount) / static_cast<double>(per_second) *
           static_cast<double>(kPicosecondsPerSecond);
  };
  constexpr double kComputeTimeMax = 1e18;  // 11 days
  const double longer = std::max(time(node.operations, job.operations_per_second),
                                 time(node.tensor_bytes, job.memory_bytes_per_second));
  return Picoseconds(static_cast<std::int64_t>(std::min(longer, kComputeTimeMax)));
}

TraceTime own_time(const TraceJob& job) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  Picoseconds longest{};
  for (const RankTrace& trace : job.ranks) {
    for (const TraceNode& node : trace) {
      if (node.start_us == 0) continue;
      first = std::min(first, node.start_us);
      last = std::max(last, node.start_us + node.duration_us);
    }
    longest = std::max(longest, longest_chain(job, trace));
  }
  if (last <= first || last - first > std::numeric_limits<std::int64_t>::max() / 1'000'000) {
    return {.time = longest};
  }
  return {.time = Picoseconds(static_cast<std::int64_t>(last - first) * kPicosecondsPerMicrosecond),
          .recorded = true};
}

Graph trace_graph(const TraceReplay& settings, std::uint32_t rank) {
  return TraceBuilder(settings, rank).build();
}

std::string problem_with(const TraceReplay& settings, const fabric::Fabric& fabric) {
  if (settings.job == nullptr || settings.job->ranks.size() != settings.hosts) {
    return "a trace has a file for each host";
  }
  if (settings.hosts < 2) return "a trace needs two hosts";
  if (settings.hosts > fabric.hosts()) {
    return fmt::format("the trace has {} ranks, and the fabric {} hosts", settings.hosts,
                       fabric.hosts());
  }
  if (settings.steps == 0) return "a job needs a step";
  if (auto problem = problem_with_trace(*settings.job); !problem.empty()) return problem;
  return problem_with_graphs(settings);
}

std::unique_ptr<Workload> workload_of(const TraceReplay& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return graph_workload(std::make_shared<TraceGraphs>(settings),
                        Ranks(settings.hosts, settings.placement, fabric), settings.steps);
}

}  // namespace openmrc::sim
