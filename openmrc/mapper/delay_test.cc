// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/delay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using Names = std::vector<std::string>;
using test::Rig;

Names slow(const Rig& rig) {
  Names all;
  for (const SlowLink& each : rig.mapper.delays().slow(rig.now)) all.push_back(name_of(each.link));
  return all;
}

TEST(DelayJudge, NamesAnUplinkThatDelaysEveryPacket) {
  Rig rig;
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{}));
  rig.network.delays[{rig.link("p1.t0-0/up1"), true}] = milliseconds(1);
  rig.run(seconds(15));
  ASSERT_EQ(slow(rig), (Names{"p1.t0-0/up1"}));
  EXPECT_EQ(rig.mapper.delays().slow(rig.now)[0].delay, milliseconds(1));
  EXPECT_EQ(rig.names(), (Names{}));  // it loses nothing
  rig.network.delays.clear();
  rig.run(seconds(15));
  EXPECT_EQ(slow(rig), (Names{}));
}

TEST(DelayJudge, ASlowHostLinkIsNotHeldAgainstUplinks) {
  Rig rig;
  rig.network.delays[{rig.link("h0/p2"), false}] = milliseconds(2);
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{"p2.t0-0/down0"}));
}

TEST(DelayJudge, LinksOfOtherRacksAndShortDelaysAreNotNamed) {
  Rig rig;
  rig.network.delays[{rig.link("p1.t0-1/up1"), true}] = milliseconds(1);
  rig.network.delays[{rig.link("p0.t0-0/up0"), true}] = microseconds(300);
  rig.run(seconds(30));
  EXPECT_EQ(slow(rig), (Names{}));
}

// A queue that is full most of the time, and empty now and then.
TEST(DelayJudge, AQueueIsNotASlowLink) {
  Rig rig;
  for (int i = 0; i < 60; ++i) {
    rig.network.delays[{rig.link("p0.t0-0/up0"), true}] = milliseconds(1);
    rig.run(milliseconds(900));
    rig.network.delays.clear();
    rig.run(milliseconds(100));
    EXPECT_EQ(slow(rig), (Names{}));
  }
}

// As a link that is full for minutes: there is always a packet before the probe, and mostly
// several.
TEST(DelayJudge, AQueueThatIsNeverEmptyIsNotASlowLink) {
  Rig rig;
  Rng rng(3);
  for (int i = 0; i < 4000; ++i) {
    for (const char* link : {"p0.t0-0/up0", "h0/p1"}) {
      const auto packets = static_cast<std::int64_t>(1 + rng.below(4));
      rig.network.delays[{rig.link(link), true}] = microseconds(670) * packets;
    }
    rig.run(milliseconds(10));
    ASSERT_EQ(slow(rig), (Names{})) << i;
  }
}

TEST(DelayJudge, AQueueDoesNotHideAMuchLongerDelay) {
  Rig rig;
  Rng rng(3);
  for (int i = 0; i < 1500; ++i) {
    const Duration queue = microseconds(100) * static_cast<std::int64_t>(rng.below(5));
    rig.network.delays[{rig.link("p0.t0-0/up0"), true}] = milliseconds(1) + queue;
    rig.run(milliseconds(10));
  }
  EXPECT_EQ(slow(rig), (Names{"p0.t0-0/up0"}));
}

// What was seen of its uplinks just before, or for the last time, is not held against them.
TEST(DelayJudge, WhoHasLostItsLinkSaysNothingOfUplinks) {
  Rig rig;
  rig.run(milliseconds(5200));
  rig.network.delays[{rig.link("p1.t0-0/up1"), true}] = milliseconds(1);
  rig.run(seconds(11));
  ASSERT_EQ(slow(rig), (Names{"p1.t0-0/up1"}));
  rig.network.lose_both(rig.link("h0/p1"), test::kMillion);
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{}));
}

TEST(DelayJudge, ASingleLinkHasNothingToBeComparedWith) {
  Rig rig({.planes = 1, .racks = 1, .hosts_per_rack = 2});
  rig.network.delays[{rig.link("h0/p0"), true}] = milliseconds(1);
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{}));
}

}  // namespace
}  // namespace openmrc::mapper
