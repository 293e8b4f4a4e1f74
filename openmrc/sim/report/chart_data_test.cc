// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/chart_data.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

TEST(Cumulative, RisesWithEachTime) {
  const auto points = cumulative({Picoseconds(10), Picoseconds(20)}, 4, 500);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].x, 10);
  EXPECT_EQ(points[0].y, 0);
  EXPECT_EQ(points[1].y, 250'000);
  EXPECT_EQ(points[2].x, 20);
  EXPECT_EQ(points[2].y, 500'000);  // two of four never were done
}

TEST(Cumulative, IsThinnedButKeepsItsEnds) {
  std::vector<Picoseconds> times;
  for (int i = 1; i <= 131'072; ++i) times.emplace_back(i);
  const auto points = cumulative(times, times.size(), 500);
  EXPECT_EQ(points.size(), 500U);
  EXPECT_EQ(points.front().x, 1);
  EXPECT_EQ(points.back().x, 131'072);
  EXPECT_EQ(points.back().y, 1e6);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GE(points[i].y, points[i - 1].y);
}

TEST(Cumulative, OfOneAndOfNone) {
  EXPECT_EQ(cumulative({Picoseconds(5)}, 1, 2).back().y, 1e6);
  EXPECT_TRUE(cumulative({}, 3, 500).empty());
}

TEST(StepPoints, ShowTheSlowestOfAGroup) {
  std::vector<StepRecord> steps;
  for (const int length : {5, 9, 1, 2, 3}) steps.push_back({{}, Picoseconds(length), 1});
  const auto points = step_points(steps, 2);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].y, 9);
  EXPECT_EQ(points[1].x, 2);
  EXPECT_EQ(points[1].y, 2);
  EXPECT_EQ(points[2].y, 3);
}

TEST(FaultSpans, FewHaveTheirText) {
  const auto spans = fault_spans(sample_result(), 1e9);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].from, 500e6);
  EXPECT_EQ(spans[0].to, 550e6);
  EXPECT_EQ(spans[0].label, "p2.t1-4 down");
}

TEST(FaultSpans, ManyAreNumberedInTheOrderOfTheirTable) {
  RunResult result;
  for (const int at : {4, 3, 2, 1}) result.faults.push_back({Picoseconds(at), kNoTime, "x"});
  const auto spans = fault_spans(result, 10);
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].label, "#4");
  EXPECT_EQ(spans[0].from, 1);
  EXPECT_EQ(spans[0].to, 10);
  EXPECT_EQ(spans[3].label, "#1");
}

TEST(FaultSpans, ThoseOfOneTimeAreOne) {
  RunResult result;
  result.faults.assign(64, {Picoseconds(1), Picoseconds(2), "x"});
  const auto spans = fault_spans(result, 10);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].label, "#1 and 63 more");
}

TEST(FaultSpans, WhatBeginsAfterTheEndIsNotShown) {
  EXPECT_TRUE(fault_spans(sample_result(), 400e6).empty());
  EXPECT_EQ(fault_spans(sample_result(), 520e6)[0].to, 520e6);
}

TEST(FaultSpans, AreNotTooMany) {
  RunResult result;
  for (int i = 0; i < 1'000; ++i)
    result.faults.push_back({Picoseconds(i), Picoseconds(i + 1), "x"});
  EXPECT_EQ(fault_spans(result, 2'000).size(), 200U);
}

TEST(Coarsened, AddsUpSlices) {
  RunResult result = sample_result();
  result.buckets.resize(99);
  result.buckets[98].trimmed = 3;
  const RunResult coarse = coarsened(result, 40);
  ASSERT_EQ(coarse.buckets.size(), 33U);
  EXPECT_EQ(coarse.bucket_width, kMicrosecond * 30);
  EXPECT_EQ(coarse.buckets[0].payload_bytes[1], 3U * 900'000);
  EXPECT_EQ(coarse.buckets[1].marked, 3U + 4 + 5);
  EXPECT_EQ(coarse.buckets[1].queue_max_bytes[0], 50'005U);
  EXPECT_EQ(coarse.buckets[16].ev_changes[3], 16);
  EXPECT_EQ(coarse.buckets[16].lost, 40U);
  EXPECT_EQ(coarse.buckets[17].retransmissions, 40U);
  EXPECT_EQ(coarse.buckets[32].trimmed, 3U);
}

TEST(Coarsened, LeavesFewSlicesAsTheyAre) {
  EXPECT_EQ(coarsened(sample_result(), 100), sample_result());
}

}  // namespace
}  // namespace openmrc::sim
