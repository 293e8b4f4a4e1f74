// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/usid_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace openmrc::fabric {
namespace {

using wire::Ipv6Address;
using wire::Usid;
using wire::UsidCarrier;
using Kind = Segment::Kind;

// Host 17 is at downlink 1 of rack 2; host 42 at downlink 2 of rack 5.
Fabric small() {
  return Fabric::make({.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 5}).value();
}

Ipv6Address joined(const Ipv6Address& a, const Ipv6Address& b) {
  Ipv6Address all;
  for (std::size_t i = 0; i < all.bytes.size(); ++i) all.bytes[i] = a.bytes[i] | b.bytes[i];
  return all;
}

// PATH-81
TEST(UsidPlan, UsidsReadInHex) {
  EXPECT_EQ(usid_of({Kind::kT0, Plane(3), 17}), Usid(0x4113));
  EXPECT_EQ(usid_of({Kind::kT1, Plane(3), 4}), Usid(0x8043));
  EXPECT_EQ(usid_of({Kind::kHost, Plane(3), 5}), Usid(0xc053));
  EXPECT_EQ(usid_of({Kind::kT0, Plane(0), 0}), Usid(0x4000));
  EXPECT_EQ(usid_of({Kind::kHost, Plane(15), 511}), Usid(0xdfff));
}

// PATH-82, WIRE-21
TEST(UsidPlan, EveryNumberIsOneSegmentOrNone) {
  for (std::uint32_t raw = 0; raw <= 0xffff; ++raw) {
    const Usid usid(static_cast<std::uint16_t>(raw));
    const auto segment = segment_of(usid);
    EXPECT_EQ(segment.has_value(), raw >= 0x4000 && raw <= 0xdfff) << raw;
    if (segment.has_value()) {
      EXPECT_EQ(usid_of(*segment), usid);
    }
  }
}

// MRC 9.2 (PATH-84, PATH-85)
TEST(UsidPlan, CarriersNameTheSwitchesInOrder) {
  const UsidPlan plan(small());
  EXPECT_EQ(to_string(plan.carrier(HostIndex(17), HostIndex(42), {Plane(3), 4}).address()),
            "fcbb:bb00:4023:8043:4053:c023::");
  EXPECT_EQ(to_string(plan.carrier(HostIndex(17), HostIndex(18), {Plane(3), 4}).address()),
            "fcbb:bb00:4023:c023::");
  const UsidPlan other(small(), 0x20010db8);
  EXPECT_EQ(to_string(other.carrier(HostIndex(17), HostIndex(18), {Plane(3), 4}).address()),
            "2001:db8:4023:c023::");
}

// MRC 9.3.5 (PATH-77)
TEST(UsidPlan, AnEvAndAnOverlayMakeTheCarrier) {
  const UsidPlan plan(small());
  EXPECT_EQ(to_string(plan.ev_part({Plane(3), 4}, Reach::kOtherRack)),
            "fcbb:bb00:4003:8043:4003:c003::");
  EXPECT_EQ(to_string(plan.ev_part({Plane(3), 4}, Reach::kOwnRack)), "fcbb:bb00:4003:c003::");
  EXPECT_EQ(to_string(plan.overlay(HostIndex(17), HostIndex(42))), "::20:0:50:20:0:0");
  EXPECT_EQ(to_string(plan.overlay(HostIndex(17), HostIndex(18))), "0:0:20:20::");
}

// PATH-84
TEST(UsidPlan, TheExampleOfTheDocumentHolds) {
  const UsidPlan plan(
      Fabric::make({.planes = 8, .racks = 20, .hosts_per_rack = 8, .uplinks = 8}).value());
  const HostIndex source = plan.fabric().host_at(17, 0);
  const HostIndex destination = plan.fabric().host_at(2, 5);
  const PathChoice choice{Plane(3), 4};
  EXPECT_EQ(to_string(plan.ev_part(choice, Reach::kOtherRack)), "fcbb:bb00:4003:8043:4003:c003::");
  EXPECT_EQ(to_string(plan.overlay(source, destination)), "::110:0:20:50:0:0");
  EXPECT_EQ(to_string(plan.carrier(source, destination, choice).address()),
            "fcbb:bb00:4113:8043:4023:c053::");
}

TEST(UsidPlan, ThePartsHoldForAllPathsOfAFabric) {
  const UsidPlan plan(small());
  for (std::uint32_t from = 0; from < plan.fabric().hosts(); from += 5) {
    for (std::uint32_t to = 0; to < plan.fabric().hosts(); ++to) {
      const Ipv6Address overlay = plan.overlay(HostIndex(from), HostIndex(to));
      for (std::uint8_t plane = 0; plane < 4; ++plane) {
        for (std::uint16_t uplink = 0; uplink < 5; ++uplink) {
          const PathChoice choice{Plane(plane), uplink};
          const Reach reach = plan.reach(HostIndex(from), HostIndex(to));
          const UsidCarrier carrier = plan.carrier(HostIndex(from), HostIndex(to), choice);
          ASSERT_EQ(joined(plan.ev_part(choice, reach), overlay), carrier.address());
          const auto route = plan.route_of(carrier);
          ASSERT_TRUE(route);
          EXPECT_EQ(route->source_rack, plan.fabric().rack_of(HostIndex(from)));
          EXPECT_EQ(route->destination, HostIndex(to));
          EXPECT_EQ(route->reach, reach);
          EXPECT_EQ(route->choice.plane, choice.plane);
          EXPECT_EQ(route->choice.path, reach == Reach::kOwnRack ? 0 : uplink);
        }
      }
    }
  }
}

TEST(UsidPlan, OnlyCarriersOfThisFabricAreRead) {
  const UsidPlan plan(small());
  const auto reads = [&](const std::array<std::uint16_t, 8>& groups) {
    return plan.route_of(UsidCarrier(Ipv6Address::of(groups))).has_value();
  };
  ASSERT_TRUE(reads({0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4053, 0xc023, 0, 0}));
  ASSERT_TRUE(reads({0xfcbb, 0xbb00, 0x4023, 0xc023, 0, 0, 0, 0}));
  EXPECT_FALSE(reads({0xfcbb, 0xbb01, 0x4023, 0xc023, 0, 0, 0, 0})) << "another block";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0, 0, 0, 0, 0, 0})) << "the end of a path";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x8043, 0x4053, 0xc023, 0, 0, 0})) << "half a path";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4053, 0x4053, 0, 0, 0, 0})) << "no host";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x8023, 0xc023, 0, 0, 0, 0})) << "begins at a T1";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x4043, 0x4053, 0xc023, 0, 0})) << "no T1";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8043, 0x8053, 0xc023, 0, 0})) << "two T1s";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4023, 0xc023, 0, 0})) << "up for nothing";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8042, 0x4053, 0xc023, 0, 0})) << "two planes";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4053, 0xc022, 0, 0})) << "two planes";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4024, 0xc024, 0, 0, 0, 0})) << "plane 4 of 4";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4063, 0xc023, 0, 0, 0, 0})) << "rack 6 of 6";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8053, 0x4053, 0xc023, 0, 0})) << "uplink 5 of 5";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0x8043, 0x4063, 0xc023, 0, 0})) << "rack 6 of 6";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0xc083, 0, 0, 0, 0})) << "downlink 8 of 8";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0xe023, 0, 0, 0, 0})) << "outside the plan";
  EXPECT_FALSE(reads({0xfcbb, 0xbb00, 0x4023, 0xc023, 0, 0, 0, 1})) << "something behind";
}

// PATH-86
TEST(UsidPlan, InnerAddressesLeadBackToThePort) {
  const UsidPlan plan(small());
  EXPECT_EQ(to_string(plan.inner_address(HostIndex(17), Plane(3))), "fd4d:5243:0:3::2:2");
  EXPECT_EQ(to_string(plan.inner_address(HostIndex(0), Plane(0))), "fd4d:5243::1");
  std::set<Ipv6Address> seen;
  for (std::uint32_t host = 0; host < plan.fabric().hosts(); ++host) {
    for (std::uint8_t plane = 0; plane < 4; ++plane) {
      const NicPort port{HostIndex(host), Plane(plane)};
      const Ipv6Address address = plan.inner_address(port.host, port.plane);
      EXPECT_TRUE(seen.insert(address).second);
      EXPECT_EQ(plan.port_of(address), port);
    }
  }
}

TEST(UsidPlan, OtherInnerAddressesAreNobodys) {
  const UsidPlan plan(small());
  const auto known = [&](const std::array<std::uint16_t, 8>& groups) {
    return plan.port_of(Ipv6Address::of(groups)).has_value();
  };
  ASSERT_TRUE(known({0xfd4d, 0x5243, 0, 3, 0, 0, 5, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5244, 0, 3, 0, 0, 5, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 1, 3, 0, 0, 5, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 0, 4, 0, 0, 5, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 0, 3, 0, 1, 5, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 0, 3, 0, 0, 6, 8}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 0, 3, 0, 0, 5, 0}));
  EXPECT_FALSE(known({0xfd4d, 0x5243, 0, 3, 0, 0, 5, 9}));
}

}  // namespace
}  // namespace openmrc::fabric
