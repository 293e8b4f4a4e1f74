// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/fixer.h"

#include <fmt/format.h>

#include <string_view>

#include "openmrc/fabric/emit/iproute2.h"

namespace openmrc::fabric {
namespace {

std::string frr_line(std::string_view to, std::string_view next, std::string_view no = "") {
  return fmt::format("vtysh -c configure -c '{}ipv6 route {} {}'", no, to, next);
}

std::string next_of(const FoundHop& hop) { return hop.via + " " + hop.dev; }

// The kernel has no name for it everywhere.
bool is_of_frr(const FoundRoute& route) {
  return route.protocol == "static" || route.protocol == "196";
}

std::string sonic_set(std::string_view table, std::string_view to, std::string_view fields) {
  return fmt::format("sonic-db-cli CONFIG_DB HSET '{}|{}' {}", table, to, fields);
}

std::string sonic_add(const DeviceRoute& route, const DevicePort* port) {
  const std::string to = to_string(route.to);
  if (route.kind == RouteKind::kEnd) {
    return sonic_set("SRV6_MY_SIDS|MAIN", to, "action uN decap_dscp_mode pipe");
  }
  return sonic_set("STATIC_ROUTE|default", to,
                   port == nullptr ? "blackhole true advertise false"
                                   : fmt::format("nexthop {} ifname {} advertise false",
                                                 to_string(port->far_address), port->name));
}

std::string sonic_remove(const FoundRoute& route) {
  const std::string_view table =
      route.action.empty() ? "STATIC_ROUTE|default" : "SRV6_MY_SIDS|MAIN";
  return fmt::format("sonic-db-cli CONFIG_DB DEL '{}|{}'", table, route.to);
}

// All uplinks are one entry.
std::string sonic_way_up(const Device& device) {
  std::string hops;
  std::string ports;
  for (const DevicePort& port : device.ports) {
    if (port.link.kind != LinkId::Kind::kUplink) continue;
    const std::string_view comma = ports.empty() ? "" : ",";
    hops += fmt::format("{}{}", comma, to_string(port.far_address));
    ports += fmt::format("{}{}", comma, port.name);
  }
  return sonic_set("STATIC_ROUTE|default", to_string(*device.by_any_uplink),
                   fmt::format("nexthop {} ifname {}", hops, ports));
}

std::string way_up(const Device& device) {
  return "ip -6 " + iproute2_way_up_line(device, [](std::string_view) { return true; });
}

}  // namespace

bool Fixer::has_frr() const {
  return !device_.is_host() && (kind_ == EmitKind::kFrr || kind_ == EmitKind::kFrr84);
}

std::string Fixer::add(const DeviceRoute& route, const DevicePort* port) const {
  if (kind_ == EmitKind::kSonic) return sonic_add(route, port);
  const bool is_static = route.kind == RouteKind::kVia || route.kind == RouteKind::kBlackhole;
  if (!has_frr() || !is_static) return "ip -6 route replace " + iproute2_route(route, port);
  return frr_line(to_string(route.to), route.kind == RouteKind::kBlackhole
                                           ? "blackhole"
                                           : to_string(port->far_address) + " " + port->name);
}

std::string Fixer::remove(const FoundRoute& route) const {
  if (kind_ == EmitKind::kSonic) return sonic_remove(route);
  if (!has_frr() || !is_of_frr(route)) {
    const std::string type = route.type.empty() ? "" : route.type + " ";
    return fmt::format("ip -6 route delete {}{} metric {}", type, route.to, route.metric);
  }
  if (route.type == "blackhole") return frr_line(route.to, route.type, "no ");
  std::string lines;
  for (const FoundHop& hop : route.hops) {
    lines += (lines.empty() ? "" : "; ") + frr_line(route.to, next_of(hop), "no ");
  }
  return lines;
}

std::string Fixer::replace(const FoundRoute& found, const DeviceRoute& route,
                           const DevicePort* port) const {
  const bool replaces = !has_frr() && found.type.empty();
  return replaces ? add(route, port) : remove(found) + "; " + add(route, port);
}

std::string Fixer::add_uplink(const FoundHop& hop) const {
  if (kind_ == EmitKind::kSonic) return sonic_way_up(device_);
  return has_frr() ? frr_line(to_string(*device_.by_any_uplink), next_of(hop)) : way_up(device_);
}

std::string Fixer::remove_uplink(const FoundHop& hop) const {
  if (kind_ == EmitKind::kSonic) return sonic_way_up(device_);
  return has_frr() ? frr_line(to_string(*device_.by_any_uplink), next_of(hop), "no ")
                   : way_up(device_);
}

}  // namespace openmrc::fabric
