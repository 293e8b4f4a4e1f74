// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/serial.h"

#include <gtest/gtest.h>

#include "openmrc/base/ids.h"

namespace openmrc {
namespace {

constexpr std::int64_t kPsnCycle = std::int64_t{1} << 24;
constexpr std::int64_t kPsnHalf = std::int64_t{1} << 23;

TEST(Serial, KeepsOnlyItsBits) {
  EXPECT_EQ(Psn(0x01234567).raw(), 0x234567u);
  EXPECT_EQ(Msn(0xffff).raw(), 0xffff);
}

TEST(Serial, StepsWrapInBothDirections) {
  EXPECT_EQ(Psn(0xffffff) + 1, Psn(0));
  EXPECT_EQ(Psn(0) + -1, Psn(0xffffff));
  EXPECT_EQ(Psn(5) + 3 * kPsnCycle, Psn(5));
}

TEST(Serial, DistanceTakesTheShortWayRound) {
  EXPECT_EQ(Psn(3).distance_from(Psn(0xfffffe)), 5);
  EXPECT_EQ(Psn(0xfffffe).distance_from(Psn(3)), -5);
  EXPECT_EQ(Psn(7).distance_from(Psn(7)), 0);
}

// REL-1
TEST(Serial, HalfARangeAheadCountsAsBehind) {
  EXPECT_EQ((Psn(0) + (kPsnHalf - 1)).distance_from(Psn(0)), kPsnHalf - 1);
  EXPECT_EQ((Psn(0) + kPsnHalf).distance_from(Psn(0)), -kPsnHalf);
}

// REL-1
TEST(Unwrapped, FindsTheNearestNumberAcrossWraps) {
  const UnwrappedPsn reference(10 * kPsnCycle - 2);
  EXPECT_EQ(reference.nearest(Psn(3)).raw(), 10 * kPsnCycle + 3);
  EXPECT_EQ(reference.nearest(Psn(0xfffff0)).raw(), 10 * kPsnCycle - 16);
}

TEST(Unwrapped, IsOrderedWhereTheWireNumberIsNot) {
  const UnwrappedPsn before(kPsnCycle - 1);
  const UnwrappedPsn after = before + 1;
  EXPECT_LT(before, after);
  EXPECT_EQ(after.wrapped(), Psn(0));
  EXPECT_EQ(after - before, 1);
}

TEST(Unwrapped, WorksBelowZero) {
  const UnwrappedPsn start(0);
  EXPECT_EQ((start - 1).wrapped(), Psn(0xffffff));
  EXPECT_EQ(start.nearest(Psn(0xffffff)).raw(), -1);
}

}  // namespace
}  // namespace openmrc
