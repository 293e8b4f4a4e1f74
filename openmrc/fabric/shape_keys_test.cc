// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/shape_keys.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace openmrc::fabric {
namespace {

using Keys = std::vector<KeyValue>;

constexpr std::int64_t operator""_n(unsigned long long number) {
  return static_cast<std::int64_t>(number);
}

Keys small() {
  return {{"planes", 2_n, 1}, {"racks", 4_n, 2}, {"hosts_per_rack", 3_n, 3}, {"uplinks", 5_n, 4}};
}

Keys small_with(const KeyValue& more) {
  Keys keys = small();
  keys.push_back(more);
  return keys;
}

std::string error(const Keys& keys) {
  const auto shape = shape_from(keys);
  return shape ? "a shape" : to_string(shape.error());
}

TEST(ShapeKeys, CountsAloneMakeAShapeOfUsualLinks) {
  EXPECT_EQ(shape_from(small()),
            (Shape{.planes = 2, .racks = 4, .hosts_per_rack = 3, .uplinks = 5}));
}

TEST(ShapeKeys, SwitchPortsMakeFullBisection) {
  EXPECT_EQ(shape_from(Keys{{"planes", 8_n, 1}, {"switch_ports", 512_n, 2}}),
            (Shape{.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}));
}

TEST(ShapeKeys, UplinksAreAsHostLinksUnlessTheySayOtherwise) {
  Keys keys = small();
  keys.push_back({"host_link_gbps", 12.5, 5});
  keys.push_back({"host_link_ns", 300_n, 6});
  auto shape = shape_from(keys);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_link_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->uplink_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->host_link_delay, nanoseconds(300));
  EXPECT_EQ(shape->uplink_delay, nanoseconds(300));
  keys.push_back({"uplink_gbps", 400_n, 7});
  keys.push_back({"uplink_ns", 1000_n, 8});
  shape = shape_from(keys);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_link_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->uplink_bits_per_second, 400'000'000'000);
  EXPECT_EQ(shape->host_link_delay, nanoseconds(300));
  EXPECT_EQ(shape->uplink_delay, nanoseconds(1000));
}

TEST(ShapeKeys, OneRackNeedsNoUplinks) {
  EXPECT_EQ(shape_from(Keys{{"planes", 2_n}, {"racks", 1_n}, {"hosts_per_rack", 8_n}}),
            (Shape{.planes = 2, .racks = 1, .hosts_per_rack = 8, .uplinks = 0}));
}

TEST(ShapeKeys, ErrorsNameLineAndKey) {
  EXPECT_EQ(error(small_with({"hosts", 3_n, 9})),
            "line 9: hosts: unknown key; there are planes, racks, hosts_per_rack, uplinks, "
            "switch_ports, host_link_gbps, uplink_gbps, host_link_ns, uplink_ns");
  EXPECT_EQ(error(small_with({"racks", 3_n, 9})), "line 9: racks: given before, in line 2");
  EXPECT_EQ(error(small_with({"host_link_ns", 1.5, 9})),
            "line 9: host_link_ns: must be a whole number");
  EXPECT_EQ(error(small_with({"host_link_ns", {}, 9})),
            "line 9: host_link_ns: must be a whole number");
  EXPECT_EQ(error(small_with({"host_link_ns", 0_n, 9})),
            "line 9: host_link_ns: must be 1 to 1000000000");
  EXPECT_EQ(error(small_with({"uplink_gbps", {}, 9})), "line 9: uplink_gbps: must be a number");
  for (const double gbps : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(error(small_with({"uplink_gbps", gbps, 9})),
              "line 9: uplink_gbps: must be above 0 and at most 1000000");
  }
}

TEST(ShapeKeys, CountsOutsideThePlanAreRefused) {
  const auto with = [](std::size_t key, std::int64_t number) {
    Keys keys = small();
    keys[key].value = number;
    return error(keys);
  };
  EXPECT_EQ(with(0, 17), "line 1: planes: must be 1 to 16");
  EXPECT_EQ(with(0, 0), "line 1: planes: must be 1 to 16");
  EXPECT_EQ(with(0, -8), "line 1: planes: must be 1 to 16");
  EXPECT_EQ(with(1, 1025), "line 2: racks: must be 1 to 1024");
  EXPECT_EQ(with(2, 513), "line 3: hosts_per_rack: must be 1 to 512");
  EXPECT_EQ(with(3, 1025), "line 4: uplinks: must be 0 to 1024");
  EXPECT_EQ(with(3, std::numeric_limits<std::int64_t>::max()),
            "line 4: uplinks: must be 0 to 1024");
  EXPECT_EQ(with(3, 0), "line 4: uplinks: several racks need uplinks between them");
  EXPECT_EQ(with(1, 1), "line 4: uplinks: with one rack, uplinks lead nowhere: leave them out");
}

TEST(ShapeKeys, WhatIsMissingIsNamed) {
  EXPECT_EQ(error({}), "planes: is missing");
  EXPECT_EQ(error({{"planes", 2_n, 1}}), "racks: is missing; or give switch_ports");
  EXPECT_EQ(error({{"planes", 2_n, 1}, {"racks", 2_n, 2}}),
            "hosts_per_rack: is missing; or give switch_ports");
  EXPECT_EQ(error({{"planes", 2_n, 1}, {"racks", 2_n, 2}, {"hosts_per_rack", 2_n, 3}}),
            "uplinks: several racks need uplinks between them");
}

TEST(ShapeKeys, SwitchPortsStandAloneAndAreEven) {
  EXPECT_EQ(error({{"planes", 8_n, 1}, {"switch_ports", 7_n, 2}}),
            "line 2: switch_ports: must be even: half of them go down");
  EXPECT_EQ(error({{"planes", 8_n, 1}, {"switch_ports", 1026_n, 2}}),
            "line 2: switch_ports: must be 2 to 1024");
  EXPECT_EQ(error({{"planes", 8_n, 1}, {"switch_ports", 8_n, 2}, {"uplinks", 2_n, 3}}),
            "line 3: uplinks: follows from switch_ports; give one of them");
}

}  // namespace
}  // namespace openmrc::fabric
