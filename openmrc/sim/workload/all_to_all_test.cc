// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/all_to_all.h"

#include <gtest/gtest.h>

#include <map>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

TEST(AllToAll, EveryPairExchangesOnce) {
  const fabric::Fabric fabric = plain_fabric(4, 8);
  for (const Placement placement : {Placement::kPacked, Placement::kSpread}) {
    const AllToAll settings{.hosts = 20, .bytes = 10'000, .placement = placement};
    IdealNetwork network(*make_workload(settings, fabric, 1), fabric.hosts(), 5);
    network.run();
    EXPECT_TRUE(network.all_done());
    EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
    EXPECT_EQ(network.outstanding_max(), kAllToAllOutstanding);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
    for (const auto& message : network.messages()) {
      ++pairs[{message.from, message.to}];
      EXPECT_NEAR(static_cast<double>(message.bytes), 10'000.0 / 19, 1.0);
    }
    EXPECT_EQ(pairs.size(), 20U * 19);
    EXPECT_EQ(network.messages().size(), 20U * 19);
    for (const auto& [pair, times] : pairs) EXPECT_EQ(network.bytes_from(pair.first), 10'000U);
  }
}

TEST(AllToAll, NobodyIsEverybodysFirst) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  const auto workload = make_workload(AllToAll{.hosts = 8, .bytes = 700}, fabric, 1);
  for (std::uint32_t host = 0; host < 8; ++host) {
    EXPECT_EQ(workload->destinations(fabric::HostIndex(host)).at(0).raw(), (host + 1) % 8);
  }
}

TEST(AllToAll, MarksWhenEachHostHasSentAndReceivedAll) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  IdealNetwork network(*make_workload(AllToAll{.hosts = 8, .bytes = 700}, fabric, 1), 8, 1);
  network.run();
  EXPECT_EQ(network.marks().size(), 8U);
  for (const auto& [host, mark] : network.marks()) {
    Picoseconds last{};
    for (const auto& message : network.messages()) {
      if (message.from == host) last = std::max(last, message.acknowledged);
      if (message.to == host) last = std::max(last, message.arrived);
    }
    EXPECT_EQ(mark.end, last);
  }
}

TEST(AllToAll, IsCheckedAgainstTheFabric) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  EXPECT_EQ(check_workload(AllToAll{.hosts = 8, .bytes = 7}, fabric), "");
  EXPECT_EQ(check_workload(AllToAll{.hosts = 8, .bytes = 6}, fabric),
            "an all-to-all needs a byte for each other host");
  EXPECT_EQ(check_workload(AllToAll{.hosts = 1, .bytes = 6}, fabric),
            "an all-to-all needs two hosts");
  EXPECT_EQ(check_workload(AllToAll{.hosts = 9, .bytes = 800}, fabric),
            "9 hosts are asked for, and the fabric has 8");
  EXPECT_EQ(check_workload(AllToAll{.hosts = 8, .bytes = std::uint64_t{1} << 41}, fabric),
            "a host sends at most 1 TiB");
}

}  // namespace
}  // namespace openmrc::sim
