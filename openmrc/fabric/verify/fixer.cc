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

std::string way_up(const Device& device) {
  return "ip -6 " + iproute2_way_up_line(device, [](std::string_view) { return true; });
}

}  // namespace

bool Fixer::has_frr() const {
  return !device_.is_host() && (kind_ == EmitKind::kFrr || kind_ == EmitKind::kFrr84);
}

std::string Fixer::add(const DeviceRoute& route, const DevicePort* port) const {
  const bool is_static = route.kind == RouteKind::kVia || route.kind == RouteKind::kBlackhole;
  if (!has_frr() || !is_static) return "ip -6 route replace " + iproute2_route(route, port);
  return frr_line(to_string(route.to), route.kind == RouteKind::kBlackhole
                                           ? "blackhole"
                                           : to_string(port->far_address) + " " + port->name);
}

std::string Fixer::remove(const FoundRoute& route) const {
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
  return has_frr() ? frr_line(to_string(*device_.by_any_uplink), next_of(hop)) : way_up(device_);
}

std::string Fixer::remove_uplink(const FoundHop& hop) const {
  return has_frr() ? frr_line(to_string(*device_.by_any_uplink), next_of(hop), "no ")
                   : way_up(device_);
}

}  // namespace openmrc::fabric
