// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "openmrc/fabric/emit/iproute2.h"

namespace openmrc::fabric {
namespace {

constexpr EmitKind kKind = EmitKind::kIproute2;

UsidPlan plan_of_pairs() {
  return UsidPlan(
      Fabric::make({.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 2}).value());
}

// A device that is as its plan says.
Found found_as_planned(const Device& device) {
  Found found;
  const auto add = [&](const DeviceRoute& route, const DevicePort* port) {
    FoundRoute made{.to = to_string(route.to), .metric = 1024};
    made.hops = {port == nullptr ? FoundHop{"", "sr0"}
                                 : FoundHop{to_string(port->far_address), port->name}};
    if (route.source) made.source = to_string(*route.source);
    switch (route.kind) {
      case DeviceRoute::Kind::kVia: break;
      case DeviceRoute::Kind::kEnd:
        made.action = "End";
        made.flavours = "next-csid";
        made.block_length = 32;
        made.node_length = 16;
        break;
      case DeviceRoute::Kind::kDecapsulate:
        made.action = "End.DT6";
        made.decapsulates_into = "local";
        break;
      case DeviceRoute::Kind::kBlackhole: made.type = "blackhole"; break;
      case DeviceRoute::Kind::kLocal: made.type = "local"; break;
    }
    (route.kind == DeviceRoute::Kind::kLocal ? found.usid_routes : found.routes).push_back(made);
  };
  for (const DeviceRoute& route : device.routes) add(route, nullptr);
  FoundRoute up;
  for (const DevicePort& port : device.ports) {
    found.links[port.name] = {.mtu = 9000, .is_up = true, .has_carrier = true, .mac = port.mac};
    found.addresses.emplace_back(port.name, to_string(port.address));
    if (port.own_address) found.addresses.emplace_back(port.name, to_string(*port.own_address));
    found.neighbours[{port.name, to_string(port.far_address)}] = {port.far_mac, "PERMANENT"};
    for (const DeviceRoute& route : port.routes) add(route, &port);
    if (port.link.kind == LinkId::Kind::kUplink) {
      up.hops.push_back({to_string(port.far_address), port.name});
    }
  }
  if (device.by_any_uplink) {
    up.to = to_string(*device.by_any_uplink);
    found.routes.push_back(up);
  }
  if (device.is_host()) found.rules = {{"fcbb:bb00::/32", "udp", "4791"}};
  for (std::string name : settings_to_read(device)) {
    std::ranges::replace(name, '/', '.');
    found.settings[name] = name.ends_with("accept_dad") || name.ends_with("accept_ra") ? "0" : "1";
  }
  return found;
}

class VerifyDevice : public testing::Test {
 protected:
  std::vector<Finding> findings(EmitKind kind = kKind) const {
    return verify(device, Site{}, kind, kUsidBlockDefault, found);
  }
  FoundRoute& route(const std::string& to) {
    return *std::ranges::find(found.routes, to, &FoundRoute::to);
  }

  Device device = device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(0), Tier::kT0, 0});
  Found found = found_as_planned(device);
};

TEST_F(VerifyDevice, FindsNothingWhereAllIsAsPlanned) {
  EXPECT_TRUE(findings().empty());
  for (const Device& other :
       {device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(1), Tier::kT1, 1}),
        device_of(plan_of_pairs(), Site{}, kKind, HostIndex(2))}) {
    const auto differences =
        verify(other, Site{}, kKind, kUsidBlockDefault, found_as_planned(other));
    EXPECT_TRUE(differences.empty()) << differences.front().what;
  }
}

TEST_F(VerifyDevice, SaysWhatFixesAMissingRoute) {
  std::erase_if(found.routes,
                [](const FoundRoute& each) { return each.to == "fcbb:bb00:8010::/48"; });
  ASSERT_EQ(findings().size(), 1U);
  const Finding finding = findings().front();
  EXPECT_EQ(finding.mistake, Mistake::kNoRoute);
  EXPECT_EQ(difference_of(finding.mistake), Difference::kMissing);
  EXPECT_EQ(finding.fix, "ip -6 route replace fcbb:bb00:8010::/48 via fe80::1 dev up1");
  EXPECT_EQ(findings(EmitKind::kFrr84).front().fix,
            "vtysh -c configure -c 'ipv6 route fcbb:bb00:8010::/48 fe80::1 up1'");
}

TEST_F(VerifyDevice, FindsTwoNextHopsWhereAPathMustBeExact) {
  route("fcbb:bb00:8010::/48").hops.push_back({"fe80::1", "up0"});
  ASSERT_EQ(findings().size(), 1U);
  EXPECT_EQ(findings().front().mistake, Mistake::kManyRoutes);
  EXPECT_EQ(findings().front().fix,
            "ip -6 route delete fcbb:bb00:8010::/48 metric 1024; ip -6 route replace "
            "fcbb:bb00:8010::/48 via fe80::1 dev up1");
}

TEST_F(VerifyDevice, RoutesOfTheKernelAndOfOthersAreLeftAlone) {
  found.routes.push_back({.to = "fe80::/64", .protocol = "kernel", .hops = {{"", "up0"}}});
  found.routes.push_back({.to = "2001:db8::/32", .hops = {{"fe80::77", "eth0"}}});
  found.addresses.emplace_back("eth0", "2001:db8::1/64");
  found.addresses.emplace_back("eth0", "fd4d:5243:ffff::1/64");
  EXPECT_TRUE(findings().empty());
}

TEST_F(VerifyDevice, ACableThatLeadsElsewhereIsNamed) {
  found.links["up0"].peer_space_id = 3;
  found.spaces[3] = "mrc-lab-p0.t1-0";
  EXPECT_TRUE(findings().empty());
  found.spaces[3] = "mrc-lab-p0.t1-1";
  ASSERT_EQ(findings().size(), 1U);
  EXPECT_EQ(findings().front().mistake, Mistake::kCable);
  EXPECT_TRUE(findings().front().fix.empty());
}

TEST(ReadDevice, TakesWhatIproute2Prints) {
  DeviceOutput output{
      .links = R"([{"ifname":"up0","mtu":9000,"flags":["UP","LOWER_UP"],"address":"02:04",
                   "link_netnsid":2},{}])",
      .addresses = R"([{"ifname":"up0","addr_info":[{"local":"fe80::2","prefixlen":64}]}])",
      .routes = R"([{"dst":"fcbb:bb00:4000::/48","encap":"seg6local","action":"End",
                     "flavors":["next-csid"],"lblen":32,"nflen":16,"dev":"sr0","metric":1024},
                    {"dst":"fcbb:bb00:c000::/48","encap":"seg6local","action":"End.DT6",
                     "table":"local","dev":"p0"},
                    {"type":"blackhole","dst":"default","dev":"lo"},
                    {"dst":"fd4d:5243::1","nhid":24,"gateway":"fe80::2","dev":"down0"},
                    {"dst":"fd4d:5243::/64","nexthops":[{"gateway":"fe80::1","dev":"up1"},
                                                        {"gateway":"fe80::1","dev":"up0"}]}])",
      .neighbours = R"([{"dst":"fe80::1","dev":"up0","lladdr":"02:05","state":["PERMANENT"]}])",
      .rules = R"([{"priority":100,"src":"all","dst":"fcbb:bb00::","dstlen":32,"ipproto":"udp",
                    "table":"4791"}])",
      .settings = "net.ipv6.conf.all.forwarding = 1\nrubbish\n",
      .spaces = R"([{"nsid":2,"name":"mrc-lab-p0.t1-0"}])"};
  const auto found = read_device(output);
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->links.at("up0").mtu, 9000U);
  EXPECT_TRUE(found->links.at("up0").has_carrier);
  EXPECT_EQ(found->addresses.front().second, "fe80::2/64");
  ASSERT_EQ(found->routes.size(), 5U);
  EXPECT_EQ(found->routes[0].flavours, "next-csid");
  EXPECT_EQ(found->routes[1].decapsulates_into, "local");
  EXPECT_EQ(found->routes[2].to, "::/0");
  EXPECT_EQ(found->routes[3].to, "fd4d:5243::1/128");
  EXPECT_EQ(found->routes[4].hops.size(), 2U);
  EXPECT_EQ(found->rules.front(), (FoundRule{"fcbb:bb00::/32", "udp", "4791"}));
  EXPECT_EQ(found->settings.at("net.ipv6.conf.all.forwarding"), "1");
  EXPECT_EQ(found->spaces.at(2), "mrc-lab-p0.t1-0");
}

TEST(ReadDevice, DevicesMaySayAnything) {
  const DeviceOutput good{
      .links = "[]", .addresses = "[]", .routes = "[]", .neighbours = "[]", .rules = "[]"};
  EXPECT_TRUE(read_device(good));
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {std::string(), std::string("ssh: no route to host"), std::string("{}"), deep}) {
    DeviceOutput output = good;
    output.routes = text;
    const auto found = read_device(output);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().find("'ip route' printed"), std::string::npos);
  }
  for (const std::string text :
       {R"([1, null, "x", []])", R"([{"dst":7,"dev":[],"nexthops":{},"metric":-1,"flags":"UP"}])",
        R"([{"addr_info":[1,{"local":[],"prefixlen":"x"}],"ifname":null}])",
        R"([{"nexthops":[]},{"nexthops":[3]}])"}) {
    const auto found = read_device({text, text, text, text, text, text, text, text});
    ASSERT_TRUE(found) << text;
    const Device device =
        device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(0), Tier::kT0, 0});
    EXPECT_FALSE(verify(device, Site{}, kKind, kUsidBlockDefault, *found).empty());
  }
}

// A route within our prefixes that has no next hop at all.
TEST(ReadDevice, ARouteWithoutNextHopsIsStaleAndNoMore) {
  DeviceOutput output{
      .links = "[]", .addresses = "[]", .routes = "[]", .neighbours = "[]", .rules = "[]"};
  output.routes = R"([{"dst":"fcbb:bb00:4000::/48","encap":"seg6local","nexthops":[]},
                      {"dst":"fcbb:bb00:4ff0::/48","encap":"seg6local","action":"End",
                       "nexthops":[]}])";
  const auto found = read_device(output);
  ASSERT_TRUE(found);
  const Device device = device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(0), Tier::kT0, 0});
  const auto findings = verify(device, Site{}, kKind, kUsidBlockDefault, *found);
  EXPECT_TRUE(std::ranges::any_of(
      findings, [](const Finding& each) { return each.mistake == Mistake::kStaleSegment; }));
}

// People paste what fixes into a shell.
TEST(ReadDevice, NothingThatAShellUnderstandsComesThrough) {
  DeviceOutput output{
      .links = "[]", .addresses = "[]", .routes = "[]", .neighbours = "[]", .rules = "[]"};
  output.routes = R"([{"dst":"fcbb:bb00:1::/48; reboot","type":"$x","gateway":"`y`"},
                      {"dst":"fcbb:bb00:4ff0::/48","dev":"a b","type":"\u001b[2J"}])";
  output.settings = "net.ipv6.conf.all.forwarding = 0; reboot\n";
  const auto found = read_device(output);
  ASSERT_TRUE(found);
  const Device device = device_of(plan_of_pairs(), Site{}, kKind, SwitchId{Plane(0), Tier::kT0, 0});
  for (const Finding& each : verify(device, Site{}, kKind, kUsidBlockDefault, *found)) {
    for (const std::string_view bad : {"reboot", "$", "`", "\x1b"}) {
      EXPECT_EQ((each.what + each.found + each.fix).find(bad), std::string::npos) << each.fix;
    }
  }
}

}  // namespace
}  // namespace openmrc::fabric
