// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/one_way_evidence.h"

#include <gtest/gtest.h>

namespace openmrc::mapper {
namespace {

using enum Direction;

TEST(OneWayEvidence, WantsLossesThatSeparateTheDirections) {
  EXPECT_EQ(likely_direction({}), kUnknown);
  EXPECT_EQ(likely_direction({.both = 6, .up = 5}), kUnknown);
  EXPECT_EQ(likely_direction({.both = 12, .up = 11}), kUp);
  EXPECT_EQ(likely_direction({.both = 12, .down = 11}), kDown);
  EXPECT_EQ(likely_direction({.both = 12, .up = 6, .down = 6}), kBoth);
  EXPECT_EQ(likely_direction({.both = 8, .up = 6, .down = 2}), kUnknown);
}

TEST(OneWayEvidence, LossesOfLinksElsewhereAreNotTheLinks) {
  // As seen in simulation, of links that lose packets that go down, up, and down.
  EXPECT_NE(likely_direction({.both = 11, .up = 7, .down = 6, .up_usual = 6}), kBoth);
  EXPECT_NE(likely_direction({.both = 9, .up = 16, .down = 6, .up_usual = 6, .down_usual = 5}),
            kBoth);
  EXPECT_NE(likely_direction({.both = 14, .up = 7, .down = 7, .up_usual = 6}), kBoth);
  EXPECT_EQ(likely_direction({.both = 30, .up = 7, .down = 31, .up_usual = 6}), kDown);
}

TEST(OneWayEvidence, OneLossThatIsNobodysDoesNotDecide) {
  EXPECT_EQ(likely_direction({.both = 40, .up = 40, .down = 1}), kUp);
}

TEST(OneWayEvidence, IsSureOfManyLosses) {
  EXPECT_EQ(likely_direction({.both = 4e5, .up = 4e5, .down = 20}), kUp);
  EXPECT_EQ(likely_direction({.both = 4e5, .up = 2e5, .down = 2e5}), kBoth);
}

}  // namespace
}  // namespace openmrc::mapper
