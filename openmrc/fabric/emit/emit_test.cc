// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/emit.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "openmrc/fabric/names.h"
#include "tests/support/golden.h"

namespace openmrc::fabric {
namespace {

// Two of everything.
Fabric pairs() {
  return Fabric::make({.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 2}).value();
}

EmitInput input_for(EmitKind kind, const Fabric& fabric = pairs()) {
  EmitInput input{UsidPlan(fabric), default_site(kind, fabric), {}};
  if (kind == EmitKind::kSonic) {
    input.site.sonic.pool_bytes = 64 << 20;
    for (int i = 0; i < 4; ++i) {
      const std::string number = std::to_string(i);
      input.platform["Ethernet" + number] = {
          {"lanes", number}, {"alias", "Eth" + number}, {"index", number}, {"speed", "100000"}};
    }
  }
  return input;
}

std::vector<EmitKind> all_kinds() {
  std::vector<EmitKind> kinds;
  for (const std::string& name : emit_kind_names()) kinds.push_back(*emit_kind_named(name));
  return kinds;
}

const SwitchId kT0{Plane(1), Tier::kT0, 1};
const SwitchId kT1{Plane(1), Tier::kT1, 0};

std::map<std::string, std::string> by_name(const std::vector<EmittedFile>& files) {
  std::map<std::string, std::string> texts;
  for (const EmittedFile& file : files) texts[file.name] = file.text;
  return texts;
}

TEST(Emit, EachKindAndTierIsAsItWas) {
  for (const EmitKind kind : all_kinds()) {
    const EmitInput input = input_for(kind);
    ASSERT_EQ(check_emit(kind, input), std::vector<std::string>{}) << name_of(kind);
    const auto compare = [&](const std::vector<EmittedFile>& files, const std::string& device) {
      for (const EmittedFile& file : files) {
        test::expect_golden(file.text, "emit/" + std::string(name_of(kind)) + "-" + device + "-" +
                                           file.name + ".txt");
      }
    };
    compare(emit(kind, input, kT0), "t0");
    compare(emit(kind, input, kT1), "t1");
    compare(emit(kind, input, HostIndex(3)), "host");
    compare(emit_whole(kind, input), "all");
  }
}

TEST(Emit, NoUsidHasTwoNextHops) {
  const EmitInput input = input_for(EmitKind::kFrr);
  for (const SwitchId& id : all_switches(input.plan.fabric())) {
    const std::string text = by_name(emit(EmitKind::kFrr, input, id))["frr.conf"];
    std::map<std::string, int> routes;
    for (std::size_t at = 0; (at = text.find("ipv6 route fcbb:", at)) != std::string::npos; ++at) {
      ++routes[text.substr(at, text.find(' ', at + 11) - at)];
    }
    EXPECT_EQ(routes.size(), id.tier == Tier::kT0 ? 4U : 2U);
    for (const auto& [route, count] : routes) EXPECT_EQ(count, 1) << name_of(id) << ": " << route;
  }
}

TEST(Emit, TheLastHopIsTreatedApart) {
  const EmitInput input = input_for(EmitKind::kSonic);
  const std::string t0 = by_name(emit(EmitKind::kSonic, input, kT0))["config_db.json"];
  // Ethernet0 is a downlink, Ethernet2 an uplink; queue 3 has the data.
  EXPECT_NE(t0.find(R"("Ethernet0|3": {"scheduler": "DATA"})"), std::string::npos);
  EXPECT_NE(t0.find(R"("Ethernet2|3": {"scheduler": "DATA", "wred_profile": "MRC"})"),
            std::string::npos);
  EXPECT_NE(t0.find(R"("Ethernet0|3": {"profile": "MRC_DATA_LAST_HOP"})"), std::string::npos);
  EXPECT_NE(t0.find(R"("dscp_value": "from-tc")"), std::string::npos);
  const std::string t1 = by_name(emit(EmitKind::kSonic, input, kT1))["config_db.json"];
  EXPECT_EQ(t1.find("LAST_HOP"), std::string::npos);
  EXPECT_EQ(t1.find("TC_TO_DSCP_MAP"), std::string::npos);
  EXPECT_NE(t1.find(R"("dscp_value": "14")"), std::string::npos);
}

TEST(Emit, WhatIsNotPublicOfEosIsAComment) {
  const EmitInput input = input_for(EmitKind::kEos);
  const std::string text = by_name(emit(EmitKind::kEos, input, kT0))["eos.cfg"];
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find("rimm", at)) != std::string::npos; ++at, ++found) {
    const std::size_t line = text.rfind('\n', at) + 1;
    EXPECT_EQ(text[line], '!') << text.substr(line, text.find('\n', line) - line);
  }
  EXPECT_GT(found, 0U);
}

TEST(Emit, ThePublishedFabricIsWithinTheLimitsOfSwitches) {
  const Fabric fabric =
      Fabric::make({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}).value();
  for (const EmitKind kind : all_kinds()) {
    const EmitInput input = input_for(EmitKind::kIproute2, fabric);
    const Site site = default_site(kind, fabric);
    if (kind == EmitKind::kContainerlab) continue;
    EXPECT_EQ(check_site(kind, fabric, site), std::vector<std::string>{}) << name_of(kind);
    const Device t0 = device_of(input.plan, site, kind, SwitchId{Plane(7), Tier::kT0, 511});
    const Device t1 = device_of(input.plan, site, kind, SwitchId{Plane(7), Tier::kT1, 255});
    EXPECT_EQ(t0.ports.size(), 512U);
    EXPECT_EQ(t1.ports.size(), 512U);
    // One uN, and a next hop for each uSID of a neighbour; uSIDs are global ones (0x1 to 0xdfff).
    for (const Device* device : {&t0, &t1}) {
      std::set<Ipv6Prefix> usids;
      for (const DevicePort& port : device->ports) {
        EXPECT_LT(port.routes.front().to.address.group(2), 0xe000);
        usids.insert(port.routes.front().to);
      }
      EXPECT_EQ(usids.size(), 512U);
    }
  }
}

TEST(Emit, PortsThatThePlatformLacksAreNamed) {
  EmitInput input = input_for(EmitKind::kSonic);
  input.platform.erase("Ethernet3");
  EXPECT_EQ(check_emit(EmitKind::kSonic, input),
            std::vector<std::string>{"port_config has no 'Ethernet3', which is a port of p0.t0-0 "
                                     "(1 are missing)"});
}

TEST(Emit, ContainersHaveALimit) {
  const Fabric fabric =
      Fabric::make({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}).value();
  EXPECT_EQ(check_emit(EmitKind::kContainerlab, input_for(EmitKind::kContainerlab, fabric)).size(),
            1U);
}

}  // namespace
}  // namespace openmrc::fabric
