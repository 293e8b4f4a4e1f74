// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/device.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "openmrc/fabric/emit/iproute2.h"
#include "openmrc/fabric/names.h"

namespace openmrc::fabric {
namespace {

constexpr EmitKind kKind = EmitKind::kIproute2;

UsidPlan plan_of_pairs() {
  return UsidPlan(
      Fabric::make({.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 2}).value());
}

TEST(Device, AT0HasItsUsidAndOneRouteForEachNeighbour) {
  const Device t0 = device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(1), Tier::kT0, 1});
  EXPECT_EQ(t0.name, "p1.t0-1");
  EXPECT_EQ(to_string(t0.routes[0].to), "fcbb:bb00:4011::/48");
  EXPECT_EQ(t0.routes[0].kind, DeviceRoute::Kind::kEnd);
  ASSERT_EQ(t0.ports.size(), 4U);
  EXPECT_EQ(t0.ports[1].name, "down1");
  EXPECT_TRUE(t0.ports[1].is_last_hop());
  EXPECT_EQ(t0.ports[1].far_device, "h3");
  EXPECT_EQ(t0.ports[1].far_port, "p1");
  EXPECT_EQ(to_string(t0.ports[1].routes[0].to), "fcbb:bb00:c011::/48");
  EXPECT_EQ(to_string(t0.ports[1].routes[1].to), "fd4d:5243:0:1::1:2/128");
  EXPECT_EQ(t0.ports[2].name, "up0");
  EXPECT_FALSE(t0.ports[2].is_last_hop());
  EXPECT_EQ(to_string(t0.ports[2].routes[0].to), "fcbb:bb00:8001::/48");
  EXPECT_EQ(to_string(*t0.by_any_uplink), "fd4d:5243:0:1::/64");
}

TEST(Device, BothEndsOfACableAgree) {
  for (const EmitKind kind : {EmitKind::kIproute2, EmitKind::kSonic}) {
    const UsidPlan plan = plan_of_pairs();
    const Site site = default_site(kind, plan.fabric());
    std::vector<Device> devices;
    for (const SwitchId& id : all_switches(plan.fabric())) {
      devices.push_back(device_of(plan, site, kind, id));
    }
    for (std::uint32_t i = 0; i < plan.fabric().hosts(); ++i) {
      devices.push_back(device_of(plan, site, kind, HostIndex(i)));
    }
    const auto find = [&](const std::string& device, const std::string& port) {
      for (const Device& each : devices) {
        if (each.name != device) continue;
        for (const DevicePort& other : each.ports) {
          if (other.name == port) return &other;
        }
      }
      return static_cast<const DevicePort*>(nullptr);
    };
    for (const Device& device : devices) {
      for (const DevicePort& port : device.ports) {
        const DevicePort* const far = find(port.far_device, port.far_port);
        ASSERT_NE(far, nullptr) << port.far_device << " " << port.far_port;
        EXPECT_EQ(far->far_device, device.name);
        EXPECT_EQ(far->far_port, port.name);
        EXPECT_EQ(far->mac, port.far_mac);
        EXPECT_EQ(far->address.address, port.far_address);
        EXPECT_EQ(far->link, port.link);
      }
    }
  }
}

TEST(Device, AddressesOfCablesAndPortsAreUnique) {
  const Fabric fabric =
      Fabric::make({.planes = 16, .racks = 1024, .hosts_per_rack = 512, .uplinks = 1024}).value();
  std::set<std::string> seen;
  std::size_t count = 0;
  for (const std::uint32_t plane : {0U, 7U, 15U}) {
    for (const std::uint32_t rack : {0U, 1U, 255U, 256U, 1023U}) {
      for (const std::uint32_t port : {0U, 1U, 255U, 256U, 511U}) {
        for (const auto kind : {LinkId::Kind::kHost, LinkId::Kind::kUplink}) {
          for (const CableEnd end : {CableEnd::kLower, CableEnd::kUpper}) {
            const LinkId link{kind, Plane(static_cast<std::uint8_t>(plane)), rack, port};
            seen.insert(mac_of(link, end));
            seen.insert(to_string(link_address(link, end, LinkAddresses::kUnique)));
            count += 2;
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
  std::set<std::string> macs;
  const auto switches = all_switches(fabric);
  for (const SwitchId& id : switches) {
    macs.insert(mac_of(id));
    EXPECT_FALSE(seen.contains(mac_of(id)));
  }
  EXPECT_EQ(macs.size(), switches.size());
}

TEST(Device, InnerRoutesAreLeftOutIfTheSiteWantsNone) {
  Site site;
  site.inner_routes = false;
  const Device t0 = device_of(plan_of_pairs(), site, kKind, SwitchId{Plane(0), Tier::kT0, 0});
  EXPECT_FALSE(t0.by_any_uplink);
  for (const DevicePort& port : t0.ports) EXPECT_EQ(port.routes.size(), 1U);
  EXPECT_EQ(t0.routes.size(), 2U);
}

TEST(Device, DiscoveredNeighboursHaveNoMac) {
  Site site;
  site.neighbours = Neighbours::kDiscovered;
  const Device t1 = device_of(plan_of_pairs(), site, kKind, SwitchId{Plane(0), Tier::kT1, 1});
  const std::string script = iproute2_script(t1, site, kUsidBlockDefault, ScriptRoutes::kAll);
  EXPECT_EQ(script.find("neighbour"), std::string::npos);
  EXPECT_EQ(script.find(" address 02:"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::fabric
