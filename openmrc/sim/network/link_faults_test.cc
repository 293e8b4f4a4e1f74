// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/link_faults.h"

#include <gtest/gtest.h>

#include <array>

namespace openmrc::sim {
namespace {

using Kind = fabric::LinkId::Kind;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }
constexpr fabric::LinkId kUplink{.kind = Kind::kUplink, .plane = Plane(1), .rack = 2, .port = 3};

TEST(LinkFaults, KnowsNoWholeLink) {
  const std::array faults{LinkFault{.link = kUplink, .down = true}};
  const LinkFaults all(faults);
  fabric::LinkId other = kUplink;
  other.port = 4;
  EXPECT_EQ(all.find(other, true), LinkFaults::kNone);
  EXPECT_NE(all.find(kUplink, true), LinkFaults::kNone);
  EXPECT_NE(all.find(kUplink, false), LinkFaults::kNone);
}

TEST(LinkFaults, HitsOneDirectionIfSoAsked) {
  const std::array faults{
      LinkFault{.link = kUplink, .direction = Direction::kDownward, .down = true}};
  const LinkFaults all(faults);
  EXPECT_EQ(all.find(kUplink, true), LinkFaults::kNone);
  EXPECT_NE(all.find(kUplink, false), LinkFaults::kNone);
}

TEST(LinkFaults, PutsOverlappingFaultsTogether) {
  const std::array faults{
      LinkFault{.link = kUplink, .from = us(10), .to = us(30), .loss_per_billion = 5},
      LinkFault{.link = kUplink, .from = us(20), .to = us(40), .speed_percent = 25},
      LinkFault{.link = kUplink, .from = us(25), .to = us(35), .down = true}};
  const LinkFaults all(faults);
  const LinkFaults::Index link = all.find(kUplink, true);
  EXPECT_EQ(all.state(link, us(0)), (LinkState{.from = us(0)}));
  EXPECT_EQ(all.state(link, us(10)).loss_per_billion, 5U);
  EXPECT_EQ(all.state(link, us(22)).speed_percent, 25);
  EXPECT_EQ(all.state(link, us(22)).loss_per_billion, 5U);
  EXPECT_FALSE(all.state(link, us(34)).up);
  EXPECT_TRUE(all.state(link, us(35)).up);
  EXPECT_EQ(all.state(link, us(40)), (LinkState{.from = us(40)}));
  EXPECT_EQ(all.speed_percent_min(), 25);
}

TEST(LinkFaults, TheSmallestMtuCounts) {
  const std::array faults{LinkFault{.link = kUplink, .from = us(10), .to = us(30), .mtu = 1500},
                          LinkFault{.link = kUplink, .from = us(20), .to = us(40), .mtu = 9000}};
  const LinkFaults all(faults);
  const LinkFaults::Index link = all.find(kUplink, true);
  EXPECT_EQ(all.state(link, us(0)).mtu, kAnyMtu);
  EXPECT_EQ(all.state(link, us(25)).mtu, 1500);
  EXPECT_EQ(all.state(link, us(35)).mtu, 9000);
  EXPECT_EQ(all.state(link, us(40)).mtu, kAnyMtu);
}

TEST(LinkFaults, LosesWhatIsOnTheWireWhenItIsCut) {
  const std::array faults{LinkFault{.link = kUplink, .from = us(10), .to = us(20), .down = true}};
  const LinkFaults all(faults);
  const LinkFaults::Index link = all.find(kUplink, true);
  EXPECT_TRUE(all.stays_up(link, us(8), us(9)));
  EXPECT_FALSE(all.stays_up(link, us(9), us(11)));
  EXPECT_FALSE(all.stays_up(link, us(9), us(21))) << "even if it is back by then";
  EXPECT_FALSE(all.stays_up(link, us(12), us(13)));
  EXPECT_TRUE(all.stays_up(link, us(20), us(21)));
}

}  // namespace
}  // namespace openmrc::sim
