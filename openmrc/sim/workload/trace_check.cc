// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/trace_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

std::string name_of(const TraceNode& node) {
  return fmt::format("node {} ({})", node.id, node.name);
}

// Nodes in which every rank of a group takes part.
bool is_collective(const TraceNode& node) { return node.kind == TraceKind::kCollective; }
bool is_message(const TraceNode& node) {
  return node.kind == TraceKind::kSend || node.kind == TraceKind::kReceive;
}

bool can_be_done(TraceCollective collective) {
  switch (collective) {
    case TraceCollective::kReduce:
    case TraceCollective::kGather:
    case TraceCollective::kScatter: return false;
    default: return true;
  }
}

bool has_rank(const TraceJob& job, const std::string& group, std::uint64_t rank) {
  if (group.empty()) return rank < job.ranks.size();
  return std::ranges::find(job.groups.at(group), rank) != job.groups.at(group).end();
}

std::string problem_with_collective(const TraceJob& job, std::uint32_t rank,
                                    const TraceNode& node) {
  if (!can_be_done(node.collective)) {
    return fmt::format(
        "is a collective (comm_type {}) that is not known here: all-reduce, "
        "all-gather, reduce-scatter, all-to-all, broadcast and barrier are",
        static_cast<int>(node.collective));
  }
  if (!node.group.empty() && !job.groups.contains(node.group)) {
    return fmt::format("is for group {}, which 'groups' does not have", node.group);
  }
  if (!has_rank(job, node.group, rank)) {
    return fmt::format("is for group {}, and rank {} is not in it", node.group, rank);
  }
  if (node.collective == TraceCollective::kBroadcast && !has_rank(job, node.group, node.root)) {
    return fmt::format("has root {}, which is not in its group", node.root);
  }
  if (node.collective == TraceCollective::kBarrier) return {};
  if (node.bytes == 0) return "has no comm_size";
  if (node.bytes > kVectorBytesMax / size_of_group(job, node.group)) {
    return "has a comm_size above 1 TiB for all ranks";
  }
  return {};
}

std::string problem_with_node(const TraceJob& job, std::uint32_t rank, const TraceNode& node) {
  constexpr std::uint64_t kDurationMax = 1'000'000'000'000;  // 11 days, in microseconds
  if (node.duration_us > kDurationMax) return "has a duration of more than 11 days";
  if (is_collective(node)) return problem_with_collective(job, rank, node);
  if (is_message(node)) {
    const std::uint64_t other = node.kind == TraceKind::kSend ? node.destination : node.source;
    if (other >= job.ranks.size() || other == rank) {
      return fmt::format("is a message with rank {}, and there are ranks 0 to {}", other,
                         job.ranks.size() - 1);
    }
    if (node.bytes == 0 || node.bytes > kMessageBytesMax) {
      return "is a message without a comm_size, or one above 1 TiB";
    }
  }
  const bool unknown = node.kind == TraceKind::kCompute && node.duration_us == 0 &&
                       node.operations > 0 && job.operations_per_second == 0;
  if (unknown) return "has num_ops and no duration: 'tflops' says how long they take";
  return {};
}

// Ids are known, and nothing waits for itself.
std::string problem_with_order(const RankTrace& trace) {
  std::unordered_map<std::uint64_t, std::uint32_t> place;
  for (const TraceNode& node : trace) {
    if (!place.emplace(node.id, static_cast<std::uint32_t>(place.size())).second) {
      return fmt::format("{} has the id of another", name_of(node));
    }
  }
  GraphBuilder graph;
  for (std::size_t i = 0; i < trace.size(); ++i) graph.join({});
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    for (const std::uint64_t id : trace[i].waits_for) {
      const auto found = place.find(id);
      if (found == place.end()) {
        return fmt::format("{} waits for node {}, and there is none", name_of(trace[i]), id);
      }
      graph.wait_for(i, found->second);
    }
  }
  return is_acyclic(graph.take()) ? "" : "nodes wait for each other in a circle";
}

// The n-th collective of a group is the same one for all its ranks.
std::string problem_with_groups(const TraceJob& job) {
  using Shape = std::tuple<TraceCollective, std::uint64_t, std::uint64_t>;
  std::map<std::string, std::map<std::uint32_t, std::vector<Shape>>> of_group;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const TraceNode& node : job.ranks[rank]) {
      if (!is_collective(node)) continue;
      of_group[node.group][rank].emplace_back(node.collective, node.bytes, node.root);
    }
  }
  for (auto& [group, shapes] : of_group) {
    const auto ranks = ranks_of_group(job, group);
    const auto& first = shapes[ranks.front()];
    for (const std::uint32_t rank : ranks) {
      if (shapes[rank] == first) continue;
      return fmt::format("ranks {} and {} have different collectives of group '{}': {} and {}",
                         ranks.front(), rank, group, first.size(), shapes[rank].size());
    }
  }
  return {};
}

std::string problem_with_messages(const TraceJob& job) {
  using Way = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // from, to, tag
  std::map<Way, std::int64_t> open;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const TraceNode& node : job.ranks[rank]) {
      if (node.kind == TraceKind::kSend) ++open[{rank, node.destination, node.tag}];
      if (node.kind == TraceKind::kReceive) --open[{node.source, rank, node.tag}];
    }
  }
  for (const auto& [way, count] : open) {
    if (count == 0) continue;
    return fmt::format("rank {} sends rank {} {} messages with tag {} {} than that one receives",
                       std::get<0>(way), std::get<1>(way), count > 0 ? count : -count,
                       std::get<2>(way), count > 0 ? "more" : "fewer");
  }
  return {};
}

std::string problem_with_group_list(const TraceJob& job) {
  for (const auto& [name, ranks] : job.groups) {
    const std::unordered_set<std::uint32_t> known(ranks.begin(), ranks.end());
    if (ranks.empty() || known.size() != ranks.size()) {
      return fmt::format("group {} has no ranks, or one twice", name);
    }
    if (std::ranges::max(ranks) >= job.ranks.size()) {
      return fmt::format("group {} has rank {}, and there are {}", name, std::ranges::max(ranks),
                         job.ranks.size());
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> ranks_of_group(const TraceJob& job, const std::string& group) {
  if (!group.empty()) return job.groups.at(group);
  std::vector<std::uint32_t> all(job.ranks.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

std::uint32_t size_of_group(const TraceJob& job, const std::string& group) {
  const std::size_t size = group.empty() ? job.ranks.size() : job.groups.at(group).size();
  return static_cast<std::uint32_t>(size);
}

std::string problem_with_trace(const TraceJob& job) {
  if (auto problem = problem_with_group_list(job); !problem.empty()) return problem;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const TraceNode& node : job.ranks[rank]) {
      const std::string problem = problem_with_node(job, rank, node);
      if (!problem.empty()) return fmt::format("rank {}: {} {}", rank, name_of(node), problem);
    }
    const std::string problem = problem_with_order(job.ranks[rank]);
    if (!problem.empty()) return fmt::format("rank {}: {}", rank, problem);
  }
  if (auto problem = problem_with_groups(job); !problem.empty()) return problem;
  return problem_with_messages(job);
}

}  // namespace openmrc::sim
