// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/fault_effect.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

TEST(FaultEffect, MeasuresDepthAndLength) {
  const auto effect = fault_effect(sample_result());
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->from, kMicrosecond * 500);
  EXPECT_EQ(effect->faults, 1U);
  EXPECT_DOUBLE_EQ(effect->lost_share, 0.25);  // one of four planes
  EXPECT_EQ(effect->lasted, kMicrosecond * 50);
  EXPECT_TRUE(effect->recovered);
}

TEST(FaultEffect, GoodputThatStaysLower) {
  RunResult result = sample_result();
  for (std::size_t i = 50; i < 100; ++i) result.buckets[i].payload_bytes[2] = 450'000;
  const auto effect = fault_effect(result);
  ASSERT_TRUE(effect);
  EXPECT_DOUBLE_EQ(effect->lost_share, 0.125);
  EXPECT_FALSE(effect->recovered);
}

TEST(FaultEffect, NoneIsZero) {
  RunResult result = sample_result();
  for (std::size_t i = 50; i < 55; ++i) result.buckets[i].payload_bytes[2] = 850'000;  // 1.4 % less
  const auto effect = fault_effect(result);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->lost_share, 0);
  EXPECT_DOUBLE_EQ(effect->tolerance, 0.02);
}

TEST(FaultEffect, WhatVariesAnywayIsNoEffect) {
  RunResult result = sample_result();
  for (std::size_t i = 0; i < 100; i += 2) {
    for (std::uint64_t& bytes : result.buckets[i].payload_bytes) bytes = bytes * 9 / 10;
  }
  for (std::size_t i = 50; i < 55; ++i) result.buckets[i].payload_bytes[2] = 750'000;
  const auto effect = fault_effect(result);
  ASSERT_TRUE(effect);
  EXPECT_GT(effect->tolerance, 0.1);
  EXPECT_EQ(effect->lost_share, 0);
}

TEST(FaultEffect, FlowsThatEndAreNoEffect) {
  RunResult result = sample_result();
  for (std::size_t i = 50; i < 55; ++i) result.buckets[i].payload_bytes[2] = 900'000;
  // Two of eight flows end at 700 us and take their goodput with them.
  for (std::size_t flow : {0U, 1U}) result.flows[flow].end = kMicrosecond * 700;
  for (std::size_t i = 70; i < 100; ++i) result.buckets[i].payload_bytes.assign(4, 675'000);
  const auto effect = fault_effect(result);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->lost_share, 0);
}

TEST(FaultEffect, SeveralFaultsCountFromTheFirst) {
  RunResult result = sample_result();
  result.faults.insert(result.faults.begin(), {kMicrosecond * 600, kNoTime, "later"});
  const auto effect = fault_effect(result);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->from, kMicrosecond * 500);
  EXPECT_EQ(effect->faults, 2U);
  EXPECT_FALSE(effect->at_once);
  EXPECT_EQ(effect->lasted, kMicrosecond * 50);
}

TEST(FaultEffect, IsNotToldFromTooLittle) {
  RunResult result = sample_result();
  result.faults.clear();
  EXPECT_FALSE(fault_effect(result)) << "no fault";

  result = sample_result();
  result.faults[0].from = kMicrosecond * 30;
  EXPECT_FALSE(fault_effect(result)) << "too little before";

  result = sample_result();
  result.faults[0].from = kMillisecond * 5;
  EXPECT_FALSE(fault_effect(result)) << "after the end";

  result = sample_result();
  for (FlowRecord& flow : result.flows) flow.end = kMicrosecond * 520;
  EXPECT_FALSE(fault_effect(result)) << "too little after";

  result = sample_result();
  for (std::size_t i = 0; i < 100; i += 4) result.buckets[i].payload_bytes.assign(4, 0);
  EXPECT_FALSE(fault_effect(result)) << "not steady";

  result = sample_result();
  result.flows.clear();
  EXPECT_FALSE(fault_effect(result)) << "no flows";

  result = sample_result();
  result.buckets.clear();
  EXPECT_FALSE(fault_effect(result)) << "no slices of time";
}

}  // namespace
}  // namespace openmrc::sim
