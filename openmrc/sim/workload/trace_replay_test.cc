// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/trace_replay.h"

#include <gtest/gtest.h>

#include "openmrc/sim/workload/ideal_network.h"
#include "openmrc/sim/workload/trace_check.h"

namespace openmrc::sim {
namespace {

TraceNode node(std::uint64_t id, TraceKind kind, std::vector<std::uint64_t> after = {}) {
  return {.id = id, .name = "n", .kind = kind, .waits_for = std::move(after)};
}
TraceNode computation(std::uint64_t id, std::uint64_t us, std::vector<std::uint64_t> after = {}) {
  TraceNode result = node(id, TraceKind::kCompute, std::move(after));
  result.duration_us = us;
  return result;
}
TraceNode collective(std::uint64_t id, TraceCollective kind, std::uint64_t bytes,
                     std::vector<std::uint64_t> after, std::string group = {}) {
  TraceNode result = node(id, TraceKind::kCollective, std::move(after));
  result.collective = kind;
  result.bytes = bytes;
  result.group = std::move(group);
  return result;
}
TraceNode message(std::uint64_t id, bool sends, std::uint64_t other, std::uint64_t tag,
                  std::vector<std::uint64_t> after = {}) {
  TraceNode result = node(id, sends ? TraceKind::kSend : TraceKind::kReceive, std::move(after));
  (sends ? result.destination : result.source) = other;
  result.tag = tag;
  result.bytes = 1'000 * tag;
  return result;
}

IdealNetwork replay(const TraceJob& job, std::uint32_t steps = 1) {
  const auto hosts = static_cast<std::uint32_t>(job.ranks.size());
  const TraceReplay settings{
      .hosts = hosts, .steps = steps, .job = std::make_shared<const TraceJob>(job)};
  const fabric::Fabric fabric = plain_fabric(1, hosts);
  EXPECT_EQ(check_workload(settings, fabric), "");
  IdealNetwork network(*make_workload(settings, fabric, 1), hosts, 1, Picoseconds(1));
  network.run();
  EXPECT_TRUE(network.all_done());
  return network;
}

TraceJob same_on_all(std::uint32_t ranks, const RankTrace& trace) {
  return {.ranks = std::vector<RankTrace>(ranks, trace)};
}

// Computation, all-reduce and computation: a message takes a picosecond.
TEST(TraceReplay, FollowsDependencies) {
  using enum TraceCollective;
  const auto network = replay(same_on_all(4, {computation(2, 10), computation(8, 5, {5}),
                                              collective(5, kAllReduce, 400, {2})}),
                              2);
  EXPECT_EQ(network.bytes_from(1), 2 * 2 * 300U);
  ASSERT_EQ(network.marks().size(), 8U);
  EXPECT_EQ(network.marks()[0].mark.end.raw(), 15'000'000 + 6);
}

TEST(TraceReplay, KnowsCollectives) {
  using enum TraceCollective;
  const auto bytes = [](TraceCollective kind) {
    const auto network = replay(same_on_all(4, {collective(1, kind, 400, {})}));
    std::uint64_t sum = 0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) sum += network.bytes_from(rank);
    return sum;
  };
  EXPECT_EQ(bytes(kAllReduce), 2 * 400U * 3);
  EXPECT_EQ(bytes(kReduceScatter), 400U * 3);
  EXPECT_EQ(bytes(kAllGather), 4 * 400U * 3) << "each rank puts in comm_size";
  EXPECT_EQ(bytes(kAllToAll), 4 * 300U);
  EXPECT_EQ(bytes(kBroadcast), 3 * 400U);
  EXPECT_EQ(bytes(kBarrier), 2 * 4U * 3);
}

// Ranks of groups that cross have them in different orders, and messages by tag.
TEST(TraceReplay, MatchesByGroupAndTag) {
  using enum TraceCollective;
  TraceJob job{.groups = {{"row", {0, 1}}, {"column", {1, 0}}}};
  job.ranks.push_back({collective(1, kAllReduce, 100, {}, "row"),
                       collective(2, kAllGather, 50, {}, "column"), message(3, true, 1, 7),
                       message(4, true, 1, 9)});
  job.ranks.push_back({message(1, false, 0, 9), message(2, false, 0, 7, {1}),
                       collective(3, kAllGather, 50, {2}, "column"),
                       collective(4, kAllReduce, 100, {3}, "row")});
  const auto network = replay(job, 3);
  EXPECT_EQ(network.bytes_from(0), 3 * (100 + 50 + 7'000 + 9'000U));
}

TEST(TraceReplay, TakesTimesFromOperationsAndBytes) {
  TraceJob job{.operations_per_second = 1'000'000'000, .memory_bytes_per_second = 1'000'000};
  TraceNode node = computation(1, 0);
  node.operations = 2'000;
  EXPECT_EQ(compute_time(job, node).raw(), 2'000'000);
  node.tensor_bytes = 5;
  EXPECT_EQ(compute_time(job, node).raw(), 5'000'000) << "memory takes longer";
  node.duration_us = 9;
  EXPECT_EQ(compute_time(job, node).raw(), 9'000'000) << "what was measured holds";
}

TEST(TraceReplay, KnowsTheTracesOwnTime) {
  using enum TraceCollective;
  TraceJob job =
      same_on_all(2, {computation(1, 10), computation(2, 30, {1}), computation(3, 25, {1}),
                      collective(4, kAllReduce, 100, {2}), computation(5, 1, {4})});
  EXPECT_EQ(own_time(job).time.raw(), 41'000'000);
  EXPECT_FALSE(own_time(job).recorded);
  job.ranks[0][0].start_us = 1'000;
  job.ranks[1][4].start_us = 1'100;
  EXPECT_EQ(own_time(job).time.raw(), 101'000'000);
  EXPECT_TRUE(own_time(job).recorded);
}

TEST(TraceReplay, SaysWhyRanksCannotWorkTogether) {
  using enum TraceCollective;
  const auto problem = [](std::vector<RankTrace> ranks, TraceGroups groups = {}) {
    return problem_with_trace({.ranks = std::move(ranks), .groups = std::move(groups)});
  };
  EXPECT_EQ(problem({{computation(1, 1, {9})}, {}}),
            "rank 0: node 1 (n) waits for node 9, and there is none");
  EXPECT_EQ(problem({{computation(1, 1, {2}), computation(2, 1, {1})}, {}}),
            "rank 0: nodes wait for each other in a circle");
  EXPECT_EQ(problem({{computation(1, 1), computation(1, 1)}, {}}),
            "rank 0: node 1 (n) has the id of another");
  EXPECT_EQ(problem({{message(1, true, 1, 3)}, {}}),
            "rank 0 sends rank 1 1 messages with tag 3 more than that one receives");
  EXPECT_EQ(problem({{message(1, true, 4, 3)}, {}}),
            "rank 0: node 1 (n) is a message with rank 4, and there are ranks 0 to 1");
  EXPECT_EQ(problem({{collective(1, kAllReduce, 9, {})}, {}}),
            "ranks 0 and 1 have different collectives of group '': 1 and 0");
  EXPECT_EQ(problem({{collective(1, kAllReduce, 9, {}, "x")}, {}}),
            "rank 0: node 1 (n) is for group x, which 'groups' does not have");
  EXPECT_EQ(problem({{collective(1, kAllReduce, 9, {}, "x")}, {}}, {{"x", {1}}}),
            "rank 0: node 1 (n) is for group x, and rank 0 is not in it");
  EXPECT_EQ(problem({{}, {}}, {{"x", {0, 2}}}), "group x has rank 2, and there are 2");
  TraceNode counted = computation(1, 0);
  counted.operations = 5;
  EXPECT_EQ(problem({{counted}, {}}),
            "rank 0: node 1 (n) has num_ops and no duration: 'tflops' says how long they take");
  EXPECT_TRUE(problem({{collective(1, kGather, 9, {})}, {}}).find("comm_type 3") !=
              std::string::npos);
}

}  // namespace
}  // namespace openmrc::sim
