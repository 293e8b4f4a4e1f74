// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/shape_keys.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "openmrc/text/table_reader.h"

namespace openmrc::fabric {
namespace {

using text::Entry;
using text::Table;

// One line of a file.
template <class T>
Entry key(std::string name, T value, std::uint32_t line = 0) {
  return {.key = std::move(name), .line = line, .value = {.data = value, .line = line}};
}
Entry key(std::string name, int value, std::uint32_t line = 0) {
  return key(std::move(name), std::int64_t{value}, line);
}

Table small() {
  return Table(
      {key("planes", 2, 1), key("racks", 4, 2), key("hosts_per_rack", 3, 3), key("uplinks", 5, 4)});
}

Table small_with(Entry more) {
  Table table = small();
  table.entries.push_back(std::move(more));
  return table;
}

std::string error(const Table& table) {
  const auto shape = shape_from(table);
  return shape ? "a shape" : to_string(shape.error());
}
std::string error(std::vector<Entry> entries) { return error(Table(std::move(entries))); }

TEST(ShapeKeys, CountsAloneMakeAShapeOfUsualLinks) {
  EXPECT_EQ(shape_from(small()),
            (Shape{.planes = 2, .racks = 4, .hosts_per_rack = 3, .uplinks = 5}));
}

TEST(ShapeKeys, SwitchPortsMakeFullBisection) {
  EXPECT_EQ(shape_from(Table({key("planes", 8, 1), key("switch_ports", 512, 2)})),
            (Shape{.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}));
}

TEST(ShapeKeys, UplinksAreAsHostLinksUnlessTheySayOtherwise) {
  Table keys = small();
  keys.entries.push_back(key("host_link_gbps", 12.5, 5));
  keys.entries.push_back(key("host_link_ns", 300, 6));
  auto shape = shape_from(keys);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_link_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->uplink_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->host_link_delay, nanoseconds(300));
  EXPECT_EQ(shape->uplink_delay, nanoseconds(300));
  keys.entries.push_back(key("uplink_gbps", 400, 7));
  keys.entries.push_back(key("uplink_ns", 1000, 8));
  shape = shape_from(keys);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_link_bits_per_second, 12'500'000'000);
  EXPECT_EQ(shape->uplink_bits_per_second, 400'000'000'000);
  EXPECT_EQ(shape->host_link_delay, nanoseconds(300));
  EXPECT_EQ(shape->uplink_delay, nanoseconds(1000));
}

TEST(ShapeKeys, OneRackNeedsNoUplinks) {
  EXPECT_EQ(shape_from(Table({key("planes", 2), key("racks", 1), key("hosts_per_rack", 8)})),
            (Shape{.planes = 2, .racks = 1, .hosts_per_rack = 8, .uplinks = 0}));
}

TEST(ShapeKeys, ErrorsNameLineAndKey) {
  EXPECT_EQ(error(small_with(key("uplinkz", 3, 9))),
            "line 9: unknown key 'uplinkz': did you mean 'uplinks'?");
  EXPECT_EQ(error(small_with(key("colour", 3, 9))),
            "line 9: unknown key 'colour': valid here: 'planes', 'racks', 'hosts_per_rack', "
            "'uplinks', 'switch_ports', 'host_link_gbps', 'host_link_ns', 'uplink_gbps', "
            "'uplink_ns', 'links_per_t1', 'pods', 't1_uplinks'");
  EXPECT_EQ(error(small_with(key("host_link_ns", 1.5, 9))),
            "line 9: host_link_ns: must be a whole number, not 1.5");
  EXPECT_EQ(error(small_with(key("host_link_ns", 0, 9))),
            "line 9: host_link_ns: must be between 1 and 1000000000, not 0");
  EXPECT_EQ(error(small_with(key("uplink_gbps", std::string("fast"), 9))),
            "line 9: uplink_gbps: must be a number, not \"fast\"");
  for (const double gbps : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(error(small_with(key("uplink_gbps", gbps, 9)))
                    .starts_with("line 9: uplink_gbps: must be above 0 and at most 1000000, not "));
  }
}

TEST(ShapeKeys, EverythingThatIsWrongIsReported) {
  EXPECT_EQ(error({key("planes", 17, 1), key("racks", 0, 2), key("uplinkz", 1, 3)}),
            "line 1: planes: must be between 1 and 16, not 17\n"
            "line 2: racks: must be between 1 and 1024, not 0\n"
            "line 3: unknown key 'uplinkz': did you mean 'uplinks'?");
  EXPECT_EQ(error(std::vector<Entry>{}),
            "planes: is missing\n"
            "racks: is missing; or give switch_ports\n"
            "hosts_per_rack: is missing; or give switch_ports");
}

TEST(ShapeKeys, AMisspeltKeyIsNotAlsoMissing) {
  EXPECT_EQ(error({key("plaines", 2, 1), key("switch_ports", 8, 2)}),
            "line 1: unknown key 'plaines': did you mean 'planes'?");
}

TEST(ShapeKeys, ASectionIsPartOfTheKey) {
  text::TomlReader reader("[fabric]\nplanes = 8\nswitch_ports = 7\nracks = 2\n");
  ShapeKeys keys;
  reader.top().read(shape_fields(keys, "fabric"));
  EXPECT_FALSE(make_shape(keys, "fabric", reader.diagnostics()));
  EXPECT_EQ(to_string(reader.diagnostics().take()),
            "line 3: fabric.switch_ports: must be even: half of them are downlinks\n"
            "line 4: fabric.racks: follows from switch_ports; give one of them");
}

TEST(ShapeKeys, CountsOutsideThePlanAreRefused) {
  const auto with = [](std::size_t index, std::int64_t number) {
    Table keys = small();
    keys.entries[index].value.data = number;
    return error(keys);
  };
  EXPECT_EQ(with(0, 17), "line 1: planes: must be between 1 and 16, not 17");
  EXPECT_EQ(with(0, 0), "line 1: planes: must be between 1 and 16, not 0");
  EXPECT_EQ(with(0, -8), "line 1: planes: must be between 1 and 16, not -8");
  EXPECT_EQ(with(1, 1025), "line 2: racks: must be between 1 and 1024, not 1025");
  EXPECT_EQ(with(2, 513), "line 3: hosts_per_rack: must be between 1 and 512, not 513");
  EXPECT_EQ(with(3, 1025), "line 4: uplinks: must be between 0 and 1024, not 1025");
  EXPECT_EQ(with(3, std::numeric_limits<std::int64_t>::max()),
            "line 4: uplinks: must be between 0 and 1024, not 9223372036854775807");
  EXPECT_EQ(with(3, 0), "line 4: uplinks: several racks need uplinks between them");
  EXPECT_EQ(with(1, 1), "line 4: uplinks: with one rack, uplinks lead nowhere: leave them out");
}

TEST(ShapeKeys, WhatIsMissingIsNamed) {
  EXPECT_EQ(error({key("planes", 2, 1), key("hosts_per_rack", 2, 2)}),
            "racks: is missing; or give switch_ports");
  EXPECT_EQ(error({key("planes", 2, 1), key("racks", 2, 2)}),
            "hosts_per_rack: is missing; or give switch_ports");
  EXPECT_EQ(error({key("planes", 2, 1), key("racks", 2, 2), key("hosts_per_rack", 2, 3)}),
            "uplinks: several racks need uplinks between them");
}

TEST(ShapeKeys, SwitchPortsStandAloneAndAreEven) {
  EXPECT_EQ(error({key("planes", 8, 1), key("switch_ports", 7, 2)}),
            "line 2: switch_ports: must be even: half of them are downlinks");
  EXPECT_EQ(error({key("planes", 8, 1), key("switch_ports", 1026, 2)}),
            "line 2: switch_ports: must be between 2 and 1024, not 1026");
  EXPECT_EQ(error({key("planes", 8, 1), key("switch_ports", 8, 2), key("uplinks", 2, 3)}),
            "line 3: uplinks: follows from switch_ports; give one of them");
}

}  // namespace
}  // namespace openmrc::fabric
