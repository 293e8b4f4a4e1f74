// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "openmrc/mapsim/summary.h"

namespace openmrc::mapsim {
namespace {

constexpr fabric::Shape kShape{.planes = 8, .racks = 16, .hosts_per_rack = 64, .uplinks = 64};

Summary run(const Settings& settings) {
  const std::vector<LinkFault> faults = draw_faults(settings);
  const FaultTable table(settings.shape, faults);
  std::vector<RackResult> racks;
  racks.reserve(settings.shape.racks);
  for (std::uint32_t i = 0; i < settings.shape.racks; ++i) {
    racks.push_back(run_rack(settings, table, i));
  }
  return summarise(faults, racks);
}

TEST(DrawFaults, GivesDifferentLinksByItsSeed) {
  const Settings settings{.shape = kShape, .bad_links = 500};
  const auto faults = draw_faults(settings);
  ASSERT_EQ(faults.size(), 500u);
  std::set<fabric::LinkId> links;
  std::set<mapper::Direction> directions;
  for (const LinkFault& each : faults) {
    links.insert(each.link);
    directions.insert(each.direction);
    EXPECT_GE(each.from, Instant{} + seconds(10));
  }
  EXPECT_EQ(links.size(), 500u);
  EXPECT_EQ(directions.size(), 3u);
  EXPECT_EQ(draw_faults(settings)[7].link, faults[7].link);
  EXPECT_NE(draw_faults({.shape = kShape, .bad_links = 500, .seed = 2})[7].link, faults[7].link);
}

TEST(DrawFaults, LeavesHalfOfAllLinks) {
  const fabric::Shape tiny{.planes = 1, .racks = 1, .hosts_per_rack = 4};
  EXPECT_EQ(draw_faults({.shape = tiny, .bad_links = 100}).size(), 2u);
}

TEST(MapSimulation, NamesNothingWithoutFaults) {
  const Summary summary = run({.shape = kShape, .length = seconds(60), .bad_links = 0});
  EXPECT_EQ(summary.false_names, (std::vector<std::string>{}));
  EXPECT_EQ(summary.false_by_agents, (std::vector<std::string>{}));
  EXPECT_EQ(summary.agents, 1024u);
  EXPECT_GT(summary.probes_lost, 0u);
  EXPECT_GT(summary.rounds_left_out, 0u);
  EXPECT_DOUBLE_EQ(summary.precision(), 1);
}

TEST(MapSimulation, NamesWhatIsBad) {
  const Summary summary = run({.shape = kShape, .length = seconds(120), .bad_links = 40});
  EXPECT_EQ(summary.false_names, (std::vector<std::string>{}));
  EXPECT_GE(summary.recall(), 0.95);
  ASSERT_EQ(summary.rows.size(), 8u);  // four losses on two kinds of link
  for (const LossRow& row : summary.rows) {
    if (row.loss < 0.01) continue;
    EXPECT_EQ(row.named, row.faults) << row.loss;
    EXPECT_LE(row.p99_seconds, row.loss == 1 ? 2 : 20) << row.loss;
    EXPECT_EQ(row.wrong_direction, 0u) << row.loss;
  }
}

// Rack by rack, whatever else is run.
TEST(MapSimulation, IsAFunctionOfItsSeed) {
  const Settings settings{.shape = kShape, .length = seconds(40), .bad_links = 30};
  const FaultTable table(kShape, draw_faults(settings));
  const RackResult once = run_rack(settings, table, 3);
  const RackResult again = run_rack(settings, table, 3);
  EXPECT_EQ(once.probes_lost, again.probes_lost);
  EXPECT_EQ(once.named.size(), again.named.size());
  EXPECT_NE(once.probes_lost, run_rack(settings, table, 4).probes_lost);
}

}  // namespace
}  // namespace openmrc::mapsim
