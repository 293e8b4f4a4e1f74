// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

// The same with a transport that takes twice as long and knows no EVs.
RunResult slower_result() {
  RunResult result = sample_result();
  result.transport = "rc";
  result.evs = 0;
  result.end = result.end * 2;
  for (FlowRecord& flow : result.flows) flow.end = flow.end * 2;
  return result;
}

ComparedFigure figure(const std::vector<ComparedFigure>& figures, std::string_view key) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const ComparedFigure& each) { return each.key == key; });
  EXPECT_NE(found, figures.end()) << key;
  return found == figures.end() ? ComparedFigure{} : *found;
}

TEST(Compare, SetsFiguresBesideEachOther) {
  const auto figures = compare(sample_result(), slower_result());
  const ComparedFigure slowest = figure(figures, "completion_max_ps");
  EXPECT_EQ(slowest.first, 995e6);
  EXPECT_EQ(slowest.second, 1990e6);
  EXPECT_EQ(slowest.ratio(), 2.0);
  EXPECT_EQ(figure(figures, "goodput_bps").ratio(), 0.5);
  EXPECT_EQ(figure(figures, "retransmissions").ratio(), 1.0);
}

TEST(Compare, WhatOnlyOneHasGivesNoRatio) {
  const auto figures = compare(sample_result(), slower_result());
  EXPECT_EQ(figure(figures, "evs_lost").first, 16.0);
  EXPECT_FALSE(figure(figures, "evs_lost").second);
  EXPECT_FALSE(figure(figures, "evs_lost").ratio());
  EXPECT_FALSE(figure(figures, "packets_trimmed").ratio());  // of zero
}

TEST(Compare, WhatNeitherHasIsLeftOut) {
  for (const ComparedFigure& each : compare(sample_result(), slower_result())) {
    EXPECT_EQ(each.key.find("step"), std::string_view::npos) << each.key;
  }
}

TEST(Compare, TextIsAligned) {
  const std::string text = compare_text(sample_result(), slower_result());
  EXPECT_TRUE(
      text.starts_with("                                    MRC         RC  RC / MRC\n"
                       "ended after                        1 ms       2 ms        2x\n"))
      << text;
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "\nflow completion time, p99        995 us    1.99 ms        2x\n", text);
  EXPECT_TRUE(text.ends_with("\nEVs restored                         16          -         -\n"))
      << text;
}

TEST(Compare, WarnsOfFlowsThatNeverEnded) {
  RunResult other = slower_result();
  EXPECT_EQ(comparison_warning(sample_result(), other), "");
  other.flows[0].end = kNoTime;
  other.flows[1].failed = true;
  const std::string text = compare_text(sample_result(), other);
  EXPECT_TRUE(
      text.ends_with("RC: 2 of 8 flows did not finish; its times and rates are of the others.\n"))
      << text;
}

TEST(Compare, JsonHasWholeNumbers) {
  const auto json = nlohmann::json::parse(compare_json(sample_result(), slower_result()));
  EXPECT_EQ(json["format"], "openmrc-compare");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["second"]["transport"], "rc");
  EXPECT_EQ(json["figures"]["completion_max_ps"]["second"], 1'990'000'000);
  EXPECT_EQ(json["figures"]["share_of_line_rate_ppm"]["first"], 880'000);
  EXPECT_EQ(json["figures"]["goodput_bps"]["ratio"], 0.5);
  EXPECT_TRUE(json["figures"]["evs_lost"]["second"].is_null());
}

TEST(Compare, HasJobsByName) {
  RunResult alone = sample_result();
  alone.jobs = {sample_jobs()[0]};
  RunResult both = sample_result();
  both.jobs = sample_jobs();
  both.jobs[0].end = kMicrosecond * 610;
  both.jobs[0].steps[1].end = kMicrosecond * 610;
  const auto figures = compare(alone, both);
  EXPECT_EQ(figure(figures, "job.dense.time_ps").ratio(), 1.5);
  EXPECT_EQ(figure(figures, "job.dense.step_median_ps").label, "dense, step time, median");
  EXPECT_EQ(std::ranges::count(figures, "job.storage.time_ps", &ComparedFigure::key), 0)
      << "it has no end";
}

TEST(Compare, OfNothing) {
  EXPECT_EQ(figure(compare({}, {}), "goodput_bps").first, 0.0);
  EXPECT_FALSE(figure(compare({}, {}), "goodput_bps").ratio());
}

}  // namespace
}  // namespace openmrc::sim
