// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// Collectives as parts of a rank's graph. Each adds what one rank does, after all of `after`, and
// returns what has to be done until the rank has its result. That its own messages have arrived is
// not waited for. Sums take no time.

// Messages of a rank that are in flight in an all-to-all; the next is sent when one has arrived.
inline constexpr std::size_t kDirectOutstanding = 8;

// Those who take part, and which of them the rank is. There are at least two.
struct RankGroup {
  std::vector<std::uint32_t> ranks{};
  std::uint32_t position = 0;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
  [[nodiscard]] std::uint32_t at(std::uint32_t place) const { return ranks[place % size()]; }
};

// `first`, `first + stride`, ...: so many ranks, of which `rank` is one.
RankGroup group_of(std::uint32_t rank, std::uint32_t first, std::uint32_t stride,
                   std::uint32_t count);

// `bytes` are those of the whole vector: what is reduced, or what is gathered. At least a byte for
// each rank.
Ops reduce_scatter(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
                   std::uint64_t chunk, const Ops& after);
Ops all_gather(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
               std::uint64_t chunk, const Ops& after);
Ops all_reduce(GraphBuilder& graph, const RankGroup& group, std::uint64_t bytes,
               const AllReduceOptions& options, const Ops& after);
// From one to all, along a binary tree.
Ops broadcast(GraphBuilder& graph, const RankGroup& group, std::uint32_t root, std::uint64_t bytes,
              std::uint64_t chunk, const Ops& after);
// `to[i]` and `from[i]` are the bytes to and from the rank at place i, of which there are at least
// one; its own are left out.
Ops all_to_all(GraphBuilder& graph, const RankGroup& group, std::span<const std::uint64_t> to,
               const Ops& after);

// How many operations one of them needs on a rank, or a little more.
std::uint64_t ops_of_all_reduce(std::uint32_t ranks, std::uint64_t bytes,
                                const AllReduceOptions& options);
std::uint64_t ops_of_ring(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk);
// And how many messages to one other rank.
std::uint64_t chunks_of(std::uint64_t bytes, std::uint64_t chunk, std::uint32_t ranks);

// Why an all-reduce does not suit so many ranks; empty if it does.
std::string problem_with_all_reduce_options(std::uint32_t ranks, const AllReduceOptions& options);
// Why a job needs more operations or numbers of messages than there can be.
std::string problem_with_size(std::uint32_t ranks, std::uint64_t ops_of_rank,
                              std::uint64_t messages_of_pair, std::uint64_t iterations);

}  // namespace openmrc::sim
