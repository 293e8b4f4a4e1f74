// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/site.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace openmrc::fabric {
namespace {

Fabric pairs() {
  return Fabric::make({.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 2}).value();
}

Result<Site, std::vector<text::FileError>> parse(const std::string& text,
                                                 EmitKind kind = EmitKind::kIproute2) {
  return parse_site_toml(text, kind, pairs());
}

std::string error_of(const std::string& text) {
  const auto site = parse(text);
  return site ? "none" : to_string(site.error());
}

TEST(Site, AnEmptyFileSaysNothing) {
  for (const std::string& name : emit_kind_names()) {
    const EmitKind kind = *emit_kind_named(name);
    EXPECT_EQ(name_of(kind), name);
    EXPECT_EQ(*parse("", kind), default_site(kind, pairs()));
    EXPECT_EQ(check_site(kind, pairs(), *parse("", kind)), std::vector<std::string>{});
  }
  EXPECT_FALSE(emit_kind_named("ios"));
}

TEST(Site, PortsAreNumberedByCagesAndLanes) {
  const auto site = parse(R"([t0_uplinks]
name = "swp{port}s{lane}"
first = 33
lanes = 2
[t0_downlinks]
name = "Ethernet{port}"
step = 4
)");
  ASSERT_TRUE(site);
  EXPECT_EQ(site->t0_uplinks.of(0), "swp33s0");
  EXPECT_EQ(site->t0_uplinks.of(1), "swp33s1");
  EXPECT_EQ(site->t0_uplinks.of(2), "swp34s0");
  EXPECT_EQ(site->t0_downlinks.of(2), "Ethernet8");
}

TEST(Site, ThresholdsFollowFromTheRoundTrip) {
  // 100 Gb/s for 10 us are 125,000 bytes.
  EXPECT_EQ(thresholds_of(pairs(), Site{}.queues),
            (QueueThresholds{25'000, 100'000, 125'000, 187'500}));
  const auto site = parse("[queues]\nbase_rtt = \"4us\"\necn_max = \"30kB\"\n");
  ASSERT_TRUE(site);
  EXPECT_EQ(thresholds_of(pairs(), site->queues),
            (QueueThresholds{10'000, 30'000, 50'000, 75'000}));
}

TEST(Site, NothingThatAShellOrJsonUnderstandsGetsIntoANameOfAPort) {
  for (const std::string name : {"eth0; reboot", "$(x)", "a\\\"b", "-x", "", "{port}{port}x{"}) {
    EXPECT_NE(error_of("[host_ports]\nname = \"" + name + "\"\n").find("name"), std::string::npos)
        << name;
  }
  EXPECT_NE(error_of("[sonic]\nhwsku = \"a b\"\n").find("sonic.hwsku"), std::string::npos);
  EXPECT_NE(error_of("[containerlab]\nname = \"a'b\"\n").find("containerlab.name"),
            std::string::npos);
}

TEST(Site, MistakesAreNamedWithTheirLine) {
  EXPECT_NE(error_of("mtu = 9000\nmtus = 3\n").find("2: unknown key 'mtus'"), std::string::npos);
  EXPECT_NE(error_of("mtu = 70000\n").find("1: mtu"), std::string::npos);
  EXPECT_NE(error_of("link_addresses = \"none\"\n").find("link_addresses"), std::string::npos);
}

TEST(Site, WhatADeviceCannotHaveIsRefused) {
  Site site = default_site(EmitKind::kCumulus, pairs());
  site.queues.trim_size = 206;
  EXPECT_EQ(
      check_site(EmitKind::kCumulus, pairs(), site),
      std::vector<std::string>{"Cumulus trims to 256 to 1024 bytes, a multiple of 4, not 206"});
  EXPECT_EQ(check_site(EmitKind::kSonic, pairs(), site), std::vector<std::string>{})
      << "Tomahawk 5 trims to 206 bytes";
  site = default_site(EmitKind::kSonic, pairs());
  site.t0_uplinks.first = 0;
  EXPECT_EQ(check_site(EmitKind::kSonic, pairs(), site),
            std::vector<std::string>{"two ports of a T0 are called 'Ethernet0'"});
  site = default_site(EmitKind::kSonic, pairs());
  site.link_addresses = LinkAddresses::kLinkLocal;
  EXPECT_EQ(check_site(EmitKind::kSonic, pairs(), site).size(), 1U);
  site = Site{};
  site.host_ports.name = "a-name-that-is-too-long{port}";
  EXPECT_EQ(check_site(EmitKind::kIproute2, pairs(), site).size(), 1U);
  site = Site{};
  site.queues.control_queue = site.queues.data_queue;
  EXPECT_EQ(check_site(EmitKind::kIproute2, pairs(), site).size(), 1U);
  site = Site{};
  site.queues.ecn_min_bytes = 1'000'000;
  EXPECT_EQ(check_site(EmitKind::kIproute2, pairs(), site).size(), 1U);
}

}  // namespace
}  // namespace openmrc::fabric
