// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/network.h"

#include <gtest/gtest.h>

#include "openmrc/sim/network/packet_size.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }

// Uplinks have half the speed of host links: 12.5 and 6.25 bytes in a nanosecond.
Scenario slow_uplinks() {
  Scenario scenario;
  scenario.shape = {.planes = 2,
                    .racks = 2,
                    .hosts_per_rack = 2,
                    .uplinks = 2,
                    .host_link_bits_per_second = 100'000'000'000,
                    .uplink_bits_per_second = 50'000'000'000};
  return scenario;
}

TEST(Network, DerivesThresholdsFromHostLinksUnlessTold) {
  Scenario scenario = slow_uplinks();
  const Network one(scenario);
  EXPECT_EQ(one.policy(PortKind::kT0Up).data_max_bytes, one.bdp_bytes());
  EXPECT_EQ(one.pause_bytes(true), one.pause_bytes(false));
  scenario.switches.by_link_speed = true;
  const Network each(scenario);
  EXPECT_EQ(each.bdp_bytes(), one.bdp_bytes());
  EXPECT_EQ(each.policy(PortKind::kT0Up).data_max_bytes, one.bdp_bytes() / 2);
  EXPECT_EQ(each.policy(PortKind::kT1Down).ecn_min_bytes, one.bdp_bytes() / 2 / 5);
  EXPECT_EQ(each.policy(PortKind::kT0Down).data_max_bytes,
            one.policy(PortKind::kT0Down).data_max_bytes);
  EXPECT_EQ(each.pause_bytes(true), one.bdp_bytes());
  EXPECT_EQ(each.pause_bytes(false), one.bdp_bytes() / 2);
}

TEST(Network, HasThresholdsByTime) {
  Scenario scenario = slow_uplinks();
  scenario.switches.ecn_on_last_hop = true;
  scenario.switches.ecn_min_time = us(2);
  scenario.switches.ecn_max_time = us(8);
  scenario.switches.queue_time = us(20);
  scenario.switches.ecn_share_max_billionths = 250'000'000;
  const Network network(scenario);
  const softswitch::QueuePolicy& up = network.policy(PortKind::kT0Up);
  EXPECT_EQ(up.ecn_min_bytes, 12'500U);
  EXPECT_EQ(up.ecn_max_bytes, 50'000U);
  EXPECT_EQ(up.data_max_bytes, 125'000U);
  EXPECT_EQ(up.ecn_share_max, softswitch::kEveryPacket / 4);
  const softswitch::QueuePolicy& down = network.policy(PortKind::kT0Down);
  EXPECT_EQ(down.ecn_min_bytes, 25'000U);
  EXPECT_EQ(down.ecn_max_bytes, 100'000U);
  EXPECT_EQ(down.data_max_bytes, 250'000U);
}

TEST(Network, HasDevicesInItsRoundTripAndItsWindows) {
  Scenario scenario = slow_uplinks();
  const Network ideal(scenario);
  EXPECT_EQ(ideal.window(), picoseconds(nanoseconds(500)));
  scenario.switches.latency = us(1);
  scenario.nics = {.send_latency = us(2), .receive_latency = us(3), .pcie_latency = us(50)};
  const Network real(scenario);
  EXPECT_EQ((real.base_rtt() - ideal.base_rtt()).raw(), 2 * (2 + 3 + 3 * 1) * 1'000);
  EXPECT_EQ(real.window(), picoseconds(nanoseconds(1'500)));
}

TEST(Network, HasHeadroomForWhatIsOnItsWay) {
  Scenario scenario = slow_uplinks();
  const Network network(scenario);
  const std::uint32_t packets = 2 * write_size(4096, true);
  EXPECT_EQ(network.headroom_bytes(true), 4 * 6'250 + packets) << "four times 500 ns";
  EXPECT_EQ(network.headroom_bytes(false), 4 * 3'125 + packets);
  scenario.switches.headroom_bytes = 77;
  EXPECT_EQ(network.headroom_bytes(true), 77U);
}

}  // namespace
}  // namespace openmrc::sim
