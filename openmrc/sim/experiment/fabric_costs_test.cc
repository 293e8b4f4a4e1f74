// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/fabric_costs.h"

#include <gtest/gtest.h>

#include "openmrc/sim/experiment/test_experiment.h"

namespace openmrc::sim {
namespace {

using Table = std::vector<std::vector<std::string>>;

// 64 hosts of 800 Gb/s: 8 racks, as many T1s as hosts in a rack.
fabric::Shape shape_of(std::uint32_t planes) {
  return {.planes = planes,
          .racks = 8,
          .hosts_per_rack = 8,
          .uplinks = 8,
          .host_link_bits_per_second = 800'000'000'000 / planes,
          .uplink_bits_per_second = 800'000'000'000 / planes};
}

// A switch of 51.2 Tb/s, and one kind of cable.
fabric::Parts parts() {
  return {.currency = "EUR",
          .prices_from = "nobody",
          .switch_part = {.tbps = 51.2, .watts = 800, .price = 16'000},
          .cables = {{.name = "fibre",
                      .optical = true,
                      .gbps = 800,
                      .reach_m = 100,
                      .watts = 10,
                      .end_price = 100,
                      .price = 50}}};
}

Experiment experiment_of(std::uint32_t first, std::uint32_t second) {
  Experiment experiment = sample_experiment();
  for (ExperimentRun& run : experiment.runs) {
    run.shape = shape_of(run.values[0] == "4" ? first : second);
  }
  return experiment;
}

TEST(FabricCosts, AreThoseOfEachFabricOnce) {
  const Table rows = cost_table(fabric_costs(experiment_of(4, 8), {}), {});
  EXPECT_EQ(rows, (Table{{"fabric", "hosts", "planes", "switches", "cables"},
                         {"4", "64", "4", "64", "512"},
                         {"8", "64", "8", "128", "1,024"}}));
}

TEST(FabricCosts, OneFabricForAllRunsIsOneLine) {
  const Table rows = cost_table(fabric_costs(experiment_of(8, 8), {}), {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][0], "all runs");
}

TEST(FabricCosts, AxesAreNamedUntilTheyTellFabricsApart) {
  Experiment experiment = experiment_of(4, 8);
  for (ExperimentRun& run : experiment.runs) run.values[0] = "same";
  const auto costs = fabric_costs(experiment, {});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].runs, "same \u00b7 a,b");
  EXPECT_EQ(costs[1].runs, "same \u00b7 c");
}

// By hand: each T0 has 16 ports of 100 Gb/s and each T1 has 8, 1,536 in all; a chip has 512, so
// they are 3 of 16,000; 128 whole cables (64 NICs, 64 uplinks of 800 Gb/s) with two ends each are
// 128 x 250.
TEST(FabricCosts, CountTheShareOfASwitchThatIsInUse) {
  const auto costs = fabric_costs(experiment_of(8, 8), parts());
  ASSERT_EQ(costs.size(), 1U);
  ASSERT_TRUE(costs[0].parts);
  EXPECT_DOUBLE_EQ(costs[0].parts->price_per_host, (3 * 16'000.0 + 128 * 250.0) / 64);
  EXPECT_DOUBLE_EQ(costs[0].parts->watts_per_host, (3 * 800.0 + 128 * 20.0) / 64);
  EXPECT_EQ(costs[0].parts->hosts_max, 512U * 512 / 2);
}

// Faster links are fewer ports of the same switch.
TEST(FabricCosts, FewerPlanesReachFewerHosts) {
  const auto costs = fabric_costs(experiment_of(4, 4), parts());
  ASSERT_EQ(costs.size(), 1U);
  ASSERT_TRUE(costs[0].parts);
  EXPECT_EQ(costs[0].parts->hosts_max, 256U * 256 / 2);
}

TEST(FabricCosts, AreLeftOutIfARunDoesNotSayWhatItRanOn) {
  Experiment experiment = experiment_of(4, 8);
  experiment.runs.back().shape.reset();
  EXPECT_TRUE(fabric_costs(experiment, {}).empty());
  EXPECT_TRUE(fabric_costs(sample_experiment(), {}).empty());
}

}  // namespace
}  // namespace openmrc::sim
