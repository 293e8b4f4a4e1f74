// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_devices.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

#include "openmrc/sim/scenario/test_scenario.h"

namespace openmrc::sim {
namespace {

// A whole file around one part.
std::string with(const std::string& rest) {
  return std::string(kFabric) + std::string(kWorkload) + rest;
}

TEST(ScenarioDevices, ReadsDevices) {
  const Scenario scenario = scenario_of(
      with("[switches]\nlatency = '600 ns'\ncut_through = true\n"
           "[nics]\nsend_latency = '1 us'\nreceive_latency = '2 us'\npcie_latency = '3 us'\n"));
  EXPECT_EQ(scenario.switches.latency, Picoseconds(600'000));
  EXPECT_TRUE(scenario.switches.cut_through);
  EXPECT_EQ(scenario.nics.send_latency, Picoseconds(1'000'000));
  EXPECT_EQ(scenario.nics.receive_latency, Picoseconds(2'000'000));
  EXPECT_EQ(scenario.nics.pcie_latency, Picoseconds(3'000'000));
}

TEST(ScenarioDevices, ReadsWhatDiffersFromAPresetOfDevices) {
  const Scenario scenario =
      scenario_of("devices = 'fitted'\n" + with("[nics]\npcie_latency = 0\n"));
  EXPECT_TRUE(scenario.switches.cut_through);
  EXPECT_GT(scenario.switches.latency, Picoseconds{});
  EXPECT_GT(scenario.nics.send_latency, Picoseconds{});
  EXPECT_EQ(scenario.nics.pcie_latency, Picoseconds{});
}

TEST(ScenarioDevices, RefusesDevicesThatNobodyCouldBuild) {
  EXPECT_NE(error_of("devices = 'real'\n" + with("")), "");
  EXPECT_NE(error_of(with("[switches]\nlatency = '1 ms'\n")), "");
  const std::string file =
      "[fabric]\nplanes = 1\nracks = 1\nhosts_per_rack = 2\nuplinks = 0\nhost_link_ns = 1\n" +
      std::string(kWorkload) + "[nics]\nreceive_latency = '50 us'\n";
  EXPECT_NE(error_of(file).find("slowest device"), std::string::npos) << error_of(file);
}

TEST(ScenarioDevices, ReadsBuffersAndThresholds) {
  const SwitchSettings switches =
      scenario_of(with("[switches]\nbuffer_bytes = '64 MiB'\nalpha_percent = 50\n"
                       "pfc_alpha_percent = 12\nheadroom_bytes = '90 kB'\nby_link_speed = true\n"
                       "ecn_min_time = '2 us'\necn_max_time = '8 us'\nqueue_time = '20 us'\n"
                       "ecn_max_share = '5 %'\n"))
          .switches;
  EXPECT_EQ(switches.buffer_bytes, 64U << 20);
  EXPECT_EQ(switches.alpha_percent, 50U);
  EXPECT_EQ(switches.pfc_alpha_percent, 12U);
  EXPECT_EQ(switches.headroom_bytes, 90'000U);
  EXPECT_TRUE(switches.by_link_speed);
  EXPECT_EQ(switches.ecn_min_time, Picoseconds(2'000'000));
  EXPECT_EQ(switches.ecn_max_time, Picoseconds(8'000'000));
  EXPECT_EQ(switches.queue_time, Picoseconds(20'000'000));
  EXPECT_EQ(switches.ecn_share_max_billionths, 50'000'000U);
}

TEST(ScenarioDevices, RefusesBuffersAndThresholdsThatContradict) {
  const auto error = [](const std::string& keys) { return error_of(with("[switches]\n" + keys)); };
  EXPECT_NE(error("alpha_percent = 50\n").find("buffer_bytes"), std::string::npos);
  EXPECT_NE(error("buffer_bytes = 1000\nalpha_percent = 0\n"), "");
  EXPECT_NE(error("buffer_bytes = '2 GiB'\n"), "");
  EXPECT_NE(error("ecn_min_bytes = 1\necn_min_time = '1 us'\n").find("beside"), std::string::npos);
  EXPECT_NE(error("ecn_min_time = '2 us'\necn_max_time = '1 us'\n"), "");
  EXPECT_NE(error("ecn_max_share = 2\n"), "");
}

TEST(ScenarioDevices, ReadsWhatRoceIsComparedWith) {
  const Scenario scenario =
      scenario_of(with("[switches]\nbalancing = 'adaptive'\n"
                       "[transport]\nkind = 'rc'\nrecovery = 'selective'\nreordering = 32\n"));
  EXPECT_EQ(scenario.switches.balancing, Balancing::kAdaptive);
  const auto& rc = std::get<RcTransport>(scenario.transport);
  EXPECT_EQ(rc.recovery, Recovery::kSelective);
  EXPECT_EQ(rc.reordering, 32U);
}

TEST(ScenarioDevices, RefusesToChooseForMrcAndToReorderWithGoBackN) {
  EXPECT_NE(error_of(with("[switches]\nbalancing = 'spray'\n")).find("MRC chooses"),
            std::string::npos);
  EXPECT_NE(error_of(with("[transport]\nkind = 'rc'\nreordering = 32\n")).find("selective"),
            std::string::npos);
  EXPECT_NE(error_of(with("[transport]\nkind = 'rc'\nrecovery = 'selective'\n"
                          "reordering = 5000\n")),
            "");
}

}  // namespace
}  // namespace openmrc::sim
