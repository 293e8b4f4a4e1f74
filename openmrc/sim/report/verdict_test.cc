// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/verdict.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

std::string headline(const RunResult& result) { return verdict_of(result, nullptr).headline; }
std::string detail(const RunResult& result, const RunResult* baseline = nullptr) {
  return verdict_of(result, baseline).detail;
}

RunResult without_faults() {
  RunResult result = sample_result();
  result.faults.clear();
  return result;
}

TEST(Verdict, SaysWhatCameOfIt) {
  EXPECT_EQ(headline(sample_result()),
            "All 8 flows finished in 995 us; the fault at 500 us (p2.t1-4 down) cost 25 % of "
            "goodput for 50 us.");
  EXPECT_EQ(detail(sample_result()),
            "336 MiB of messages arrived, 2.82 Tb/s over the whole run: 88 % of line rate.");
}

TEST(Verdict, OneFlow) {
  RunResult result = without_faults();
  result.flows.resize(1);
  result.flows[0].start = kMicrosecond * 60;
  EXPECT_EQ(headline(result), "The flow finished in 900 us.");
}

TEST(Verdict, WhatDidNotFinishIsSaidFirst) {
  RunResult result = without_faults();
  result.finished = false;
  result.flows[0].end = kNoTime;
  EXPECT_EQ(headline(result), "7 of 8 flows finished; 1 still ran when the run ended after 1 ms.");
  result.flows[1].failed = true;
  EXPECT_EQ(headline(result),
            "6 of 8 flows finished; 1 failed; 1 still ran when the run ended after 1 ms.");
}

TEST(Verdict, HostsThatWereNotDone) {
  RunResult result = without_faults();
  result.finished = false;
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us, but not every host was done when the run ended.");
}

TEST(Verdict, Nothing) {
  EXPECT_EQ(headline(RunResult{}), "The run ended after 0 s; no flow was sent.");
  EXPECT_EQ(detail(RunResult{}), "");
}

TEST(Verdict, FaultsWithoutEffectAndForGood) {
  RunResult result = sample_result();
  for (Bucket& bucket : result.buckets) bucket.payload_bytes[2] = 900'000;
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the fault at 500 us (p2.t1-4 down) cost no more than "
            "2 % of goodput at any time.");
  for (std::size_t i = 50; i < 100; ++i) result.buckets[i].payload_bytes[2] = 0;
  result.faults.push_back(result.faults[0]);
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the 2 faults at 500 us cost 25 % of goodput from then "
            "on.");
  result.faults[1].from = kMicrosecond * 510;
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the 2 faults from 500 us on cost 25 % of goodput from "
            "then on.");
}

TEST(Verdict, ClaimsNothingOfFaultsThatCannotBeJudged) {
  RunResult result = sample_result();
  result.faults[0].from = {};
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; there was a fault at 0 s (p2.t1-4 down).");
  result.faults.push_back(result.faults[0]);
  EXPECT_EQ(headline(result), "All 8 flows finished in 995 us; there were 2 faults.");
}

TEST(Verdict, ClaimsNoFaultThatWasNeverReached) {
  RunResult result = sample_result();
  result.faults[0].from = kMillisecond * 5;
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the fault at 5 ms (p2.t1-4 down) was never reached.");
  result.faults.push_back({kMillisecond * 2, kNoTime, "p3.t1-4 down"});
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the 2 faults from 2 ms on were never reached.");
  result.faults[1] = sample_result().faults[0];
  EXPECT_EQ(headline(result),
            "All 8 flows finished in 995 us; the fault at 500 us (p2.t1-4 down) cost 25 % of "
            "goodput for 50 us; 1 of 2 faults was never reached.");
  result.faults.push_back(result.faults[0]);
  EXPECT_TRUE(headline(result).ends_with("; 2 of 3 faults were never reached."));
}

TEST(Verdict, Steps) {
  RunResult result = sample_result();
  for (int i = 0; i < 10; ++i) {
    result.steps.push_back({kMicrosecond * (100 * i), kMicrosecond * (100 * i + 80), 8});
  }
  result.steps[5].end = kMicrosecond * 590;
  EXPECT_TRUE(headline(result).starts_with("10 steps took 1 ms; ")) << headline(result);
  EXPECT_TRUE(detail(result).starts_with(
      "A step took 80 us in the median; the slowest, step 5, took 90 us, with a fault in it."))
      << detail(result);
  RunResult slower = result;
  slower.transport = "rc";
  for (StepRecord& step : slower.steps) step.begin = step.end - kMicrosecond * 200;
  EXPECT_TRUE(detail(result, &slower)
                  .ends_with("The median step took 80 us with MRC and 200 us with RC, 2.5 times as "
                             "long."))
      << detail(result, &slower);
}

TEST(Verdict, BesideABaseline) {
  const RunResult result = sample_result();
  RunResult other = result;
  other.transport = "rc";
  EXPECT_TRUE(
      detail(result, &other)
          .ends_with("The slowest flow took 995 us with MRC and 995 us with RC, the same."));
  for (FlowRecord& flow : other.flows) flow.end = flow.end * 3;
  EXPECT_TRUE(
      detail(result, &other)
          .ends_with("The slowest flow took 995 us with MRC and 2.99 ms with RC, 3 times as long."))
      << detail(result, &other);
  other.flows[0].end = kNoTime;
  EXPECT_TRUE(detail(result, &other).ends_with("With RC only 7 of 8 flows finished."));
}

TEST(Verdict, InconsistentAccountingIsNotHidden) {
  RunResult result = sample_result();
  ++result.totals.data_packets_sent;
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "the numbers of this run cannot be trusted: 88541 packets were sent",
                      detail(result));
}

}  // namespace
}  // namespace openmrc::sim
