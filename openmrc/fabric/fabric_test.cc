// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric.h"

#include <gtest/gtest.h>

#include <functional>

#include "openmrc/fabric/test_parts.h"

namespace openmrc::fabric {
namespace {

constexpr Shape kSmall{.planes = 2, .racks = 4, .hosts_per_rack = 3, .uplinks = 5};

TEST(Fabric, TheSmallestHasOneHost) {
  const auto fabric = Fabric::make({});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->hosts(), 1);
  EXPECT_FALSE(fabric->has_t1());
  EXPECT_EQ(fabric->evs(), 1);
}

// PATH-83
TEST(Fabric, TheLargestFitsThePlan) {
  EXPECT_TRUE(Fabric::make({.planes = kPlanesMax,
                            .racks = kRacksMax,
                            .hosts_per_rack = kHostsPerRackMax,
                            .uplinks = kUplinksMax}));
}

// PATH-83
TEST(Fabric, RefusesEachShapeThatCannotBe) {
  const auto error_with = [](const std::function<void(Shape&)>& change) {
    Shape shape = kSmall;
    change(shape);
    const auto fabric = Fabric::make(shape);
    EXPECT_FALSE(fabric);
    return fabric ? ShapeError{} : fabric.error();
  };
  using enum ShapeError;
  EXPECT_EQ(error_with([](Shape& s) { s.planes = 0; }), kPlanes);
  EXPECT_EQ(error_with([](Shape& s) { s.planes = kPlanesMax + 1; }), kPlanes);
  EXPECT_EQ(error_with([](Shape& s) { s.racks = 0; }), kRacks);
  EXPECT_EQ(error_with([](Shape& s) { s.racks = kRacksMax + 1; }), kRacks);
  EXPECT_EQ(error_with([](Shape& s) { s.hosts_per_rack = 0; }), kHostsPerRack);
  EXPECT_EQ(error_with([](Shape& s) { s.hosts_per_rack = kHostsPerRackMax + 1; }), kHostsPerRack);
  EXPECT_EQ(error_with([](Shape& s) { s.uplinks = kUplinksMax + 1; }), kUplinks);
  EXPECT_EQ(error_with([](Shape& s) { s.uplinks = 0; }), kNoUplinks);
  EXPECT_EQ(error_with([](Shape& s) { s.racks = 1; }), kIdleT1s);
  EXPECT_EQ(error_with([](Shape& s) { s.links_per_t1 = 0; }), kLinksPerT1);
  EXPECT_EQ(error_with([](Shape& s) { s.links_per_t1 = 2; }), kLinksPerT1);
  EXPECT_EQ(error_with([](Shape& s) {
              s.racks = 1;
              s.uplinks = 0;
              s.links_per_t1 = 2;
            }),
            kLinksPerT1);
  EXPECT_EQ(error_with([](Shape& s) {
              s.racks = kRacksMax;
              s.uplinks = s.links_per_t1 = 5;
            }),
            kT1Ports);
  EXPECT_EQ(error_with([](Shape& s) { s.pods = 0; }), kPods);
  EXPECT_EQ(error_with([](Shape& s) { s.pods = 3; }), kPods) << "of four racks";
  EXPECT_EQ(error_with([](Shape& s) { s.pods = 2; }), kT1Uplinks);
  EXPECT_EQ(error_with([](Shape& s) { s.t1_uplinks = 2; }), kT1Uplinks);
  EXPECT_EQ(error_with([](Shape& s) {
              s.pods = 2;
              s.t1_uplinks = kPathsMax / 5 + 1;
            }),
            kPaths);
  EXPECT_EQ(error_with([](Shape& s) {
              s.pods = s.t1_uplinks = 2;
              s.links_per_t1 = 5;
            }),
            kLinksPerT1);
  EXPECT_EQ(error_with([](Shape& s) { s.host_link_bits_per_second = 0; }), kSpeed);
  EXPECT_EQ(error_with([](Shape& s) { s.uplink_bits_per_second = -1; }), kSpeed);
  EXPECT_EQ(error_with([](Shape& s) { s.host_link_delay = Duration{}; }), kDelay);
  EXPECT_EQ(error_with([](Shape& s) { s.uplink_delay = Duration{}; }), kDelay);
}

TEST(Fabric, EveryErrorHasWordsOfItsOwn) {
  std::string_view before;
  for (int i = 0; i <= static_cast<int>(ShapeError::kDelay); ++i) {
    const std::string_view text = describe(static_cast<ShapeError>(i));
    EXPECT_NE(text, "unknown shape error");
    EXPECT_NE(text, before);
    before = text;
  }
}

TEST(Fabric, HostsAreCountedRackByRack) {
  const Fabric fabric = Fabric::make(kSmall).value();
  ASSERT_EQ(fabric.hosts(), 12);
  for (std::uint32_t i = 0; i < fabric.hosts(); ++i) {
    const HostIndex host(i);
    EXPECT_EQ(fabric.host_at(fabric.rack_of(host), fabric.downlink_of(host)), host);
  }
  const HostIndex host(7);
  EXPECT_EQ(fabric.rack_of(host), 2);
  EXPECT_EQ(fabric.downlink_of(host), 1);
  EXPECT_EQ(fabric.t0_of(host, Plane(1)), (SwitchId{Plane(1), Tier::kT0, 2}));
  EXPECT_EQ(fabric.host_link(host, Plane(1)), (LinkId{LinkId::Kind::kHost, Plane(1), 2, 1}));
}

TEST(Fabric, SeveralUplinksMayLeadToOneT1) {
  const Fabric fabric =
      Fabric::make({.planes = 2, .racks = 3, .uplinks = 8, .links_per_t1 = 4}).value();
  EXPECT_FALSE(fabric.has_addresses());
  EXPECT_EQ(fabric.t1s(), 2);
  EXPECT_EQ(fabric.t1_ports(), 12);
  EXPECT_EQ(fabric.evs(), 16) << "a path for each uplink";
  EXPECT_EQ(fabric.t1_of(2, 3), 0);
  EXPECT_EQ(fabric.t1_of(2, 4), 1);
  EXPECT_EQ(fabric.t1_port(2, 6), 10);
  for (std::uint32_t rack = 0; rack < 3; ++rack) {
    for (std::uint32_t uplink = 0; uplink < 8; ++uplink) {
      const LinkId link{LinkId::Kind::kUplink, Plane(1), rack, uplink};
      EXPECT_EQ(fabric.t1_link(Plane(1), fabric.t1_of(rack, uplink), fabric.t1_port(rack, uplink)),
                link);
    }
  }
}

TEST(Fabric, KnowsWhatItHas) {
  const Fabric fabric = Fabric::make(kSmall).value();
  EXPECT_TRUE(fabric.has(HostIndex(11)));
  EXPECT_FALSE(fabric.has(HostIndex(12)));
  EXPECT_TRUE(fabric.has(PathChoice{Plane(1), 4}));
  EXPECT_FALSE(fabric.has(PathChoice{Plane(1), 5}));
  EXPECT_FALSE(fabric.has(PathChoice{Plane(2), 0}));
}

TEST(Fabric, WithPodsThereAreThreeTiers) {
  const Fabric fabric = three_tiers();
  EXPECT_TRUE(fabric.has_t2());
  EXPECT_FALSE(fabric.has_addresses());
  EXPECT_EQ(fabric.t1s(), 6) << "two in each pod";
  EXPECT_EQ(fabric.t2s(), 8);
  EXPECT_EQ(fabric.t1_ports(), 2 + 4);
  EXPECT_EQ(fabric.pod_of_rack(3), 1);
  EXPECT_EQ(fabric.pod_of_t1(3), 1);
  EXPECT_EQ(fabric.t1_of(3, 1), 3);
}

TEST(Fabric, EachLinkHasOneNameAtBothOfItsEnds) {
  const Fabric fabric = three_tiers();
  using enum LinkId::Kind;
  for (std::uint32_t rack = 0; rack < 6; ++rack) {
    for (std::uint32_t uplink = 0; uplink < 2; ++uplink) {
      const std::uint32_t t1 = fabric.t1_of(rack, uplink);
      EXPECT_EQ(fabric.t1_link(Plane(1), t1, fabric.t1_port(rack, uplink)),
                (LinkId{kUplink, Plane(1), rack, uplink}));
    }
  }
  for (std::uint32_t t1 = 0; t1 < 6; ++t1) {
    for (std::uint32_t uplink = 0; uplink < 4; ++uplink) {
      const LinkId link{kT1Uplink, Plane(1), t1, uplink};
      EXPECT_EQ(fabric.t1_link(Plane(1), t1, fabric.t1_downlinks() + uplink), link);
      EXPECT_EQ(fabric.t2_link(Plane(1), fabric.t2_of(t1, uplink), fabric.pod_of_t1(t1)), link);
    }
  }
}

TEST(Fabric, APathOfThreeTiersIsTwoUplinks) {
  const Fabric fabric = three_tiers();
  EXPECT_EQ(fabric.evs_per_plane(), 8);
  for (std::uint32_t path = 0; path < 8; ++path) {
    EXPECT_EQ(fabric.path_of(fabric.uplink_of(path), fabric.t1_uplink_of(path)), path);
  }
  EXPECT_EQ(fabric.uplink_of(7), 1);
  EXPECT_EQ(fabric.t1_uplink_of(7), 3);
}

}  // namespace
}  // namespace openmrc::fabric
