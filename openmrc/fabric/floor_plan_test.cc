// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/floor_plan.h"

#include <gtest/gtest.h>

#include "openmrc/fabric/test_parts.h"

namespace openmrc::fabric {
namespace {

using enum LinkId::Kind;

//   column     0         1          2         3
//   line 0     h0 h1     h2 h3 T0   h4 h5     h6 h7 T0      racks 0 and 1
//   line 1     T1s of    T1s of
//              plane 0   plane 1
//   line 2     h8 h9     h10 .. T0  h12 h13   h14 .. T0     racks 2 and 3
FloorPlan by_hand() { return {hand_made_fabric(), hand_made_parts().floor}; }

TEST(FloorPlan, EverythingHasItsCabinet) {
  const FloorPlan floor = by_hand();
  EXPECT_EQ(floor.lines(), 3U);
  EXPECT_EQ(floor.columns(), 4U);
  EXPECT_EQ(floor.of_host(HostIndex(0)), (Cabinet{0, 0}));
  EXPECT_EQ(floor.of_host(HostIndex(3)), (Cabinet{0, 1}));
  EXPECT_EQ(floor.of_host(HostIndex(4)), (Cabinet{0, 2}));
  EXPECT_EQ(floor.of_host(HostIndex(15)), (Cabinet{2, 3}));
  EXPECT_EQ(floor.of_t0(0), (Cabinet{0, 1}));
  EXPECT_EQ(floor.of_t0(3), (Cabinet{2, 3}));
  EXPECT_EQ(floor.of_t1(Plane(0), 0), (Cabinet{1, 0}));
  EXPECT_EQ(floor.of_t1(Plane(0), 3), (Cabinet{1, 0}));
  EXPECT_EQ(floor.of_t1(Plane(1), 0), (Cabinet{1, 1}));
}

TEST(FloorPlan, CablesGoUpAlongAndDown) {
  const FloorPlan floor = by_hand();
  EXPECT_DOUBLE_EQ(floor.metres({kHost, Plane(0), 0, 2}), 2) << "in the cabinet of its T0";
  EXPECT_DOUBLE_EQ(floor.metres({kHost, Plane(1), 0, 0}), 2.5 + 0.6 + 2.5);
  EXPECT_DOUBLE_EQ(floor.metres({kUplink, Plane(0), 0, 3}), 5 + 0.6 + 2.4);
  EXPECT_DOUBLE_EQ(floor.metres({kUplink, Plane(1), 0, 3}), 5 + 2.4);
  EXPECT_DOUBLE_EQ(floor.metres({kUplink, Plane(0), 1, 0}), 5 + 3 * 0.6 + 2.4);
  EXPECT_DOUBLE_EQ(floor.metres({kUplink, Plane(1), 3, 0}), 5 + 2 * 0.6 + 2.4);
}

TEST(FloorPlan, OneRackHasNoT1s) {
  const Fabric fabric = Fabric::make({.planes = 2, .racks = 1, .hosts_per_rack = 5}).value();
  const FloorPlan floor(fabric, hand_made_parts().floor);
  EXPECT_EQ(floor.lines(), 1U);
  EXPECT_EQ(floor.columns(), 3U);
  EXPECT_EQ(floor.of_host(HostIndex(4)), (Cabinet{0, 2}));
  EXPECT_EQ(floor.of_t0(0), (Cabinet{0, 1}));
}

}  // namespace
}  // namespace openmrc::fabric
