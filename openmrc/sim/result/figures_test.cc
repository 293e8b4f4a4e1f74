// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/figures.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

TEST(Figures, CountsFlowsByHowTheyEnded) {
  RunResult result = sample_result();
  result.flows[1].failed = true;
  result.flows[2].end = kNoTime;
  result.flows[7].end = kNoTime;
  const Figures figures = figures_of(result);
  EXPECT_EQ(figures.flows_done, 5U);
  EXPECT_EQ(figures.flows_failed, 1U);
  EXPECT_EQ(figures.flows_open, 2U);
  EXPECT_EQ(figures.last_done, kMicrosecond * 990);
}

TEST(Figures, TimesAndRatesAreOfFlowsThatEnded) {
  RunResult result = sample_result();
  result.flows[7].end = kNoTime;
  const Figures figures = figures_of(result);
  ASSERT_TRUE(figures.completion && figures.flow_rates);
  EXPECT_EQ(figures.completion->median, kMicrosecond * 975);
  EXPECT_EQ(figures.completion->p99, kMicrosecond * 990);
  EXPECT_EQ(figures.completion->max, kMicrosecond * 990);
  EXPECT_DOUBLE_EQ(figures.flow_rates->median, 44e6 * 8 / 975e-6);
  EXPECT_DOUBLE_EQ(figures.flow_rates->slowest_percent, 44e6 * 8 / 990e-6);
  EXPECT_DOUBLE_EQ(figures.flow_rates->slowest, 44e6 * 8 / 990e-6);
}

TEST(Figures, GoodputIsOfWholeMessagesOverTheWholeRun) {
  EXPECT_DOUBLE_EQ(figures_of(sample_result()).goodput, 8 * 44e6 * 8 / 1e-3);
}

TEST(Figures, LineRateIsThatOfTheFewerEnds) {
  RunResult result = sample_result();
  EXPECT_DOUBLE_EQ(figures_of(result).line_rate, 8 * 400e9);
  for (FlowRecord& flow : result.flows) flow.to = 3;  // an incast
  EXPECT_DOUBLE_EQ(figures_of(result).line_rate, 400e9);
}

TEST(Figures, FindsTheWorstStep) {
  RunResult result = sample_result();
  for (const int length : {10, 30, 20}) {
    result.steps.push_back({kMicrosecond, kMicrosecond * (1 + length), 8});
  }
  const Figures figures = figures_of(result);
  ASSERT_TRUE(figures.step);
  EXPECT_EQ(figures.worst_step, 1U);
  EXPECT_EQ(figures.step->median, kMicrosecond * 20);
  EXPECT_EQ(figures.step->max, kMicrosecond * 30);
}

TEST(Figures, PacketsOnTheirWayAreNotLost) {
  RunResult result = sample_result();
  result.totals.packets_lost = {1, 2, 4, 8, 16};
  EXPECT_EQ(figures_of(result).packets_lost, 15U);
}

TEST(Figures, FollowsEvsThatAreOutOfUse) {
  RunResult result = sample_result();
  EXPECT_EQ(figures_of(result).evs_out_most, 16U);
  EXPECT_EQ(figures_of(result).evs_out_at_end, 0U);
  result.buckets[70].ev_changes = {-30, 20, 3, 7};  // SKIP is in use
  EXPECT_EQ(figures_of(result).evs_out_most, 16U);
  EXPECT_EQ(figures_of(result).evs_out_at_end, 10U);
}

TEST(Figures, OfNothing) {
  const Figures figures = figures_of(RunResult{});
  EXPECT_FALSE(figures.completion || figures.flow_rates || figures.step);
  EXPECT_EQ(figures.goodput, 0);
  EXPECT_EQ(figures.line_rate, 0);
}

TEST(Figures, LabelsSayWhatDiffers) {
  const RunResult first = sample_result();
  RunResult second = first;
  EXPECT_EQ(labels_of(first, second).second, "second");
  second.seed = 8;
  EXPECT_EQ(labels_of(first, second).first, "seed 7");
  second.scenario = "other";
  EXPECT_EQ(labels_of(first, second).second, "other");
  second.transport = "rc";
  EXPECT_EQ(labels_of(first, second).first, "MRC");
  EXPECT_EQ(labels_of(first, second).second, "RC");
}

}  // namespace
}  // namespace openmrc::sim
