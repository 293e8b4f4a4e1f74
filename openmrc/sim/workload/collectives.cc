// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "openmrc/base/check.h"
#include "openmrc/sim/workload/all_reduce.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

// What a collective does to each piece of the vector; the pieces follow each other as fast as they
// can.
template <class Piece>
Ops in_chunks(GraphBuilder& graph, std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk,
              const Ops& after, Piece&& piece) {
  const auto count = static_cast<std::uint32_t>(chunks_of(bytes, chunk, ranks));
  const Ops begin = after.size() > 1 ? Ops{graph.join(after)} : after;
  Ops ends;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ops end = piece(slice_bytes(bytes, count, i), begin);
    ends.insert(ends.end(), end.begin(), end.end());
  }
  return ends;
}

// Once around: what a rank has, it gives to the next. In round r that is the slice that began r
// places before `first`.
Ops pass_around(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                std::uint32_t first, const Ops& after) {
  const std::uint32_t ranks = group.size();
  Ops last = after;
  for (std::uint32_t round = 0; round + 1 < ranks; ++round) {
    const std::uint32_t slice = (first + ranks - round) % ranks;
    graph.send(group.at(group.position + 1), slice_bytes(bytes, ranks, slice), last);
    last = {graph.receive(group.at(group.position + ranks - 1), last)};
  }
  return last;
}

Ops scatter_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                  const Ops& after) {
  return pass_around(graph, group, bytes, group.position, after);
}

// A rank begins with the slice that a reduce-scatter leaves with it.
Ops gather_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                 const Ops& after) {
  return pass_around(graph, group, bytes, group.position + 1, after);
}

Ops halving_doubling_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                           const Ops& after) {
  const AllReducePlan plan{.ranks = group.size(), .kind = AllReduceKind::kHalvingDoubling};
  Ops last = after;
  for (std::uint32_t number = 0; number < plan.rounds(); ++number) {
    const AllReduceRound round = plan.round(group.position, number, bytes);
    graph.send(group.at(round.to), round.bytes, last);
    last = {graph.receive(group.at(round.from), last)};
  }
  return last;
}

// A binary heap: the children of place i are at 2i + 1 and 2i + 2. `place` gives the position of a
// place in the group, and is its own inverse.
class Tree {
 public:
  Tree(const RankGroup& group, std::uint32_t own_place, bool mirrored, std::uint32_t root)
      : group_(group), mirrored_(mirrored), root_(root), place_(own_place) {}

  [[nodiscard]] bool has_parent() const { return place_ > 0; }
  [[nodiscard]] std::uint32_t parent() const { return rank_at((place_ - 1) / 2); }
  [[nodiscard]] std::vector<std::uint32_t> children() const {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t child : {2 * place_ + 1, 2 * place_ + 2}) {
      if (child < group_.size()) result.push_back(rank_at(child));
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t place) const {
    return mirrored_ ? group_.at(group_.size() - 1 - place) : group_.at(root_ + place);
  }

  const RankGroup& group_;
  bool mirrored_;
  std::uint32_t root_;
  std::uint32_t place_;
};

Ops reduce_up(GraphBuilder& graph, const Tree& tree, std::uint64_t bytes, const Ops& after) {
  Ops have = after;
  for (const std::uint32_t child : tree.children()) have.push_back(graph.receive(child, after));
  if (have.size() > 1) have = {graph.join(have)};
  if (tree.has_parent()) graph.send(tree.parent(), bytes, have);
  return have;
}

Ops hand_down(GraphBuilder& graph, const Tree& tree, std::uint64_t bytes, const Ops& after) {
  const Ops have = tree.has_parent() ? Ops{graph.receive(tree.parent(), after)} : after;
  for (const std::uint32_t child : tree.children()) graph.send(child, bytes, have);
  return have;
}

// Half of the vector goes along one tree, half along its mirror image: who is a leaf in one is
// none in the other, so that everybody sends and receives about as much.
Ops two_trees_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                    const Ops& after) {
  Ops ends;
  for (const bool mirrored : {false, true}) {
    const std::uint64_t half = slice_bytes(bytes, 2, mirrored ? 1 : 0);
    const std::uint32_t place = mirrored ? group.size() - 1 - group.position : group.position;
    const Tree tree(group, place, mirrored, 0);
    const Ops end = hand_down(graph, tree, half, reduce_up(graph, tree, half, after));
    ends.insert(ends.end(), end.begin(), end.end());
  }
  return ends;
}

// How long a rank takes for its part of a reduce-scatter or an all-gather over a link of its own.
Picoseconds time_inside(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t bits_per_second) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t part = bytes - bytes / ranks;
  return Picoseconds(
      static_cast<std::int64_t>(Wide{part} * 8 * kPicosecondsPerSecond / bits_per_second));
}

// Inside each group, then among those who have the same place in their groups, then inside again.
Ops hierarchical_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                       const AllReduceOptions& options, const Ops& after) {
  const std::uint32_t size = options.group;
  const std::uint32_t place = group.position % size;
  const std::uint32_t first = group.position - place;
  RankGroup inside{.position = place};
  RankGroup across{.position = group.position / size};
  for (std::uint32_t i = 0; i < size; ++i) inside.ranks.push_back(group.at(first + i));
  for (std::uint32_t i = place; i < group.size(); i += size) across.ranks.push_back(group.at(i));
  const bool by_fabric = options.group_bits_per_second == 0;
  const Picoseconds time =
      by_fabric ? Picoseconds{} : time_inside(size, bytes, options.group_bits_per_second);
  const Ops scattered =
      by_fabric ? scatter_piece(graph, inside, bytes, after) : Ops{graph.delay(time, after)};
  const std::uint64_t own = slice_bytes(bytes, size, (place + 1) % size);
  Ops reduced = scatter_piece(graph, across, own, scattered);
  reduced = gather_piece(graph, across, own, reduced);
  return by_fabric ? gather_piece(graph, inside, bytes, reduced) : Ops{graph.delay(time, reduced)};
}

Ops all_reduce_piece(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                     const AllReduceOptions& options, const Ops& after) {
  switch (options.kind) {
    case AllReduceKind::kRing:
      return gather_piece(graph, group, bytes, scatter_piece(graph, group, bytes, after));
    case AllReduceKind::kHalvingDoubling: return halving_doubling_piece(graph, group, bytes, after);
    case AllReduceKind::kTree: return two_trees_piece(graph, group, bytes, after);
    case AllReduceKind::kHierarchical:
      return hierarchical_piece(graph, group, bytes, options, after);
  }
  return after;
}

}  // namespace

RankGroup group_of(std::uint32_t rank, std::uint32_t first, std::uint32_t stride,
                   std::uint32_t count) {
  RankGroup group{.position = (rank - first) / stride};
  for (std::uint32_t i = 0; i < count; ++i) group.ranks.push_back(first + i * stride);
  return group;
}

std::uint64_t chunks_of(std::uint64_t bytes, std::uint64_t chunk, std::uint32_t ranks) {
  if (chunk == 0) return 1;
  const std::uint64_t wanted = bytes / chunk + (bytes % chunk == 0 ? 0 : 1);
  return std::clamp(wanted, std::uint64_t{1}, std::max(bytes / ranks, std::uint64_t{1}));
}

Ops reduce_scatter(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                   std::uint64_t chunk, const Ops& after) {
  return in_chunks(graph, group.size(), bytes, chunk, after,
                   [&](std::uint64_t piece, const Ops& begin) {
                     return scatter_piece(graph, group, piece, begin);
                   });
}

Ops all_gather(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
               std::uint64_t chunk, const Ops& after) {
  return in_chunks(graph, group.size(), bytes, chunk, after,
                   [&](std::uint64_t piece, const Ops& begin) {
                     return gather_piece(graph, group, piece, begin);
                   });
}

Ops all_reduce(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
               const AllReduceOptions& options, const Ops& after) {
  return in_chunks(graph, group.size(), bytes, options.chunk, after,
                   [&](std::uint64_t piece, const Ops& begin) {
                     return all_reduce_piece(graph, group, piece, options, begin);
                   });
}

Ops broadcast(GraphBuilder& graph, const RankGroup& group, std::uint32_t root, std::uint64_t bytes,
              std::uint64_t chunk, const Ops& after) {
  const std::uint32_t place = (group.position + group.size() - root) % group.size();
  const Tree tree(group, place, false, root);
  return in_chunks(graph, 1, bytes, chunk, after, [&](std::uint64_t piece, const Ops& begin) {
    return hand_down(graph, tree, piece, begin);
  });
}

Ops all_to_all(GraphBuilder& graph, const RankGroup& group, std::span<const std::uint64_t> to,
               const Ops& after) {
  const Ops begin = after.size() > 1 ? Ops{graph.join(after)} : after;
  Ops sends;
  Ops receives;
  for (std::uint32_t i = 1; i < group.size(); ++i) {
    Ops first = begin;
    if (sends.size() >= kDirectOutstanding) first = {sends[sends.size() - kDirectOutstanding]};
    const std::uint32_t place = (group.position + i) % group.size();
    sends.push_back(graph.send(group.at(place), to[place], first));
    receives.push_back(graph.receive(group.at(group.position + group.size() - i), begin));
  }
  return receives;
}

std::uint64_t ops_of_ring(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk) {
  return chunks_of(bytes, chunk, ranks) * 2 * ranks + 1;
}

std::uint64_t ops_of_all_reduce(std::uint32_t ranks, std::uint64_t bytes,
                                const AllReduceOptions& options) {
  const std::uint64_t chunks = chunks_of(bytes, options.chunk, ranks);
  switch (options.kind) {
    case AllReduceKind::kRing: return chunks * 4 * ranks + 1;
    case AllReduceKind::kHalvingDoubling:
      return chunks * 4 * static_cast<std::uint64_t>(std::bit_width(ranks)) + 1;
    case AllReduceKind::kTree: return chunks * 16 + 1;
    case AllReduceKind::kHierarchical:
      return chunks * 4 * (std::uint64_t{options.group} + ranks / options.group) + 1;
  }
  return 0;
}

std::string problem_with_all_reduce_options(std::uint32_t ranks, const AllReduceOptions& options) {
  if (options.kind == AllReduceKind::kHalvingDoubling && !std::has_single_bit(ranks)) {
    return fmt::format("halving and doubling needs a power of two of hosts, not {}", ranks);
  }
  if (options.kind != AllReduceKind::kHierarchical) return {};
  if (options.group < 2 || ranks % options.group != 0 || ranks / options.group < 2) {
    return fmt::format(
        "a hierarchical all-reduce needs two groups of at least two hosts, all of "
        "{}: {} hosts are not",
        options.group, ranks);
  }
  return {};
}

std::string problem_with_size(std::uint32_t ranks, std::uint64_t ops_of_rank,
                              std::uint64_t messages_of_pair, std::uint64_t iterations) {
  if (ops_of_rank > kGraphOpsMax / std::max(ranks, 1U)) {
    return fmt::format(
        "the job has {} operations on each of {} hosts, and may have {} in all: "
        "larger chunks or fewer layers make fewer",
        ops_of_rank, ranks, kGraphOpsMax);
  }
  if (messages_of_pair > kGraphTagsMax / std::max(iterations, std::uint64_t{1})) {
    return "the job has more rounds than messages can be numbered";
  }
  return {};
}

}  // namespace openmrc::sim
