// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/fabric/path.h"
#include "openmrc/fabric/test_parts.h"

namespace openmrc::fabric {
namespace {

using enum LinkId::Kind;

Fabric small() {
  return Fabric::make({.planes = 4, .racks = 20, .hosts_per_rack = 6, .uplinks = 5}).value();
}
Fabric one_tier() { return Fabric::make({.planes = 2, .racks = 1, .hosts_per_rack = 8}).value(); }

TEST(Names, AreAsTheyAreWritten) {
  EXPECT_EQ(name_of(Plane(3)), "p3");
  EXPECT_EQ(name_of(HostIndex(17)), "h17");
  EXPECT_EQ(name_of(NicPort{HostIndex(17), Plane(3)}), "h17/p3");
  EXPECT_EQ(name_of(SwitchId{Plane(3), Tier::kT0, 17}), "p3.t0-17");
  EXPECT_EQ(name_of(SwitchId{Plane(3), Tier::kT1, 4}), "p3.t1-4");
  EXPECT_EQ(name_of(LinkId{kUplink, Plane(3), 17, 4}), "p3.t0-17/up4");
  EXPECT_EQ(name_of(LinkId{kHost, Plane(3), 17, 5}), "p3.t0-17/down5");
  EXPECT_EQ(name_of(PathChoice{Plane(3), 4}), "3:4");
}

TEST(Names, AliasesNameTheSameLink) {
  const Fabric fabric = small();
  EXPECT_EQ(parse_link(fabric, "p3.t1-4/down17"), (LinkId{kUplink, Plane(3), 17, 4}));
  EXPECT_EQ(parse_link(fabric, "h107/p3"), (LinkId{kHost, Plane(3), 17, 5}));
  EXPECT_EQ(parse_port(fabric, "h107/p3"), (NicPort{HostIndex(107), Plane(3)}));
  EXPECT_EQ(parse_port(fabric, "p3.t0-17/down5"), (NicPort{HostIndex(107), Plane(3)}));
}

// All elements of the fabric.
std::vector<Element> all_elements(const Fabric& fabric) {
  const Shape& shape = fabric.shape();
  std::vector<Element> all;
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) all.emplace_back(HostIndex(host));
  for (std::uint32_t p = 0; p < shape.planes; ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    all.emplace_back(plane);
    for (std::uint32_t t1 = 0; t1 < shape.uplinks; ++t1) {
      all.emplace_back(SwitchId{plane, Tier::kT1, t1});
    }
    for (std::uint32_t rack = 0; rack < shape.racks; ++rack) {
      all.emplace_back(SwitchId{plane, Tier::kT0, rack});
      for (std::uint32_t up = 0; up < shape.uplinks; ++up) {
        all.emplace_back(LinkId{kUplink, plane, rack, up});
      }
      for (std::uint32_t down = 0; down < shape.hosts_per_rack; ++down) {
        all.emplace_back(LinkId{kHost, plane, rack, down});
      }
    }
  }
  return all;
}

TEST(Names, EveryElementIsFoundByItsName) {
  for (const Fabric& fabric : {small(), one_tier()}) {
    for (const Element& element : all_elements(fabric)) {
      const std::string name = name_of(element);
      const auto found = parse_element(fabric, name);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(*found, element) << name;
      EXPECT_EQ(parse_plane(fabric, name).has_value(), std::holds_alternative<Plane>(element));
      EXPECT_EQ(parse_host(fabric, name).has_value(), std::holds_alternative<HostIndex>(element));
      EXPECT_EQ(parse_switch(fabric, name).has_value(), std::holds_alternative<SwitchId>(element));
      EXPECT_EQ(parse_link(fabric, name).has_value(), std::holds_alternative<LinkId>(element));
    }
  }
}

TEST(Names, EveryEvIsFoundByBothItsNames) {
  for (const Fabric& fabric : {small(), one_tier()}) {
    for (std::uint32_t number = 0; number < fabric.evs(); ++number) {
      const PathChoice choice = ev_choice(fabric, number);
      EXPECT_EQ(parse_choice(fabric, name_of(choice)), choice);
      EXPECT_EQ(parse_choice(fabric, std::to_string(number)), choice);
    }
  }
}

std::string element_error(const Fabric& fabric, std::string_view name) {
  const auto found = parse_element(fabric, name);
  return found ? "found" : to_string(found.error());
}

TEST(Names, WhatDoesNotExistIsSaidToBeSo) {
  const Fabric fabric = small();
  EXPECT_EQ(element_error(fabric, "p4"), "'p4': no such plane; planes are p0 to p3");
  EXPECT_EQ(element_error(fabric, "h120"), "'h120': no such host; hosts are h0 to h119");
  EXPECT_EQ(element_error(fabric, "h99999999999"),
            "'h99999999999': no such host; hosts are h0 to h119");
  EXPECT_EQ(element_error(fabric, "h1/p9"), "'h1/p9': no such plane; planes are p0 to p3");
  EXPECT_EQ(element_error(fabric, "p1.t0-20"),
            "'p1.t0-20': no such T0; the T0s of a plane are t0-0 to t0-19");
  EXPECT_EQ(element_error(fabric, "p1.t1-5"),
            "'p1.t1-5': no such T1; the T1s of a plane are t1-0 to t1-4");
  EXPECT_EQ(element_error(fabric, "p1.t0-2/up5"),
            "'p1.t0-2/up5': no such uplink; those of a T0 are up0 to up4");
  EXPECT_EQ(element_error(fabric, "p1.t0-2/down6"),
            "'p1.t0-2/down6': no such downlink; those of a T0 are down0 to down5");
  EXPECT_EQ(element_error(fabric, "p1.t1-2/down20"),
            "'p1.t1-2/down20': no such downlink; those of a T1 are down0 to down19");
  EXPECT_EQ(element_error(one_tier(), "p1.t1-0"), "'p1.t1-0': no such T1; the fabric has one tier");
  EXPECT_EQ(element_error(one_tier(), "p1.t0-0/up0"),
            "'p1.t0-0/up0': no such uplink; the fabric has one tier");
}

TEST(Names, WhatIsNoNameIsRefused) {
  const Fabric fabric = small();
  for (const std::string_view name : {"",
                                      "h",
                                      "p",
                                      "x3",
                                      "H1",
                                      "h01",
                                      "h1 ",
                                      " h1",
                                      "h-1",
                                      "h+1",
                                      "h1x",
                                      "h1/",
                                      "h1/3",
                                      "h1/p",
                                      "h1/p1/p1",
                                      "p1.",
                                      "p1.t0",
                                      "p1.t0-",
                                      "p1.t3-0",
                                      "p1.t0-1/",
                                      "p1.t0-1/up",
                                      "p1.t0-1/left3",
                                      "p1.t0-1/up1/up1",
                                      "p01",
                                      "p1.t0-01",
                                      "3:4"}) {
    const auto found = parse_element(fabric, name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().fault, NameFault::kForm) << name;
    EXPECT_EQ(found.error().name, name);
  }
}

TEST(Names, ErrorsSayWhatIsWanted) {
  const Fabric fabric = small();
  EXPECT_EQ(to_string(parse_host(fabric, "p3").error()), "'p3': expected a host, e.g. h17");
  EXPECT_EQ(to_string(parse_plane(fabric, "h3").error()), "'h3': expected a plane, e.g. p3");
  EXPECT_EQ(to_string(parse_port(fabric, "p3.t0-17/up4").error()),
            "'p3.t0-17/up4': expected a NIC port, e.g. h17/p3");
  EXPECT_EQ(to_string(parse_switch(fabric, "t0-17").error()),
            "'t0-17': expected a switch, e.g. p3.t0-17 or p3.t1-4");
  EXPECT_EQ(to_string(parse_link(fabric, "h3").error()),
            "'h3': expected a link, e.g. p3.t0-17/up4, p3.t0-17/down5, p3.t1-4/down17 or h17/p3");
  EXPECT_EQ(to_string(parse_port(fabric, "h17").error()),
            "'h17': expected a NIC port, e.g. h17/p3");
}

TEST(Names, EvsThatAreNoneAreRefused) {
  const Fabric fabric = small();
  const auto error = [&](std::string_view name) {
    const auto choice = parse_choice(fabric, name);
    return choice ? "found" : to_string(choice.error());
  };
  EXPECT_EQ(error("20"), "'20': no such EV; their numbers are 0 to 19");
  EXPECT_EQ(error("4:0"), "'4:0': no such plane; planes are p0 to p3");
  EXPECT_EQ(error("3:5"), "'3:5': no such uplink; those of a T0 are up0 to up4");
  for (const std::string_view name : {"", ":", "1:", ":1", "1:1:1", "1x", "p1:1", "01"}) {
    EXPECT_EQ(error(name),
              "'" + std::string(name) + "': expected an EV, plane:uplink (e.g. 3:4) or a number");
  }
}

TEST(Names, OfThreeTiers) {
  const Fabric fabric = three_tiers();
  for (const std::string_view name : {"p1.t2-7", "p1.t1-5", "p1.t1-5/up3", "p0.t0-5/up1"}) {
    const auto element = parse_element(fabric, name);
    ASSERT_TRUE(element) << name;
    EXPECT_EQ(name_of(*element), name);
  }
  const auto nothing_above = parse_element(fabric, "p1.t2-7/up0");
  ASSERT_FALSE(nothing_above);
  EXPECT_EQ(nothing_above.error().fault, NameFault::kForm);
  EXPECT_EQ(parse_link(fabric, "p1.t2-7/down2"), parse_link(fabric, "p1.t1-5/up3"));
  EXPECT_EQ(parse_link(fabric, "p1.t1-5/down1"), parse_link(fabric, "p1.t0-5/up1"));
  EXPECT_EQ(element_error(fabric, "p1.t2-8"),
            "'p1.t2-8': no such T2; the T2s of a plane are t2-0 to t2-7");
  EXPECT_EQ(element_error(fabric, "p1.t1-5/up4"),
            "'p1.t1-5/up4': no such uplink; those of a T1 are up0 to up3");
  EXPECT_EQ(element_error(fabric, "p1.t1-5/down2"),
            "'p1.t1-5/down2': no such downlink; those of a T1 are down0 to down1");
  EXPECT_EQ(element_error(fabric, "p1.t2-0/down3"),
            "'p1.t2-0/down3': no such downlink; those of a T2 are down0 to down2");
  EXPECT_EQ(element_error(small(), "p1.t2-0"), "'p1.t2-0': no such T2; the fabric has no T2s");
  EXPECT_EQ(element_error(small(), "p1.t1-0/up0"),
            "'p1.t1-0/up0': no such uplink; the fabric has no T2s");
}

}  // namespace
}  // namespace openmrc::fabric
