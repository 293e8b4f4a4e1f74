// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/baseline.h"

#include <gtest/gtest.h>

#include <limits>

#include "tools/mrc/sim/forecast.h"

namespace openmrc::tools {
namespace {

using sim::LinkFault;
using sim::RcTransport;
using sim::Scenario;

fabric::LinkId uplink(std::uint8_t plane, std::uint32_t rack, std::uint32_t port) {
  return {.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(plane), .rack = rack, .port = port};
}

Scenario four_planes() {
  Scenario scenario;
  scenario.shape = {.planes = 4,
                    .racks = 2,
                    .hosts_per_rack = 2,
                    .uplinks = 2,
                    .host_link_bits_per_second = 100'000'000'000,
                    .uplink_bits_per_second = 50'000'000'000};
  scenario.workload = sim::Permutation{.bytes = 1'000'000, .messages = 2, .across_racks = true};
  return scenario;
}

TEST(AsRc, OnePlaneIsAsFastAsAllTogether) {
  const Scenario rc = as_rc(four_planes());
  EXPECT_TRUE(std::holds_alternative<RcTransport>(rc.transport));
  EXPECT_EQ(rc.shape.planes, 1U);
  EXPECT_EQ(rc.shape.host_link_bits_per_second, 400'000'000'000);
  EXPECT_EQ(rc.shape.uplink_bits_per_second, 200'000'000'000);
  EXPECT_EQ(rc.shape.uplinks, 2U);
  EXPECT_EQ(describe_rc(four_planes()).substr(0, 11), "RC (RoCEv2)");
  EXPECT_NE(describe_rc(four_planes()).find("one plane of 400 Gb/s instead of 4 of 100 Gb/s"),
            std::string::npos);
}

TEST(AsRc, SwitchesPauseAndMarkInsteadOfTrimming) {
  const Scenario rc = as_rc(four_planes());
  EXPECT_FALSE(rc.switches.trimming);
  EXPECT_TRUE(rc.switches.pfc);
  EXPECT_TRUE(rc.switches.ecn_on_last_hop);
}

TEST(AsRc, ThresholdsGrowWithTheSpeed) {
  Scenario scenario = four_planes();
  scenario.switches.bdp_bytes = 1000;
  scenario.switches.queue_bytes = std::numeric_limits<std::uint32_t>::max() / 2;
  const Scenario rc = as_rc(scenario);
  EXPECT_EQ(rc.switches.bdp_bytes, 4000U);
  EXPECT_EQ(rc.switches.ecn_min_bytes, 0U);  // still derived
  EXPECT_EQ(rc.switches.queue_bytes, std::numeric_limits<std::uint32_t>::max());
}

TEST(AsRc, FaultOfEveryPlaneHitsTheOneLinkOnce) {
  Scenario scenario = four_planes();
  for (std::uint8_t plane = 0; plane < 4; ++plane) {
    scenario.faults.push_back({.link = uplink(plane, 1, 0), .loss_per_billion = 1'000});
  }
  scenario.faults.push_back({.link = uplink(3, 1, 0), .from = Picoseconds(5), .down = true});
  const std::vector<LinkFault> expected{
      {.link = uplink(0, 1, 0), .loss_per_billion = 1'000},
      {.link = uplink(0, 1, 0), .from = Picoseconds(5), .down = true}};
  EXPECT_EQ(as_rc(scenario).faults, expected);
}

TEST(AsRc, KeepsTheQueuePairsAndWhatTheScenarioSaysOfRc) {
  Scenario scenario = four_planes();
  scenario.transport = sim::MrcTransport{.profile = {}, .queue_pairs = 3};
  EXPECT_EQ(std::get<RcTransport>(as_rc(scenario).transport).queue_pairs, 3U);
  scenario.transport = RcTransport{.queue_pairs = 2, .dcqcn = false};
  const auto rc = std::get<RcTransport>(as_rc(scenario).transport);
  EXPECT_EQ(rc.queue_pairs, 2U);
  EXPECT_FALSE(rc.dcqcn);
}

TEST(AsRc, OnePlaneStaysAsItIs) {
  Scenario scenario = four_planes();
  scenario.shape.planes = 1;
  EXPECT_EQ(as_rc(scenario).shape, scenario.shape);
  EXPECT_EQ(describe_rc(scenario).find("plane"), std::string::npos);
}

TEST(ExpectedHops, PermutationAcrossRacksPassesThreeSwitches) {
  Scenario scenario = four_planes();
  scenario.transport = RcTransport{.mtu = 1000};
  // 4 hosts, 2 messages of 1000 packets, 4 departures each, and an acknowledgement for 16.
  EXPECT_DOUBLE_EQ(expected_hops(scenario), 4 * 2 * 1000 * 4 * (1 + 1.0 / 16));
  sim::MrcTransport mrc;
  mrc.profile.mtu = 1000;
  mrc.profile.sack.threshold_bytes = 4000;
  scenario.transport = mrc;
  EXPECT_DOUBLE_EQ(expected_hops(scenario), 4 * 2 * 1000 * 4 * (1 + 1.5 / 4));
}

TEST(ExpectedHops, RingOfOneRackPassesOneSwitch) {
  Scenario scenario = four_planes();
  scenario.transport = RcTransport{.mtu = 1000};
  scenario.workload = sim::AllReduce{.hosts = 2, .bytes = 100'000};
  // Each of the two sends its half and gets the other back: 2 x 100 kB in all.
  EXPECT_DOUBLE_EQ(expected_hops(scenario), 200 * 2 * (1 + 1.0 / 16));
}

}  // namespace
}  // namespace openmrc::tools
