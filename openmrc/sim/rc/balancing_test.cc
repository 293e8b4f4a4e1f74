// SPDX-License-Identifier: BSD-3-Clause
// RoCEv2 over switches that choose uplinks, whole runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "openmrc/sim/simulation.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds kMicrosecond{1'000'000};

// Every host sends to another rack; there are as many uplinks as hosts.
Scenario permutation(Balancing balancing, Recovery recovery) {
  Scenario scenario;
  scenario.shape = {.planes = 1, .racks = 4, .hosts_per_rack = 8, .uplinks = 8};
  scenario.transport = RcTransport{.recovery = recovery};
  scenario.switches = {.trimming = false,
                       .ecn_min_bytes = 100'000,
                       .ecn_max_bytes = 400'000,
                       .queue_bytes = 1'000'000,
                       .ecn_on_last_hop = true,
                       .balancing = balancing};
  scenario.workload = Permutation{.bytes = 4'000'000, .across_racks = true};
  return scenario;
}

RunResult run_checked(const Scenario& scenario) {
  RunResult result = run(scenario, {});
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  EXPECT_TRUE(result.finished);
  return result;
}

double milliseconds(const RunResult& result) { return number(result.end) / 1e9; }

// 4 MB take 0.33 ms at 100 Gb/s. Some uplinks have three flows by hash and others none.
TEST(SwitchBalancing, BeatsAHash) {
  const RunResult hashed = run_checked(permutation(Balancing::kEcmp, Recovery::kSelective));
  const RunResult adaptive = run_checked(permutation(Balancing::kAdaptive, Recovery::kSelective));
  const RunResult sprayed = run_checked(permutation(Balancing::kSpray, Recovery::kSelective));
  EXPECT_GT(milliseconds(hashed), 0.9);
  EXPECT_LT(milliseconds(adaptive), 0.6);
  EXPECT_LT(milliseconds(sprayed), 0.6);
  EXPECT_EQ(adaptive.totals.retransmissions, 0U);
  EXPECT_EQ(sprayed.totals.retransmissions, 0U) << "what is late is not lost";
}

TEST(SwitchBalancing, IsNothingForGoBackN) {
  const RunResult selective = run_checked(permutation(Balancing::kSpray, Recovery::kSelective));
  const RunResult goes_back = run_checked(permutation(Balancing::kSpray, Recovery::kGoBackN));
  EXPECT_GT(goes_back.totals.retransmissions, goes_back.totals.data_packets_sent / 10);
  EXPECT_GT(milliseconds(goes_back), 2 * milliseconds(selective));
}

TEST(SwitchBalancing, LeavesADeadUplinkWhenRoutingDoes) {
  Scenario scenario = permutation(Balancing::kAdaptive, Recovery::kSelective);
  std::get<RcTransport>(scenario.transport).reroute_after = kMicrosecond * 20;
  const fabric::LinkId link{.kind = fabric::LinkId::Kind::kUplink, .rack = 1, .port = 3};
  scenario.faults.push_back({.link = link, .from = kMicrosecond * 50, .down = true});
  scenario.bucket_width = kMicrosecond * 10;
  const RunResult result = run_checked(scenario);
  const auto lost = [&](std::size_t from, std::size_t to) {
    std::uint64_t sum = 0;
    for (std::size_t i = from; i < std::min(to, result.buckets.size()); ++i) {
      sum += result.buckets[i].lost;
    }
    return sum;
  };
  EXPECT_GT(lost(5, 8), 0U);
  EXPECT_EQ(lost(8, 1000), 0U);
  EXPECT_EQ(result.totals.messages_failed, 0U);
}

TEST(SwitchBalancing, GivesTheSameResultForAnyNumberOfThreads) {
  for (const Balancing balancing : {Balancing::kAdaptive, Balancing::kSpray}) {
    Scenario scenario = permutation(balancing, Recovery::kSelective);
    scenario.workload = Permutation{.bytes = 400'000, .across_racks = true};
    scenario.switches.pfc = true;
    scenario.switches.buffer_bytes = 2'000'000;
    const RunResult one = run(scenario, {.threads = 1});
    EXPECT_EQ(run(scenario, {.threads = 3}), one);
  }
}

TEST(SelectiveRepeatRuns, CostLessThanGoingBackWhenPacketsAreLost) {
  const auto lossy = [](Recovery recovery) {
    Scenario scenario = permutation(Balancing::kEcmp, recovery);
    for (std::uint32_t host = 0; host < 32; ++host) {
      scenario.faults.push_back(
          {.link = {.kind = fabric::LinkId::Kind::kHost, .rack = host / 8, .port = host % 8},
           .direction = Direction::kDownward,
           .loss_per_billion = 2'000'000});
    }
    return run_checked(scenario);
  };
  const RunResult selective = lossy(Recovery::kSelective);
  const RunResult goes_back = lossy(Recovery::kGoBackN);
  EXPECT_GT(selective.totals.retransmissions, 0U);
  EXPECT_LT(selective.totals.retransmissions, goes_back.totals.retransmissions / 5);
  EXPECT_LE(selective.end, goes_back.end);
}

}  // namespace
}  // namespace openmrc::sim
