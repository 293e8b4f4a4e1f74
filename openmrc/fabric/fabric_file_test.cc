// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric_file.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/text/file_limits.h"

namespace openmrc::fabric {
namespace {

std::string toml_error(std::string_view text) {
  const auto shape = parse_fabric_toml(text);
  return shape ? "a shape" : to_string(shape.error());
}

TEST(FabricToml, AFullFileGivesItsShape) {
  const auto shape = parse_fabric_toml(R"(
# Two planes of four racks.
planes = 2
racks = 4
hosts_per_rack = 3
uplinks = 5
host_link_gbps = 12.5
uplink_gbps = 100
host_link_ns = 250
uplink_ns = 1_000
)");
  EXPECT_EQ(shape, (Shape{.planes = 2,
                          .racks = 4,
                          .hosts_per_rack = 3,
                          .uplinks = 5,
                          .host_link_bits_per_second = 12'500'000'000,
                          .uplink_bits_per_second = 100'000'000'000,
                          .host_link_delay = nanoseconds(250),
                          .uplink_delay = nanoseconds(1000)}));
}

TEST(FabricToml, TheCompactFormGivesTheSameShape) {
  EXPECT_EQ(parse_fabric_toml("planes = 8\nswitch_ports = 512\n"),
            parse_fabric_toml("planes = 8\nracks = 512\nhosts_per_rack = 256\nuplinks = 256\n"));
  EXPECT_TRUE(parse_fabric_toml("planes = 8\nswitch_ports = 512\n"));
}

TEST(FabricToml, SwitchesWithSeveralLinksToEachOtherServeFewerRacks) {
  const auto shape = parse_fabric_toml("planes = 8\nswitch_ports = 512\nlinks_per_t1 = 8\n");
  EXPECT_EQ(
      shape,
      (Shape{.planes = 8, .racks = 64, .hosts_per_rack = 256, .uplinks = 256, .links_per_t1 = 8}));
  EXPECT_EQ(
      toml_error("planes = 8\nswitch_ports = 512\nlinks_per_t1 = 7\n"),
      "line 3: links_per_t1: must divide the 512 links of a T1 to racks: so many of them lead "
      "to each");
  EXPECT_EQ(toml_error("planes = 1\nracks = 4\nhosts_per_rack = 4\nuplinks = 4\n"
                       "links_per_t1 = 3\n"),
            "line 5: links_per_t1: the uplinks of a T0 must be a multiple of links_per_t1; with "
            "several pods that is 1");
}

TEST(FabricToml, WithPodsThereAreThreeTiersOfTheSameSwitches) {
  EXPECT_EQ(parse_fabric_toml("planes = 2\nswitch_ports = 16\npods = 16\n"),
            (Shape{.planes = 2,
                   .racks = 128,
                   .hosts_per_rack = 8,
                   .uplinks = 8,
                   .pods = 16,
                   .t1_uplinks = 8}));
  EXPECT_EQ(
      parse_fabric_toml("planes = 1\nracks = 6\nhosts_per_rack = 4\nuplinks = 2\npods = 3\n"
                        "t1_uplinks = 4\n"),
      (Shape{
          .planes = 1, .racks = 6, .hosts_per_rack = 4, .uplinks = 2, .pods = 3, .t1_uplinks = 4}));
  EXPECT_EQ(toml_error("planes = 2\nswitch_ports = 16\npods = 17\n"),
            "line 3: pods: there are more than a T2 has ports");
  EXPECT_EQ(toml_error("planes = 2\nswitch_ports = 16\npods = 4\nt1_uplinks = 8\n"),
            "line 4: t1_uplinks: follows from switch_ports; give one of them");
  EXPECT_EQ(toml_error("planes = 2\nracks = 4\nhosts_per_rack = 4\nuplinks = 4\npods = 2\n"),
            "t1_uplinks: T1s have uplinks where there are several pods, and only there");
  EXPECT_EQ(toml_error("planes = 2\nracks = 4\nhosts_per_rack = 4\nuplinks = 4\npods = 3\n"
                       "t1_uplinks = 2\n"),
            "line 5: pods: the racks must be a multiple of the pods");
}

TEST(FabricToml, ErrorsNameEveryLineThatIsWrong) {
  EXPECT_EQ(toml_error("planes = 2\nracks = 'four'\nhosts_per_rack = 3\nuplinks = 5\n"),
            "line 2: racks: must be a whole number, not \"four\"");
  EXPECT_TRUE(toml_error("planes = 99\n\nbogus = 3\n")
                  .starts_with("line 1: planes: must be between 1 and 16, not 99\n"
                               "line 3: unknown key 'bogus': valid here: "));
  EXPECT_TRUE(
      toml_error("planes = 2\n[fabrics]\nracks = 2\n").find("unknown section [fabrics]: ") !=
      std::string::npos);
  EXPECT_TRUE(toml_error("").starts_with("planes: is missing\n"));
}

TEST(FabricToml, OfAScenarioOnlyTheFabricIsLookedAt) {
  const std::string fabric = "[fabric]\nplanes = 2\nracks = 4\nhosts_per_rack = 3\nuplinks = 5\n";
  const auto shape = parse_fabric_toml("title = 'x'\n" + fabric + "[workload]\nkind = 'incast'\n");
  ASSERT_TRUE(shape) << to_string(shape.error());
  EXPECT_EQ(shape->uplinks, 5U);
  EXPECT_EQ(shape, parse_fabric_toml(fabric.substr(fabric.find('\n'))));
  EXPECT_TRUE(toml_error("title = 'x'\n[fabric]\nplanes = 99\n")
                  .starts_with("line 3: fabric.planes: must be between 1 and 16, not 99"))
      << toml_error("title = 'x'\n[fabric]\nplanes = 99\n");
  EXPECT_NE(toml_error("[fabric]\nplanes = 2\n").find("fabric.racks: is missing"),
            std::string::npos);
}

TEST(FabricToml, WhatIsNoTomlIsRefusedWhereItStops) {
  EXPECT_TRUE(toml_error("planes = 2\nracks = \n").starts_with("line 2: "))
      << toml_error("racks =");
  EXPECT_TRUE(toml_error("planes = 2\nracks = 4\nplanes = 3\n").starts_with("line 3: "));
  EXPECT_TRUE(toml_error("\n\n\x01").starts_with("line 3: "));
}

constexpr std::string_view kLeafSpine = R"(# a comment
Nodes 32
Tiers 2
Podsize 32

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 4

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 700
Switch_Latency_ns 0
Bundle 1
)";

// The topology with one piece of text in place of another.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(kLeafSpine);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string htsim_error(std::string_view text) {
  const auto shape = parse_htsim_topology(text);
  return shape ? "a shape" : to_string(shape.error());
}

TEST(HtsimTopology, LeafAndSpineBecomeOnePlane) {
  EXPECT_EQ(parse_htsim_topology(kLeafSpine), (Shape{.planes = 1,
                                                     .racks = 4,
                                                     .hosts_per_rack = 8,
                                                     .uplinks = 2,
                                                     .host_link_bits_per_second = 100'000'000'000,
                                                     .uplink_bits_per_second = 100'000'000'000,
                                                     .host_link_delay = nanoseconds(1000),
                                                     .uplink_delay = nanoseconds(700)}));
}

TEST(HtsimTopology, WordsMayBeSpeltAnyWayAndPartsLeftOut) {
  const auto shape = parse_htsim_topology(
      "nodes\t4\r\nTIERS 2\r\ntier 0\ndownlink_speed_gbps 400\nradix_down 2\nradix_up 1\n"
      "downlink_latency_ns 500\ntier 1\ndownlink_speed_gbps 800\nradix_down 2");
  ASSERT_TRUE(shape) << to_string(shape.error());
  EXPECT_EQ(shape->uplink_bits_per_second, 800'000'000'000);
  EXPECT_EQ(shape->uplink_delay, nanoseconds(500)) << "as below";
}

TEST(HtsimTopology, WhatAShapeCannotSayIsRefusedByLine) {
  EXPECT_EQ(htsim_error(changed("Tiers 2", "Tiers 3")),
            "line 3: Tiers: only topologies of two tiers fit");
  EXPECT_EQ(htsim_error(changed("Tier 1", "Tier 2")),
            "line 14: Tier: only topologies of two tiers fit");
  EXPECT_EQ(htsim_error(changed("Bundle 1", "Bundle 2")),
            "line 19: Bundle: bundles are not read: write a fabric file with links_per_t1");
  EXPECT_EQ(htsim_error(changed("Switch_Latency_ns 0", "Switch_Latency_ns 50")),
            "line 11: Switch_Latency_ns: delays belong to links here: add it to "
            "Downlink_Latency_ns");
  EXPECT_EQ(htsim_error(changed("Bundle 1", "Queue_Down 100")),
            "line 19: Queue_Down: sizes of queues are no part of a fabric");
  EXPECT_EQ(htsim_error(changed("Bundle 1", "Radix_Up 4")),
            "line 19: Radix_Up: the upper tier has no uplinks");
  EXPECT_EQ(htsim_error(changed("Bundle 1", "Oversubscribed 4")),
            "line 19: Oversubscribed: the upper tier has no uplinks");
}

TEST(HtsimTopology, NumbersMustAgree) {
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes 64")),
            "line 2: nodes: must be Radix_Down of Tier 0 times Radix_Down of Tier 1: a T1 has one "
            "link to each T0");
  EXPECT_EQ(htsim_error(changed("Podsize 32", "Podsize 8")),
            "line 4: podsize: must be as Nodes in two tiers");
  EXPECT_EQ(htsim_error(changed("Oversubscribed 4", "Oversubscribed 2")),
            "line 12: oversubscribed: is not what follows from radix and speed of the tiers");
  EXPECT_EQ(htsim_error(changed("Downlink_Latency_ns 1000", "Downlink_Latency_ns 0")),
            "the delay of a link must be above zero");
}

TEST(HtsimTopology, WhatCannotBeReadIsRefusedByLine) {
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes many")),
            "line 2: Nodes: must be followed by a whole number");
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes 32.5")),
            "line 2: Nodes: must be followed by a whole number");
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes")),
            "line 2: Nodes: must be followed by a whole number");
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes 32 64")),
            "line 2: Nodes: must be followed by one number only");
  EXPECT_EQ(htsim_error(changed("Podsize 32", "Colour 32")), "line 4: Colour: unknown");
  EXPECT_EQ(htsim_error(changed("Podsize 32", "Podsiez 32")),
            "line 4: Podsiez: unknown: did you mean podsize?");
  EXPECT_EQ(htsim_error(changed("Bundle 1", "Nodes 32")),
            "line 19: Nodes: is in the wrong section");
  EXPECT_EQ(htsim_error(changed("Podsize 32", "Bundle 1")),
            "line 4: Bundle: is in the wrong section");
  EXPECT_EQ(htsim_error(changed("Podsize 32", "Nodes 32")),
            "line 4: Nodes: given before, in line 2");
  EXPECT_EQ(htsim_error(changed("Radix_Up 2\n", "")), "radix_up: is missing in Tier 0");
  EXPECT_EQ(htsim_error(changed("Radix_Down 4\n", "")), "radix_down: is missing in Tier 1");
  EXPECT_TRUE(htsim_error("").starts_with("nodes: is missing\ntiers: is missing\n"));
  EXPECT_EQ(htsim_error("Nodes many\nTiers 3\n"),
            "line 1: Nodes: must be followed by a whole number\n"
            "line 2: Tiers: only topologies of two tiers fit");
}

TEST(HtsimTopology, HasLimits) {
  EXPECT_EQ(htsim_error(std::string(text::kTopologyBytesMax + 1, '\n')),
            "is larger than 1MiB, the most that is read");
  EXPECT_EQ(htsim_error(changed("Nodes 32", "Nodes 4294967296")),
            "line 2: Nodes: must be followed by a whole number");
  EXPECT_NE(htsim_error(changed("Radix_Down 4\n", "Radix_Down 4294967295\n")), "");
  std::string hostile;
  for (int i = 0; i < 10'000; ++i) hostile += "Colour 1\n";
  EXPECT_TRUE(htsim_error(hostile).ends_with("and 9950 more errors"));
}

}  // namespace
}  // namespace openmrc::fabric
