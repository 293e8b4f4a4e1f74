// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/dscp.h"

#include <gtest/gtest.h>

#include <set>

namespace openmrc::wire {
namespace {

TEST(Dscp, SharesItsByteWithEcn) {
  EXPECT_EQ(traffic_byte(Dscp(46), Ecn::kNotCapable), 0xb8);
  EXPECT_EQ(traffic_byte(Dscp(10), Ecn::kCapable0), 0x2a);
  EXPECT_EQ(traffic_byte(Dscp(63), Ecn::kCongested), 0xff);
  for (unsigned raw = 0; raw < 256; ++raw) {
    const auto byte = static_cast<std::uint8_t>(raw);
    EXPECT_EQ(traffic_byte(dscp_of(byte), ecn_of(byte)), byte);
  }
}

// WIRE-29
TEST(Dscp, DefaultsAreTheOnesWritten) {
  constexpr DscpMap kMap;
  EXPECT_EQ(kMap.of(TrafficClass::kTrimmable), Dscp(10));
  EXPECT_EQ(kMap.of(TrafficClass::kTrimmableRetransmission), Dscp(12));
  EXPECT_EQ(kMap.of(TrafficClass::kNoTrim), Dscp(8));
  EXPECT_EQ(kMap.of(TrafficClass::kControl), Dscp(46));
  EXPECT_EQ(kMap.of(TrafficClass::kUnknown), Dscp(0));
  EXPECT_EQ(kMap.of(TrimPlace::kOnPath), Dscp(14));
  EXPECT_EQ(kMap.of(TrimPlace::kLastHop), Dscp(22));
}

// WIRE-29
TEST(Dscp, EveryValueMeansOneThingOrNothing) {
  constexpr DscpMap kMap;
  std::set<std::uint8_t> known;
  for (std::uint8_t raw = 0; raw < 64; ++raw) {
    const TrafficClass traffic_class = kMap.traffic_class(Dscp(raw));
    const auto place = kMap.trim_place(Dscp(raw));
    if (traffic_class != TrafficClass::kUnknown) {
      EXPECT_EQ(kMap.of(traffic_class), Dscp(raw));
      EXPECT_FALSE(place) << "DSCP " << int{raw} << " means two things";
      known.insert(raw);
    } else if (place) {
      EXPECT_EQ(kMap.of(*place), Dscp(raw));
      known.insert(raw);
    }
  }
  EXPECT_EQ(known, (std::set<std::uint8_t>{8, 10, 12, 14, 22, 46}));
}

// WIRE-29
TEST(Dscp, ADeploymentMayChooseOtherValues) {
  constexpr DscpMap kMap{.control = Dscp(48), .trimmed = Dscp(9)};
  EXPECT_EQ(kMap.traffic_class(Dscp(48)), TrafficClass::kControl);
  EXPECT_EQ(kMap.traffic_class(Dscp(46)), TrafficClass::kUnknown);
  EXPECT_EQ(kMap.trim_place(Dscp(9)), TrimPlace::kOnPath);
  EXPECT_EQ(kMap.trim_place(Dscp(14)), std::nullopt);
}

}  // namespace
}  // namespace openmrc::wire
