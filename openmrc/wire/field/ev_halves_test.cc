// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/ev_halves.h"

#include <gtest/gtest.h>

namespace openmrc::wire {
namespace {

// WIRE-16
TEST(EvHalves, TheFlowLabelHasTheHighHalfAndTheSourcePortTheLow) {
  EXPECT_EQ(ev_high(Ev(0x1234abcd)), 0x1234);
  EXPECT_EQ(ev_low(Ev(0x1234abcd)), 0xabcd);
  EXPECT_EQ(join_ev(0x01234, 0xabcd), Ev(0x1234abcd));
}

// WIRE-17
TEST(EvHalves, TheUpperFourBitsOfTheFlowLabelAreIgnored) {
  EXPECT_EQ(join_ev(0xf1234, 0xabcd), Ev(0x1234abcd));
}

// WIRE-18
TEST(EvHalves, WithoutAFlowLabelTheHighHalfIsZero) {
  EXPECT_EQ(join_ev(0, 0xabcd), Ev(0x0000abcd));
}

}  // namespace
}  // namespace openmrc::wire
