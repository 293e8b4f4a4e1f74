// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/background.h"

#include <gtest/gtest.h>

#include <set>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds kDuration{10'000'000'000};  // 10 ms

Background traffic() {
  return {.hosts = 8,
          .sizes = {{.bytes = 1'000, .weight = 3}, {.bytes = 9'000, .weight = 1}},
          .bits_per_second = 1'000'000'000,
          .peers = 3,
          .duration = kDuration};
}

IdealNetwork run_traffic(const Background& settings, std::uint64_t seed) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  EXPECT_EQ(check_workload(settings, fabric), "");
  IdealNetwork network(*make_workload(settings, fabric, seed), 8, 1);
  network.run();
  return network;
}

// 8 senders x 1 Gb/s x 10 ms are 10 MB, of messages of 3,000 bytes on average.
TEST(Background, OffersItsLoad) {
  const auto network = run_traffic(traffic(), 5);
  EXPECT_TRUE(network.all_done());
  double bytes = 0;
  double large = 0;
  for (const auto& message : network.messages()) {
    bytes += static_cast<double>(message.bytes);
    large += message.bytes == 9'000 ? 1 : 0;
    EXPECT_LT(message.sent, kDuration);
  }
  EXPECT_NEAR(bytes, 10e6, 0.6e6);
  EXPECT_NEAR(large / static_cast<double>(network.messages().size()), 0.25, 0.03);
  EXPECT_TRUE(network.marks().empty());
}

TEST(Background, IsDrawnByTheSeed) {
  const auto times = [](std::uint64_t seed) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> result;
    const auto network = run_traffic(traffic(), seed);
    for (const auto& message : network.messages()) {
      result.emplace_back(message.sent.raw(), message.to);
    }
    return result;
  };
  EXPECT_EQ(times(5), times(5));
  EXPECT_NE(times(5), times(6));
}

TEST(Background, HasAFewPeersOrServers) {
  const auto all = run_traffic(traffic(), 5);
  std::set<std::uint32_t> peers;
  for (const auto& message : all.messages()) {
    if (message.from == 2) peers.insert(message.to);
  }
  EXPECT_EQ(peers.size(), 3U);
  EXPECT_FALSE(peers.contains(2));

  Background settings = traffic();
  settings.servers = 2;
  const auto to_servers = run_traffic(settings, 5);
  for (const auto& message : to_servers.messages()) {
    EXPECT_LT(message.to, 2U);
    EXPECT_GE(message.from, 2U);
  }
}

TEST(Background, WithoutAnEndHoldsNobodyUp) {
  Background settings = traffic();
  settings.duration = Picoseconds{};
  const auto workload = make_workload(settings, plain_fabric(1, 8), 1);
  const auto program = workload->program(fabric::HostIndex(0));
  Requests requests;
  program->on_time(Picoseconds{}, requests);
  EXPECT_TRUE(program->done());
  EXPECT_NE(requests.wake_at, kNoTime);
}

TEST(Background, IsChecked) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  Background settings = traffic();
  settings.sizes.clear();
  EXPECT_EQ(check_workload(settings, fabric), "messages need a size");
  settings = traffic();
  settings.servers = 8;
  EXPECT_EQ(check_workload(settings, fabric), "8 servers leave none of 8 hosts to send to them");
  settings = traffic();
  settings.bits_per_second = 0;
  EXPECT_EQ(check_workload(settings, fabric), "the load must be above 0");
}

}  // namespace
}  // namespace openmrc::sim
