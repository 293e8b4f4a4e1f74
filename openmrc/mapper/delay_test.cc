// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/delay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using Names = std::vector<std::string>;
using test::Rig;

Names slow(const Rig& rig) {
  Names all;
  for (const SlowLink& each : rig.mapper.delays().slow()) all.push_back(name_of(each.link));
  return all;
}

TEST(DelayJudge, NamesAnUplinkThatDelaysEveryPacket) {
  Rig rig;
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{}));
  rig.network.delays[{rig.link("p1.t0-0/up1"), true}] = milliseconds(1);
  rig.run(seconds(15));
  ASSERT_EQ(slow(rig), (Names{"p1.t0-0/up1"}));
  EXPECT_EQ(rig.mapper.delays().slow()[0].delay, milliseconds(1));
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

TEST(DelayJudge, ASingleLinkHasNothingToBeComparedWith) {
  Rig rig({.planes = 1, .racks = 1, .hosts_per_rack = 2});
  rig.network.delays[{rig.link("h0/p0"), true}] = milliseconds(1);
  rig.run(seconds(20));
  EXPECT_EQ(slow(rig), (Names{}));
}

}  // namespace
}  // namespace openmrc::mapper
