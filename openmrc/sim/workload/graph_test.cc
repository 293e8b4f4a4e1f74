// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/graph.h"

#include <gtest/gtest.h>

#include <functional>

#include "openmrc/sim/workload/graph_workload.h"
#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

class TestSource final : public GraphSource {
 public:
  using Make = std::function<void(GraphBuilder&, std::uint32_t)>;
  explicit TestSource(Make make) : make_(std::move(make)) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    GraphBuilder builder;
    make_(builder, rank);
    return builder.take();
  }

 private:
  Make make_;
};

// Two hosts; messages take at most `delay`.
IdealNetwork two_hosts(TestSource::Make make, std::uint32_t iterations,
                       Picoseconds delay = Picoseconds(1)) {
  const fabric::Fabric fabric = plain_fabric(1, 2);
  const auto workload = graph_workload(std::make_shared<TestSource>(std::move(make)),
                                       Ranks(2, Placement::kPacked, fabric), iterations);
  IdealNetwork network(*workload, 2, 7, delay);
  network.run();
  return network;
}

TEST(Graph, NumbersTheMessagesOfEachPair) {
  GraphBuilder builder;
  const OpIndex first = builder.send(3, 10, {});
  const OpIndex other = builder.send(5, 10, {first});
  const OpIndex second = builder.send(3, 10, {first, other});
  const OpIndex back = builder.receive(3, {second});
  const Graph graph = builder.take();
  ASSERT_EQ(graph.peers.size(), 2U);
  EXPECT_EQ(graph.peers[0].rank, 3U);
  EXPECT_EQ(graph.peers[0].sends, (Ops{first, second}));
  EXPECT_EQ(graph.peers[0].receives, Ops{back});
  EXPECT_EQ(graph.ops[second].sequence, 1U);
  EXPECT_EQ(graph.waits_for, (std::vector<std::uint32_t>{0, 1, 2, 1}));
  EXPECT_TRUE(is_acyclic(graph));
}

TEST(Graph, SeesCircles) {
  GraphBuilder builder;
  const OpIndex one = builder.join({});
  const OpIndex other = builder.join({one});
  builder.wait_for(one, other);
  EXPECT_FALSE(is_acyclic(builder.take()));
}

TEST(Graph, ComputesOneThingAtATimeAndWaitsForMany) {
  const auto network = two_hosts(
      [](GraphBuilder& graph, std::uint32_t) {
        graph.compute(Picoseconds(100), {});
        graph.compute(Picoseconds(20), {});
        graph.delay(Picoseconds(90), {});
      },
      3);
  EXPECT_TRUE(network.all_done());
  ASSERT_EQ(network.marks().size(), 6U);
  for (const auto& [host, mark] : network.marks()) {
    EXPECT_EQ((mark.end - mark.begin).raw(), 120) << "the delay goes on meanwhile";
  }
  EXPECT_EQ(network.marks().back().mark.step, 2U);
  EXPECT_EQ(network.marks().back().mark.end.raw(), 360);
}

TEST(Graph, ComputesWhileMessagesAreUnderWay) {
  const auto network = two_hosts(
      [](GraphBuilder& graph, std::uint32_t rank) {
        graph.send(1 - rank, 10, {});
        graph.compute(Picoseconds(50), {});
        graph.compute(Picoseconds(5), {graph.receive(1 - rank, {})});
      },
      1);
  EXPECT_TRUE(network.all_done());
  for (const auto& [host, mark] : network.marks()) EXPECT_EQ(mark.end.raw(), 55);
}

// One host only sends, so that it gets iterations ahead of the other.
TEST(Graph, KeepsWhatComesEarly) {
  const auto network = two_hosts(
      [](GraphBuilder& graph, std::uint32_t rank) {
        if (rank == 0) {
          graph.send(1, 10, {});
          graph.send(1, 20, {});
        } else {
          const OpIndex last = graph.receive(0, {graph.compute(Picoseconds(1'000'000), {})});
          graph.receive(0, {last});
        }
      },
      5, Picoseconds(10));
  EXPECT_TRUE(network.all_done());
  ASSERT_EQ(network.messages().size(), 10U);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(network.messages()[i].tag, i);
  EXPECT_LT(network.messages().back().arrived.raw(), 1'000'000);
  EXPECT_EQ(network.marks().back().mark.end.raw(), 5'000'000);
}

}  // namespace
}  // namespace openmrc::sim
