// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/flow_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

using Flow = FlowList::Flow;
using Message = IdealNetwork::Message;

class FlowListTest : public testing::Test {
 protected:
  // The messages in the order in which they were sent.
  std::vector<Message> run(const std::vector<Flow>& flows, std::uint64_t seed = 1) {
    IdealNetwork network(*make_workload(FlowList{flows}, fabric_, 1), fabric_.hosts(), seed);
    network.run();
    EXPECT_TRUE(network.all_done());
    EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
    std::vector<Message> messages = network.messages();
    std::ranges::stable_sort(messages, {}, &Message::sent);
    return messages;
  }
  [[nodiscard]] std::string problem(const std::vector<Flow>& flows) const {
    return check_workload(FlowList{flows}, fabric_);
  }

  fabric::Fabric fabric_ = plain_fabric(1, 8);
};

TEST_F(FlowListTest, StartsFlowsAtTheirTimes) {
  const auto messages = run({{.from = 1, .to = 2, .bytes = 10, .start = Picoseconds(300)},
                             {.from = 1, .to = 2, .bytes = 20, .start = Picoseconds(100)},
                             {.from = 1, .to = 3, .bytes = 30, .start = Picoseconds(300)},
                             {.from = 0, .to = 3, .bytes = 40}});
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].sent, Picoseconds{});
  EXPECT_EQ(messages[0].bytes, 40U);
  EXPECT_EQ(messages[1].sent, Picoseconds(100));
  EXPECT_EQ(messages[1].bytes, 20U);
  EXPECT_EQ(messages[1].tag, 1U);
  EXPECT_EQ(messages[2].sent, Picoseconds(300));
  EXPECT_EQ(messages[3].sent, Picoseconds(300));
}

TEST_F(FlowListTest, RepeatsWhenAcknowledged) {
  const auto messages = run({{.from = 1, .to = 2, .bytes = 10, .repeat = 4}});
  ASSERT_EQ(messages.size(), 4U);
  for (std::size_t i = 1; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].sent, messages[i - 1].acknowledged);
  }
}

TEST_F(FlowListTest, StartsAfterAnArrivalAndAfterASending) {
  const auto messages = run({{.from = 1, .to = 2, .bytes = 10, .repeat = 3},
                             {.from = 2, .to = 3, .bytes = 20, .after = 0},    // it arrived here
                             {.from = 1, .to = 4, .bytes = 30, .after = 0}});  // it was sent here
  ASSERT_EQ(messages.size(), 5U);
  const auto of_tag = [&](MessageTag tag) {
    return *std::ranges::find(messages, tag, &Message::tag);
  };
  EXPECT_EQ(of_tag(1).sent, messages[2].arrived);
  EXPECT_EQ(of_tag(2).sent, messages[2].acknowledged);
}

TEST_F(FlowListTest, SeveralFlowsWaitForOne) {
  const auto messages = run({{.from = 2, .to = 1, .bytes = 10, .after = 2},
                             {.from = 2, .to = 3, .bytes = 20, .after = 2},
                             {.from = 1, .to = 2, .bytes = 30}});
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].sent, messages[0].arrived);
  EXPECT_EQ(messages[2].sent, messages[0].arrived);
}

// An arrival must not make a host forget what it was to do later.
TEST_F(FlowListTest, KeepsItsTimesWhenSomethingArrives) {
  const Picoseconds late{50'000'000};
  const auto messages = run({{.from = 1, .to = 2, .bytes = 10},
                             {.from = 2, .to = 1, .bytes = 20, .after = 0},
                             {.from = 2, .to = 1, .bytes = 30, .start = late}});
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[2].sent, late);
}

TEST_F(FlowListTest, NamesDestinationsOnce) {
  const auto workload = make_workload(FlowList{{{.from = 1, .to = 5, .bytes = 1},
                                                {.from = 1, .to = 3, .bytes = 1},
                                                {.from = 1, .to = 5, .bytes = 1}}},
                                      fabric_, 1);
  EXPECT_EQ(workload->destinations(fabric::HostIndex(1)),
            (std::vector{fabric::HostIndex(3), fabric::HostIndex(5)}));
  EXPECT_TRUE(workload->destinations(fabric::HostIndex(3)).empty());
  EXPECT_EQ(workload->program(fabric::HostIndex(3)), nullptr);
}

TEST_F(FlowListTest, IsCheckedAgainstTheFabric) {
  EXPECT_EQ(problem({}), "there are no flows");
  EXPECT_EQ(problem({{.from = 1, .to = 8, .bytes = 1}}),
            "flow 0 goes from 1 to 8, and the last host is 7");
  EXPECT_EQ(problem({{.from = 1, .to = 1, .bytes = 1}}), "flow 0 goes from host 1 to itself");
  EXPECT_EQ(problem({{.from = 1, .to = 2}}), "flow 0 bytes must be above 0");
  EXPECT_EQ(problem({{.from = 1, .to = 2, .bytes = 1, .repeat = 0}}),
            "flow 0 repeat must be above 0");
  EXPECT_EQ(problem({{.from = 1, .to = 2, .bytes = 1, .start = Picoseconds(-1)}}),
            "flow 0 starts before time 0");
}

TEST_F(FlowListTest, WaitsOnlyForWhatItsSenderSees) {
  EXPECT_EQ(
      problem({{.from = 1, .to = 2, .bytes = 1}, {.from = 3, .to = 1, .bytes = 1, .after = 0}}),
      "flow 1 starts at host 3 and waits for flow 0, which goes from 1 to 2: a host knows "
      "only of flows that it sends or receives");
  EXPECT_EQ(problem({{.from = 1, .to = 2, .bytes = 1, .after = 1}}),
            "flow 0 waits for flow 1, and there are 1");
}

TEST_F(FlowListTest, NoFlowWaitsForItself) {
  EXPECT_EQ(problem({{.from = 1, .to = 2, .bytes = 1, .after = 0}}),
            "flow 0 waits for itself, through others or not");
  EXPECT_EQ(problem({{.from = 1, .to = 2, .bytes = 1},
                     {.from = 1, .to = 2, .bytes = 1, .after = 3},
                     {.from = 1, .to = 2, .bytes = 1, .after = 1},
                     {.from = 1, .to = 2, .bytes = 1, .after = 2}}),
            "flow 1 waits for itself, through others or not");
}

}  // namespace
}  // namespace openmrc::sim
