// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/packet.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

TEST(ArrivalKey, KeepsWhatItIsMadeOf) {
  const ArrivalKey key(0x7ff, Picoseconds(4'000'000'000'000), 0x7fe);
  EXPECT_EQ(key.egress(), 0x7ff);
  EXPECT_EQ(key.time(), Picoseconds(4'000'000'000'000));
  EXPECT_EQ(key.ingress(), 0x7fe);
}

TEST(ArrivalKey, SortsByPortThenTimeThenLink) {
  const ArrivalKey key(2, Picoseconds(2), 2);
  EXPECT_LT(key, ArrivalKey(3, Picoseconds(1), 1));
  EXPECT_LT(key, ArrivalKey(2, Picoseconds(3), 1));
  EXPECT_LT(key, ArrivalKey(2, Picoseconds(2), 3));
  EXPECT_EQ(key.order(), ArrivalKey(7, Picoseconds(2), 2).order());
}

}  // namespace
}  // namespace openmrc::sim
