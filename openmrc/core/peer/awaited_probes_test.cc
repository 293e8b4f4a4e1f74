// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/awaited_probes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace openmrc::core {
namespace {

using Kind = AwaitedProbe::Kind;

// MRC 7.3
TEST(AwaitedProbes, FindsAProbeByItsNumberUntilItIsAnswered) {
  AwaitedProbes awaited(0xffff);
  const auto first = awaited.add({.kind = Kind::kBadEv, .peer = 7});
  const auto second = awaited.add({.kind = Kind::kPort, .peer = 8});
  EXPECT_EQ(second.raw(), 0) << "numbers wrap";
  ASSERT_NE(awaited.find(first), nullptr);
  EXPECT_EQ(awaited.find(first)->peer, 7U);
  awaited.remove(first);
  EXPECT_EQ(awaited.find(first), nullptr);
  EXPECT_EQ(awaited.find(second)->peer, 8U);
}

TEST(AwaitedProbes, KnowsNothingBeforeTheFirst) {
  const AwaitedProbes awaited(0);
  EXPECT_EQ(awaited.find(wire::EndpointRequestId(0)), nullptr);
}

// MRC 7.3 (PATH-55, REL-93)
TEST(AwaitedProbes, HoldsTheLatestAndGivesUpTheOldestBeyondTheLimit) {
  AwaitedProbes awaited(0);
  for (std::uint32_t i = 0; i < kProbesAwaitedMax + 1; ++i) {
    (void)awaited.add({.kind = Kind::kBadEv, .peer = i});
  }
  EXPECT_EQ(awaited.find(wire::EndpointRequestId(0)), nullptr);
  for (std::uint16_t i = 1; i < kProbesAwaitedMax + 1; ++i) {
    ASSERT_NE(awaited.find(wire::EndpointRequestId(i)), nullptr) << i;
    EXPECT_EQ(awaited.find(wire::EndpointRequestId(i))->peer, i);
  }
}

// MRC 7.3 (PATH-63)
TEST(AwaitedProbes, CountInTheLowerHalfOfTheNumbersOfTheirSlot) {
  AwaitedProbes awaited(0xfffe, RequestIds::of_slot(5));
  std::set<std::uint16_t> ids;
  for (std::uint32_t i = 0; i < 512; ++i) {
    const auto id = awaited.add({.kind = Kind::kBadEv, .peer = i});
    EXPECT_EQ(id.raw() >> 9, 5 << 1);
    ids.insert(id.raw());
  }
  EXPECT_EQ(ids.size(), 512U);
  EXPECT_EQ(awaited.add({.kind = Kind::kBadEv}).raw(), 5 << 10 | 0x1fe) << "they wrap";
}

}  // namespace
}  // namespace openmrc::core
