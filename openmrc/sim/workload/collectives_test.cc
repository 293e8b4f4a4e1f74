// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/collectives.h"

#include <gtest/gtest.h>

#include <bit>

#include "openmrc/sim/workload/graph_checks.h"
#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

using enum AllReduceKind;

constexpr std::uint64_t kBytes = 1'000'003;  // divisible by nothing
constexpr Picoseconds kOne{1};               // what a message takes, if it is all that counts

// The graphs of all ranks, and of each what has to be done until it has its result.
struct Everybody {
  std::vector<Graph> graphs{};
  std::vector<Ops> ends{};
};

template <class Add>
Everybody everybody(std::uint32_t ranks, Add&& add) {
  Everybody all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    GraphBuilder graph;
    all.ends.push_back(add(graph, group_of(rank, 0, 1, ranks)));
    all.graphs.push_back(graph.take());
  }
  return all;
}

Everybody all_reduces(std::uint32_t ranks, const AllReduceOptions& options) {
  return everybody(ranks, [&](GraphBuilder& graph, const RankGroup& group) {
    return all_reduce(graph, group, kBytes, options, {});
  });
}

std::uint64_t sum_of_bytes(const Everybody& all) {
  std::uint64_t sum = 0;
  for (const Graph& graph : all.graphs) sum += bytes_sent(graph);
  return sum;
}

std::vector<AllReduceOptions> ways(std::uint32_t ranks) {
  std::vector<AllReduceOptions> result;
  for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{200'000}}) {
    result.push_back({.kind = kRing, .chunk = chunk});
    result.push_back({.kind = kTree, .chunk = chunk});
    if (std::has_single_bit(ranks)) result.push_back({.kind = kHalvingDoubling, .chunk = chunk});
    for (const std::uint32_t group : {2U, 4U}) {
      if (ranks % group != 0 || ranks / group < 2) continue;
      result.push_back({.kind = kHierarchical, .chunk = chunk, .group = group});
    }
  }
  return result;
}

// Every end of every rank, and so every piece, has something of all ranks in it.
void expect_everything_reaches_everybody(const Everybody& all, std::uint32_t ranks) {
  const Knowledge knowledge(all.graphs);
  ASSERT_TRUE(knowledge.all_done());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ASSERT_FALSE(all.ends[rank].empty());
    for (const OpIndex end : all.ends[rank]) {
      EXPECT_EQ(knowledge.of(rank, end).size(), ranks) << rank << ' ' << end;
    }
  }
}

TEST(Collectives, AllReducesBringEverythingToEverybody) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 7U, 8U, 12U, 16U}) {
    for (const AllReduceOptions& options : ways(ranks)) {
      SCOPED_TRACE(testing::Message() << ranks << ' ' << static_cast<int>(options.kind) << ' '
                                      << options.chunk << ' ' << options.group);
      expect_everything_reaches_everybody(all_reduces(ranks, options), ranks);
    }
  }
}

// No all-reduce can do with less: all but its own part has to leave each rank, twice. These four
// need no more.
TEST(Collectives, AllReducesSendTwiceTheVectorLessOnePart) {
  for (const std::uint32_t ranks : {2U, 4U, 7U, 8U, 12U}) {
    for (const AllReduceOptions& options : ways(ranks)) {
      EXPECT_EQ(sum_of_bytes(all_reduces(ranks, options)), 2 * kBytes * (ranks - 1))
          << ranks << ' ' << static_cast<int>(options.kind);
    }
  }
}

TEST(Collectives, ARingSendsAsMuchFromEachRank) {
  const Everybody all = all_reduces(8, {.kind = kRing});
  for (const Graph& graph : all.graphs) {
    EXPECT_NEAR(static_cast<double>(bytes_sent(graph)), 2.0 * kBytes * 7 / 8, 14);
  }
}

// A root has nobody to send to on the way up, and a leaf none on the way down; each rank is a leaf
// in one tree, so that none sends more than two and a half vectors.
TEST(Collectives, TwoTreesShareTheWork) {
  const Everybody all = all_reduces(16, {.kind = kTree});
  for (const Graph& graph : all.graphs) {
    EXPECT_LE(bytes_sent(graph), kBytes * 5 / 2);
    EXPECT_GE(bytes_sent(graph), kBytes / 2);
  }
}

TEST(Collectives, HalvesOfARingSendHalfAsMuch) {
  for (const bool gather : {false, true}) {
    const Everybody all = everybody(6, [&](GraphBuilder& graph, const RankGroup& group) {
      return gather ? all_gather(graph, group, kBytes, 100'000, {})
                    : reduce_scatter(graph, group, kBytes, 100'000, {});
    });
    expect_everything_reaches_everybody(all, 6);
    EXPECT_EQ(sum_of_bytes(all), kBytes * 5);
  }
}

TEST(Collectives, ABroadcastBringsTheRootsVectorToAll) {
  for (const std::uint32_t root : {0U, 4U}) {
    const Everybody all = everybody(7, [&](GraphBuilder& graph, const RankGroup& group) {
      return broadcast(graph, group, root, kBytes, 0, {graph.join({})});
    });
    const Knowledge knowledge(all.graphs);
    ASSERT_TRUE(knowledge.all_done());
    EXPECT_EQ(sum_of_bytes(all), kBytes * 6);
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
      EXPECT_TRUE(knowledge.of(rank, all.ends[rank].at(0)).contains(root)) << rank;
    }
  }
}

TEST(Collectives, AnAllToAllHasAFewMessagesInFlight) {
  const std::vector<std::uint64_t> share(20, 50);
  const Everybody all = everybody(20, [&](GraphBuilder& graph, const RankGroup& group) {
    return all_to_all(graph, group, share, {});
  });
  EXPECT_TRUE(Knowledge(all.graphs).all_done());
  EXPECT_EQ(bytes_sent(all.graphs[3]), 19U * 50);
  EXPECT_EQ(all.ends[3].size(), 19U);
  std::uint32_t at_once = 0;
  for (OpIndex op = 0; op < all.graphs[3].ops.size(); ++op) {
    const bool sends = all.graphs[3].ops[op].kind == OpKind::kSend;
    at_once += sends && all.graphs[3].waits_for[op] == 0 ? 1U : 0U;
  }
  EXPECT_EQ(at_once, kDirectOutstanding);
}

Picoseconds time_of(const OverlappedTraining& settings) {
  const fabric::Fabric fabric = plain_fabric(1, settings.hosts);
  IdealNetwork network(*make_workload(settings, fabric, 1), settings.hosts, 1, kOne);
  network.run();
  EXPECT_TRUE(network.all_done());
  EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
  Picoseconds last{};
  for (const auto& message : network.messages()) last = std::max(last, message.arrived);
  return last;
}

OverlappedTraining one_all_reduce(std::uint32_t hosts, const AllReduceOptions& options) {
  return {.hosts = hosts, .steps = 1, .all_reduce_bytes = {kBytes}, .options = options};
}

// Where a message takes one unit of time whatever its size, a collective takes its rounds.
TEST(Collectives, TakeTheirRounds) {
  EXPECT_EQ(time_of(one_all_reduce(8, {.kind = kRing})).raw(), 2 * 7);
  EXPECT_EQ(time_of(one_all_reduce(8, {.kind = kHalvingDoubling})).raw(), 2 * 3);
  EXPECT_EQ(time_of(one_all_reduce(15, {.kind = kTree})).raw(), 2 * 3);
  EXPECT_EQ(time_of(one_all_reduce(32, {.kind = kHierarchical, .group = 8})).raw(), 7 + 2 * 3 + 7);
  EXPECT_EQ(time_of(one_all_reduce(8, {.kind = kRing, .chunk = 1000})).raw(), 2 * 7)
      << "pieces do not wait for each other";
}

// 7/8 of 1,000,000 bytes at 8 Gb/s are 875 us, twice; the fabric has rings of four.
TEST(Collectives, GroupsCanHaveAFastLinkInside) {
  OverlappedTraining settings = one_all_reduce(
      32, {.kind = kHierarchical, .group = 8, .group_bits_per_second = 8'000'000'000});
  settings.all_reduce_bytes = {1'000'000};
  EXPECT_EQ(time_of(settings).raw(), 875'000'000 + 2 * 3);
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < 32; ++rank) {
    GraphBuilder graph;
    all_reduce(graph, group_of(rank, 0, 1, 32), 1'000'000, settings.options, {});
    bytes += bytes_sent(graph.take());
  }
  EXPECT_EQ(bytes, 2U * 1'000'000 * 3) << "only rings across groups use the fabric";
}

TEST(Collectives, AreCutIntoPieces) {
  EXPECT_EQ(chunks_of(1000, 0, 4), 1U);
  EXPECT_EQ(chunks_of(1000, 1000, 4), 1U);
  EXPECT_EQ(chunks_of(1001, 1000, 4), 2U);
  EXPECT_EQ(chunks_of(1000, 1, 4), 250U) << "a piece has a byte for each rank";
}

TEST(Collectives, AreCheckedAgainstTheirRanks) {
  EXPECT_EQ(problem_with_all_reduce_options(8, {.kind = kHalvingDoubling}), "");
  EXPECT_EQ(problem_with_all_reduce_options(6, {.kind = kHalvingDoubling}),
            "halving and doubling needs a power of two of hosts, not 6");
  EXPECT_EQ(problem_with_all_reduce_options(8, {.kind = kHierarchical, .group = 4}), "");
  for (const std::uint32_t group : {0U, 1U, 3U, 8U}) {
    EXPECT_NE(problem_with_all_reduce_options(8, {.kind = kHierarchical, .group = group}), "")
        << group;
  }
  EXPECT_EQ(problem_with_size(8, 100, 100, 1), "");
  EXPECT_NE(problem_with_size(8, kGraphOpsMax, 1, 1), "");
  EXPECT_NE(problem_with_size(8, 1, 2, kGraphTagsMax), "");
}

// What is estimated before a graph is made covers what it has.
TEST(Collectives, KnowHowLargeTheyAre) {
  for (const std::uint32_t ranks : {2U, 4U, 7U, 8U, 12U}) {
    for (const AllReduceOptions& options : ways(ranks)) {
      for (const Graph& graph : all_reduces(ranks, options).graphs) {
        EXPECT_LE(graph.ops.size(), ops_of_all_reduce(ranks, kBytes, options))
            << ranks << ' ' << static_cast<int>(options.kind);
      }
    }
  }
}

}  // namespace
}  // namespace openmrc::sim
