// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "openmrc/base/rng.h"

namespace openmrc::fabric {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kBlock = kUsidBlockDefault;

Device t0(EmitKind kind, const Site& site = {}) {
  const UsidPlan plan(
      Fabric::make({.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 2}).value());
  return device_of(plan, site, kind, SwitchId{Plane(0), Tier::kT0, 0});
}

Json entry(Json fields) {
  return {{"type", "hash"}, {"ttl", -0.001}, {"value", std::move(fields)}};
}

// The three databases of a SONiC switch that is as planned.
struct Sonic {
  Json config = {{"STATIC_ROUTE", Json::object()}, {"SRV6_MY_SIDS", Json::object()}};
  Json appl = Json::object();
  Json asic = Json::object();

  explicit Sonic(const Device& device) {
    for (const DeviceRoute& route : device.routes) {
      if (route.kind == RouteKind::kEnd) {
        segment(route);
      } else {
        this->route(route, {{"blackhole", "true"}, {"nexthop", ""}, {"ifname", ""}});
      }
    }
    std::string hops;
    std::string ports;
    for (const DevicePort& port : device.ports) {
      for (const DeviceRoute& each : port.routes) {
        route(each, {{"nexthop", to_string(port.far_address)}, {"ifname", port.name}});
      }
      if (port.link.kind != LinkId::Kind::kUplink) continue;
      hops += (hops.empty() ? "" : ",") + to_string(port.far_address);
      ports += (ports.empty() ? "" : ",") + port.name;
    }
    if (device.by_any_uplink) {
      route({.to = *device.by_any_uplink}, {{"nexthop", hops}, {"ifname", ports}});
    }
  }

  void route(const DeviceRoute& route, Json fields) {
    const std::string to = to_string(route.to);
    config["STATIC_ROUTE"]["default|" + to] = Json::object();
    appl["ROUTE_TABLE:" + to] = entry(std::move(fields));
    asic[asic_route(to)] = entry(Json::object());
  }
  void segment(const DeviceRoute& route) {
    const std::string sid = to_string(route.to.address);
    config["SRV6_MY_SIDS"]["MAIN|" + to_string(route.to)] = {{"action", "uN"}};
    appl["SRV6_MY_SID_TABLE:32:16:0:0:" + sid] = entry({{"action", "un"}});
    const Json key{{"sid", sid},
                   {"locator_block_len", "32"},
                   {"locator_node_len", "16"},
                   {"function_len", "0"},
                   {"args_len", "0"}};
    asic["ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:" + key.dump()] = entry(Json::object());
  }
  static std::string asic_route(const std::string& to) {
    return "ASIC_STATE:SAI_OBJECT_TYPE_ROUTE_ENTRY:" +
           Json{{"dest", to}, {"switch_id", "oid:0x21"}}.dump();
  }

  [[nodiscard]] std::vector<Finding> verified(const Device& device) const {
    return verify_sonic(device, kBlock,
                        {.applied = read_appl_db(appl.dump()).value(),
                         .configured = read_config_db(config.dump()).value(),
                         .in_asic = read_asic_db(asic.dump()).value()});
  }
};

class SonicDump : public testing::Test {
 protected:
  std::vector<Finding> findings() const { return sonic.verified(device); }
  Finding only() const {
    const auto found = findings();
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Finding{} : found.front();
  }

  Device device = t0(EmitKind::kSonic);
  Sonic sonic{device};
};

TEST_F(SonicDump, FindsNothingWhereAllIsAsPlanned) {
  const auto found = findings();
  EXPECT_TRUE(found.empty()) << found.front().what << " but " << found.front().found;
}

TEST_F(SonicDump, NamesTheLayerThatLostARoute) {
  sonic.asic.erase(Sonic::asic_route("fcbb:bb00:8010::/48"));
  EXPECT_EQ(only().mistake, Mistake::kNoRoute);
  EXPECT_NE(only().layer.find("ASIC_DB does not: orchagent"), std::string::npos);
  EXPECT_EQ(only().fix, "");
  sonic.appl.erase("ROUTE_TABLE:fcbb:bb00:8010::/48");
  EXPECT_NE(only().layer.find("APPL_DB does not: bgpcfgd or FRR"), std::string::npos);
  EXPECT_EQ(only().fix, "") << "it is configured";
  sonic.config["STATIC_ROUTE"].erase("default|fcbb:bb00:8010::/48");
  EXPECT_EQ(only().layer, "CONFIG_DB does not have it");
  EXPECT_EQ(only().fix,
            "sonic-db-cli CONFIG_DB HSET 'STATIC_ROUTE|default|fcbb:bb00:8010::/48' nexthop "
            "fe80::1 ifname up1 advertise false");
}

TEST_F(SonicDump, FindsASegmentThatIsMissingWrongOrStale) {
  const std::string own = "SRV6_MY_SID_TABLE:32:16:0:0:fcbb:bb00:4000::";
  sonic.appl[own]["value"]["action"] = "udt6";
  EXPECT_EQ(only().mistake, Mistake::kWrongSegment);
  sonic.appl.erase(own);
  EXPECT_EQ(only().mistake, Mistake::kNoSegment);
  EXPECT_NE(only().layer.find("CONFIG_DB has it"), std::string::npos);
  sonic.segment({.to = usid_prefix(kBlock, Segment{}), .kind = RouteKind::kEnd});
  sonic.appl["SRV6_MY_SID_TABLE:32:16:0:0:fcbb:bb00:4007::"] = entry({{"action", "un"}});
  EXPECT_EQ(only().mistake, Mistake::kStaleSegment);
  EXPECT_EQ(only().layer, "CONFIG_DB does not have it: FRR");
}

TEST_F(SonicDump, FindsTwoNextHopsAndAnother) {
  Json& fields = sonic.appl["ROUTE_TABLE:fcbb:bb00:8010::/48"]["value"];
  fields["ifname"] = "up0";
  EXPECT_EQ(only().mistake, Mistake::kWrongRoute);
  fields["nexthop"] = "fe80::1,fe80::1";
  fields["ifname"] = "up0,up1";
  EXPECT_EQ(only().mistake, Mistake::kManyRoutes);
}

TEST_F(SonicDump, WithoutTheOtherDatabasesNamesNoLayer) {
  sonic.appl.erase("ROUTE_TABLE:fcbb:bb00:8010::/48");
  const auto found =
      verify_sonic(device, kBlock, {.applied = read_appl_db(sonic.appl.dump()).value()});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().layer, "");
}

// As FRR 8.4.4 prints it, shortened.
TEST(FrrDump, HasRoutesThatAreInstalledAndThoseThatWait) {
  const auto tables = read_frr_routes(R"({
    "fcbb:bb00:8000::/48": [{"protocol": "static", "installed": true,
                             "nexthops": [{"fib": true, "ip": "fe80::1", "interfaceName": "up0"},
                                          {"ip": "fe80::1", "interfaceName": "up1"}]}],
    "fcbb:bb00:8010::/48": [{"protocol": "static", "nexthops": [{"ip": "fe80::1"}]}],
    "fcbb:bb00:4000::/48": [{"protocol": "kernel", "installed": true,
                             "nexthops": [{"fib": true, "interfaceName": "sr0",
                                           "seg6local": {"action": "End"}}]}],
    "::/0": [{"protocol": "static", "installed": true, "nexthops": [{"fib": true, "blackhole": true}]}]
  })");
  ASSERT_TRUE(tables);
  const auto& routes = tables->installed;
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0].type, "blackhole");
  EXPECT_EQ(routes[1].action, "End");
  EXPECT_EQ(routes[2].hops, (std::vector<FoundHop>{{"fe80::1", "up0"}}));
  const auto found = verify_frr(t0(EmitKind::kFrr84), EmitKind::kFrr84, kBlock, *tables);
  const auto far = std::ranges::find(found, "fcbb:bb00:8010::/48", &Finding::prefix);
  ASSERT_NE(far, found.end());
  EXPECT_NE(far->layer.find("zebra has it"), std::string::npos);
  EXPECT_EQ(far->fix, "vtysh -c configure -c 'ipv6 route fcbb:bb00:8010::/48 fe80::1 up1'");
  EXPECT_EQ(std::ranges::count(found, "zebra does not have it: staticd", &Finding::layer),
            std::ssize(found) - 1);
}

// What switches print may be anything.
TEST(Dumps, OfAnyBytesAreRefusedOrRead) {
  const Sonic sonic(t0(EmitKind::kSonic));
  Rng rng(17);
  for (const std::string& good : {sonic.appl.dump(), sonic.asic.dump(), sonic.config.dump()}) {
    for (int i = 0; i < 300; ++i) {
      std::string text = good;
      for (int j = 0; j < 3; ++j) {
        text[rng.below(text.size())] = static_cast<char>(rng.below(256));
      }
      static_cast<void>(read_appl_db(text));
      static_cast<void>(read_asic_db(text));
      static_cast<void>(read_config_db(text));
      static_cast<void>(read_frr_routes(text));
    }
  }
  for (const char* text : {"", "[]", "7", "{", R"({"ROUTE_TABLE:x": 3, "ASIC_STATE:"})"}) {
    EXPECT_FALSE(read_appl_db(text)) << text;
    EXPECT_FALSE(read_asic_db(text)) << text;
    EXPECT_FALSE(read_config_db(text)) << text;
    EXPECT_FALSE(read_frr_routes(text)) << text;
  }
}

}  // namespace
}  // namespace openmrc::fabric
