// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/iproute2.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "openmrc/base/check.h"

namespace openmrc::fabric {
namespace {

using Lines = std::vector<std::string>;

constexpr unsigned kRulePreference = 100;

bool is_segment(const DeviceRoute& route) {
  return route.kind == RouteKind::kEnd || route.kind == RouteKind::kDecapsulate;
}

bool is_written(const DeviceRoute& route, ScriptRoutes routes) {
  if (routes == ScriptRoutes::kAll) return true;
  return routes == ScriptRoutes::kSegments && is_segment(route);
}

std::string heading(const Device& device) {
  return fmt::format(
      "#!/bin/sh -e\n"
      "# {}: network configuration, written by `mrc fabric emit`. It may be repeated.\n",
      device.name);
}

std::string sysctl_text(const Device& device) {
  std::string text = "sysctl -q -w";
  const auto add = [&](const Lines& settings) {
    for (const std::string& setting : settings) text += " \\\n  " + setting;
  };
  add(kernel_settings(device));
  for (const DevicePort& port : device.ports) add(kernel_port_settings(device, port));
  return text + "\n";
}

std::string once_text(const Device& device, std::uint32_t block) {
  const std::string line = iproute2_once_lines(device, block).front();
  if (device.is_host()) {
    return fmt::format("[ -n \"$(ip -6 rule show pref {})\" ] || ip -6 {}\n", kRulePreference,
                       line);
  }
  return fmt::format("[ -e /sys/class/net/{} ] || ip {}\n", kSegmentInterface, line);
}

// Before a port is up: its MAC address cannot be changed later everywhere.
Lines interface_lines(const DevicePort& port) {
  Lines lines{fmt::format("link set dev {} addrgenmode none", port.name)};
  if (!port.mac.empty()) {
    lines.push_back(fmt::format("link set dev {} address {}", port.name, port.mac));
  }
  return lines;
}

}  // namespace

std::string iproute2_route(const DeviceRoute& route, const DevicePort* port) {
  std::string to = to_string(route.to);
  switch (route.kind) {
    case RouteKind::kVia: {
      OPENMRC_CHECK(port != nullptr, "such a route leads over a port");
      const std::string source = route.source ? " src " + to_string(*route.source) : "";
      return fmt::format("{} via {} dev {}{}", to, to_string(port->far_address), port->name,
                         source);
    }
    case RouteKind::kEnd:
      return fmt::format("{} encap seg6local action End flavors next-csid lblen 32 nflen 16 dev {}",
                         to, kSegmentInterface);
    case RouteKind::kDecapsulate:
      OPENMRC_CHECK(port != nullptr, "such a route needs an interface");
      return fmt::format("{} encap seg6local action End.DT6 table local dev {}", to, port->name);
    case RouteKind::kBlackhole: return "blackhole " + to;
    case RouteKind::kLocal: return fmt::format("local {} dev lo table {}", to, kUsidTable);
  }
  return to;
}

std::vector<std::string> iproute2_port_lines(const Device& device, const DevicePort& port,
                                             std::uint32_t mtu, ScriptRoutes routes) {
  Lines lines{fmt::format("link set dev {} mtu {} up", port.name, mtu),
              fmt::format("address replace {} dev {} nodad", to_string(port.address), port.name)};
  if (!port.far_mac.empty()) {
    lines.push_back(fmt::format("neighbour replace {} lladdr {} dev {} nud permanent",
                                to_string(port.far_address), port.far_mac, port.name));
  }
  if (port.own_address) {
    lines.push_back(
        fmt::format("address replace {} dev {} nodad", to_string(*port.own_address), port.name));
  }
  for (const DeviceRoute& route : port.routes) {
    if (device.is_host() || is_written(route, routes)) {
      lines.push_back("route replace " + iproute2_route(route, &port));
    }
  }
  return lines;
}

std::vector<std::string> iproute2_device_lines(const Device& device, ScriptRoutes routes) {
  Lines lines{"link set dev lo up"};
  if (!device.is_host()) {
    lines.push_back(fmt::format("link set dev {} up", kSegmentInterface));
    lines.push_back(fmt::format("link set dev {} up", kSegmentPeer));
  }
  for (const DeviceRoute& route : device.routes) {
    if (device.is_host() || is_written(route, routes)) {
      lines.push_back("route replace " + iproute2_route(route, nullptr));
    }
  }
  return lines;
}

std::vector<std::string> iproute2_once_lines(const Device& device, std::uint32_t block) {
  if (!device.is_host()) {
    return {fmt::format("link add {} type veth peer name {}", kSegmentInterface, kSegmentPeer)};
  }
  // UDP by its number, because a bare system has no /etc/protocols.
  return {fmt::format("rule add pref {} to {} ipproto 17 lookup {}", kRulePreference,
                      to_string(block_prefix(block)), kUsidTable)};
}

std::string iproute2_way_up_line(const Device& device, const PortTest& is_up) {
  if (!device.by_any_uplink) return "";
  std::string ways;
  for (const DevicePort& port : device.ports) {
    if (port.link.kind != LinkId::Kind::kUplink || !is_up(port.name)) continue;
    ways += fmt::format(" nexthop via {} dev {}", to_string(port.far_address), port.name);
  }
  return ways.empty() ? "" : "route replace " + to_string(*device.by_any_uplink) + ways;
}

std::vector<std::string> kernel_settings(const Device& device) {
  Lines settings{
      "net/ipv6/conf/all/seg6_enabled=1",      "net/ipv6/conf/default/seg6_enabled=1",
      "net/ipv6/conf/all/accept_dad=0",        "net/ipv6/conf/default/accept_dad=0",
      "net/ipv6/conf/all/keep_addr_on_down=1", "net/ipv6/conf/default/keep_addr_on_down=1",
      "net/ipv6/conf/default/accept_ra=0"};
  if (device.is_host()) return settings;
  settings.insert(settings.end(), {"net/ipv6/conf/all/forwarding=1",
                                   // By source and destination ports, as switches do; past
                                   // uplinks without carrier.
                                   "net/ipv6/fib_multipath_hash_policy=1",
                                   "net/ipv6/conf/all/ignore_routes_with_linkdown=1",
                                   "net/ipv6/conf/default/ignore_routes_with_linkdown=1"});
  return settings;
}

std::vector<std::string> kernel_port_settings(const Device& device, const DevicePort& port) {
  const std::string folder = fmt::format("net/ipv6/conf/{}/", port.name);
  Lines settings{folder + "seg6_enabled=1", folder + "accept_dad=0", folder + "accept_ra=0",
                 folder + "keep_addr_on_down=1"};
  if (!device.is_host()) settings.push_back(folder + "ignore_routes_with_linkdown=1");
  return settings;
}

std::string iproute2_script(const Device& device, const Site& site, std::uint32_t block,
                            ScriptRoutes routes) {
  std::string text = heading(device) + sysctl_text(device) + once_text(device, block);
  Lines lines;
  for (const DevicePort& port : device.ports) {
    std::ranges::move(interface_lines(port), std::back_inserter(lines));
  }
  std::ranges::move(iproute2_device_lines(device, routes), std::back_inserter(lines));
  for (const DevicePort& port : device.ports) {
    std::ranges::move(iproute2_port_lines(device, port, site.mtu, routes),
                      std::back_inserter(lines));
  }
  if (routes == ScriptRoutes::kAll) {
    lines.push_back(iproute2_way_up_line(device, [](std::string_view) { return true; }));
  }
  text += "ip -6 -batch - <<'END'\n";
  for (const std::string& line : lines) {
    if (!line.empty()) text += line + "\n";
  }
  return text + "END\n";
}

}  // namespace openmrc::fabric
