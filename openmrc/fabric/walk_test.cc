// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/walk.h"

#include <gtest/gtest.h>

#include "openmrc/fabric/names.h"

namespace openmrc::fabric {
namespace {

using wire::Ipv6Address;
using wire::UsidCarrier;

UsidPlan small() {
  return UsidPlan(
      Fabric::make({.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 5}).value());
}

UsidCarrier carrier(const std::array<std::uint16_t, 8>& groups) {
  return UsidCarrier(Ipv6Address::of(groups));
}

// PATH-84
TEST(Walk, EachSwitchConsumesItsUsid) {
  const UsidPlan plan = small();
  const auto walked = walk(plan, HostIndex(17), Plane(3),
                           plan.carrier(HostIndex(17), HostIndex(42), {Plane(3), 4}));
  ASSERT_TRUE(walked);
  ASSERT_EQ(walked->steps.size(), 3);
  EXPECT_EQ(name_of(walked->steps[0].at), "p3.t0-2");
  EXPECT_EQ(to_string(walked->steps[0].arrives), "fcbb:bb00:4023:8043:4053:c023::");
  EXPECT_EQ(to_string(walked->steps[0].leaves), "fcbb:bb00:8043:4053:c023::");
  EXPECT_EQ(name_of(walked->steps[0].out), "p3.t0-2/up4");
  EXPECT_EQ(name_of(walked->steps[1].at), "p3.t1-4");
  EXPECT_EQ(to_string(walked->steps[1].leaves), "fcbb:bb00:4053:c023::");
  EXPECT_EQ(name_of(walked->steps[1].out), "p3.t0-5/up4");
  EXPECT_EQ(name_of(walked->steps[2].at), "p3.t0-5");
  EXPECT_EQ(name_of(walked->steps[2].out), "p3.t0-5/down2");
  EXPECT_EQ(walked->host, HostIndex(42));
  EXPECT_EQ(to_string(walked->delivered), "fcbb:bb00:c023::");
}

// PATH-85
TEST(Walk, WithinARackTheFirstSwitchIsTheLast) {
  const UsidPlan plan = small();
  const auto walked = walk(plan, HostIndex(17), Plane(1),
                           plan.carrier(HostIndex(17), HostIndex(23), {Plane(1), 4}));
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->steps.size(), 1);
  EXPECT_EQ(walked->host, HostIndex(23));
}

TEST(Walk, APacketThatIsNotForTheSwitchIsDropped) {
  const UsidPlan plan = small();
  const auto fault = [&](std::uint8_t plane, const std::array<std::uint16_t, 8>& groups) {
    const auto walked = walk(plan, HostIndex(17), Plane(plane), carrier(groups));
    EXPECT_FALSE(walked);
    return walked ? WalkFault{} : walked.error();
  };
  using enum WalkFault;
  EXPECT_EQ(fault(2, {0xfcbb, 0xbb00, 0x4023, 0xc023, 0, 0, 0, 0}), kNotForThisSwitch);
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4033, 0xc023, 0, 0, 0, 0}), kNotForThisSwitch);
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb01, 0x4023, 0xc023, 0, 0, 0, 0}), kNotForThisSwitch);
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x8023, 0xc023, 0, 0, 0, 0}), kNotForThisSwitch);
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0, 0, 0, 0, 0}), kNoNextHop) << "zero behind it";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0xc022, 0, 0, 0, 0}), kNoNextHop) << "plane";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0xc083, 0, 0, 0, 0}), kNoNextHop) << "downlink";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0x8053, 0x4033, 0xc023, 0, 0}), kNoNextHop)
      << "uplink";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0x4033, 0, 0, 0, 0}), kNoNextHop) << "T0 to T0";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0x8043, 0xc023, 0, 0, 0}), kNoNextHop) << "T1, host";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4063, 0xc023, 0, 0}), kNoNextHop) << "rack";
  EXPECT_EQ(fault(3, {0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4033, 0x8043, 0x4053, 0xc023}), kTooLong);
}

}  // namespace
}  // namespace openmrc::fabric
