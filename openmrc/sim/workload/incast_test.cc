// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/incast.h"

#include <gtest/gtest.h>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

TEST(Incast, SendersHitTheTargetAndVictimsSendMeanwhile) {
  const fabric::Fabric fabric = plain_fabric(2, 8);
  const Incast settings{.target = 5,
                        .senders = {8, 9, 10},
                        .bytes = 1'000,
                        .victims = {{.from = 11, .to = 4, .bytes = 77}}};
  IdealNetwork network(*make_workload(settings, fabric, 1), fabric.hosts(), 1);
  network.run();
  EXPECT_TRUE(network.all_done());
  EXPECT_EQ(network.messages().size(), 4U);
  EXPECT_EQ(network.bytes_to(5), 3'000U);
  EXPECT_EQ(network.bytes_from(9), 1'000U);
  EXPECT_EQ(network.bytes_from(11), 77U);
  EXPECT_EQ(network.bytes_to(4), 77U);
  for (const auto& message : network.messages()) EXPECT_EQ(message.sent, Picoseconds{});
}

TEST(Incast, SendersCanJoinOneByOne) {
  const FlowList list =
      flows_of({.target = 0, .senders = {3, 2, 1}, .bytes = 9, .stagger = Picoseconds(50)});
  ASSERT_EQ(list.flows.size(), 3U);
  EXPECT_EQ(list.flows[0].from, 3U);
  EXPECT_EQ(list.flows[0].start, Picoseconds{});
  EXPECT_EQ(list.flows[2].from, 1U);
  EXPECT_EQ(list.flows[2].start, Picoseconds(100));
}

TEST(Incast, IsCheckedAgainstTheFabric) {
  const fabric::Fabric fabric = plain_fabric(1, 4);
  EXPECT_EQ(check_workload(Incast{.target = 0, .bytes = 1}, fabric), "an incast needs senders");
  EXPECT_EQ(check_workload(Incast{.target = 0, .senders = {1, 2, 1}, .bytes = 1}, fabric),
            "host 1 is named twice as a sender");
  EXPECT_EQ(check_workload(Incast{.target = 0, .senders = {0}, .bytes = 1}, fabric),
            "flow 0 goes from host 0 to itself");
  EXPECT_EQ(check_workload(Incast{.senders = {1, 2}, .bytes = 1, .stagger = kNoTime / 2}, fabric),
            "stagger is below zero or too long");
  EXPECT_EQ(check_workload(Incast{.target = 0, .senders = {1}, .bytes = 1}, fabric), "");
}

}  // namespace
}  // namespace openmrc::sim
