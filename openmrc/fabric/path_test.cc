// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/path.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "openmrc/fabric/names.h"
#include "openmrc/fabric/test_parts.h"

namespace openmrc::fabric {
namespace {

Fabric small() {
  return Fabric::make({.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 5}).value();
}

std::string text(const Path& path) {
  std::string line = name_of(path.links[0]);
  for (std::size_t i = 0; i < path.switches.size(); ++i) {
    line += " > " + name_of(path.switches[i]) + " > " + name_of(path.links[i + 1]);
  }
  return line;
}

TEST(Path, BetweenRacksHasThreeSwitches) {
  EXPECT_EQ(text(path_between(small(), HostIndex(17), HostIndex(42), {Plane(3), 4})),
            "p3.t0-2/down1 > p3.t0-2 > p3.t0-2/up4 > p3.t1-4 > p3.t0-5/up4 > p3.t0-5 > "
            "p3.t0-5/down2");
}

TEST(Path, WithinARackHasOneSwitchWhateverTheUplink) {
  const auto path = path_between(small(), HostIndex(17), HostIndex(18), {Plane(3), 4});
  EXPECT_EQ(text(path), "p3.t0-2/down1 > p3.t0-2 > p3.t0-2/down2");
  EXPECT_EQ(path, path_between(small(), HostIndex(17), HostIndex(18), {Plane(3), 0}));
}

TEST(Path, ToItselfGoesToTheOwnSwitchAndBack) {
  EXPECT_EQ(text(path_between(small(), HostIndex(17), HostIndex(17), {Plane(0), 0})),
            "p0.t0-2/down1 > p0.t0-2 > p0.t0-2/down1");
}

TEST(Path, AllEvsDifferOnTheirWay) {
  const Fabric fabric = small();
  std::set<std::string> ways;
  for (std::uint32_t number = 0; number < fabric.evs(); ++number) {
    ways.insert(text(path_between(fabric, HostIndex(0), HostIndex(47), ev_choice(fabric, number))));
  }
  EXPECT_EQ(ways.size(), 20);
}

TEST(Path, EvsAreNumberedPlaneByPlane) {
  const Fabric fabric = small();
  ASSERT_EQ(fabric.evs(), 20);
  EXPECT_EQ(ev_choice(fabric, 0), (PathChoice{Plane(0), 0}));
  EXPECT_EQ(ev_choice(fabric, 4), (PathChoice{Plane(0), 4}));
  EXPECT_EQ(ev_choice(fabric, 5), (PathChoice{Plane(1), 0}));
  for (std::uint32_t number = 0; number < fabric.evs(); ++number) {
    EXPECT_EQ(ev_number(fabric, ev_choice(fabric, number)), number);
  }
}

TEST(Path, WithOneTierThereIsOneEvInEachPlane) {
  const Fabric fabric = Fabric::make({.planes = 3, .racks = 1, .hosts_per_rack = 8}).value();
  ASSERT_EQ(fabric.evs(), 3);
  EXPECT_EQ(ev_choice(fabric, 2), (PathChoice{Plane(2), 0}));
  EXPECT_EQ(path_between(fabric, HostIndex(0), HostIndex(7), ev_choice(fabric, 2)).switches.size(),
            1);
}

TEST(Path, BetweenPodsHasFiveSwitches) {
  EXPECT_EQ(text(path_between(three_tiers(), HostIndex(1), HostIndex(22), {Plane(1), 6})),
            "p1.t0-0/down1 > p1.t0-0 > p1.t0-0/up1 > p1.t1-1 > p1.t1-1/up2 > p1.t2-6 > "
            "p1.t1-5/up2 > p1.t1-5 > p1.t0-5/up1 > p1.t0-5 > p1.t0-5/down2");
}

TEST(Path, WithinAPodHasThreeSwitchesWhateverTheT2) {
  const Fabric fabric = three_tiers();
  const auto path = path_between(fabric, HostIndex(8), HostIndex(12), {Plane(0), 4});
  EXPECT_EQ(text(path),
            "p0.t0-2/down0 > p0.t0-2 > p0.t0-2/up1 > p0.t1-3 > p0.t0-3/up1 > p0.t0-3 > "
            "p0.t0-3/down0");
  EXPECT_EQ(path, path_between(fabric, HostIndex(8), HostIndex(12), {Plane(0), 7}));
}

TEST(Path, BetweenPodsAllEvsDiffer) {
  const Fabric fabric = three_tiers();
  std::set<std::string> ways;
  for (std::uint32_t number = 0; number < fabric.evs(); ++number) {
    ways.insert(text(path_between(fabric, HostIndex(0), HostIndex(23), ev_choice(fabric, number))));
  }
  EXPECT_EQ(ways.size(), 16);
}

}  // namespace
}  // namespace openmrc::fabric
