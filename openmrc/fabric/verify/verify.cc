// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "openmrc/fabric/emit/iproute2.h"
#include "openmrc/fabric/verify/fixer.h"

namespace openmrc::fabric {
namespace {

struct MistakeName {
  Mistake mistake;
  Difference difference;
  std::string_view name;
};

constexpr std::array kMistakes{
    MistakeName{Mistake::kNoPort, Difference::kMissing, "port"},
    MistakeName{Mistake::kPortDown, Difference::kWrong, "port-down"},
    MistakeName{Mistake::kNoCarrier, Difference::kWrong, "carrier"},
    MistakeName{Mistake::kMtu, Difference::kWrong, "mtu"},
    MistakeName{Mistake::kMac, Difference::kWrong, "mac"},
    MistakeName{Mistake::kCable, Difference::kWrong, "cable"},
    MistakeName{Mistake::kNoAddress, Difference::kMissing, "address"},
    MistakeName{Mistake::kForeignAddress, Difference::kExtra, "foreign-address"},
    MistakeName{Mistake::kNoNeighbour, Difference::kMissing, "neighbour"},
    MistakeName{Mistake::kWrongNeighbour, Difference::kWrong, "neighbour-mac"},
    MistakeName{Mistake::kDeadNeighbour, Difference::kWrong, "neighbour-dead"},
    MistakeName{Mistake::kNoSegment, Difference::kMissing, "segment"},
    MistakeName{Mistake::kWrongSegment, Difference::kWrong, "segment-behaviour"},
    MistakeName{Mistake::kStaleSegment, Difference::kExtra, "stale-segment"},
    MistakeName{Mistake::kNoRoute, Difference::kMissing, "route"},
    MistakeName{Mistake::kWrongRoute, Difference::kWrong, "next-hop"},
    MistakeName{Mistake::kManyRoutes, Difference::kWrong, "ecmp"},
    MistakeName{Mistake::kStaleRoute, Difference::kExtra, "stale-route"},
    MistakeName{Mistake::kNoBlackhole, Difference::kMissing, "blackhole"},
    MistakeName{Mistake::kNoUplink, Difference::kMissing, "uplink"},
    MistakeName{Mistake::kNoRule, Difference::kMissing, "rule"},
    MistakeName{Mistake::kSetting, Difference::kWrong, "setting"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kMistakes.size(); ++i) {
    if (static_cast<std::size_t>(kMistakes[i].mistake) != i) return false;
  }
  return true;
}
static_assert(in_order());

std::string hops_text(const FoundRoute& route) {
  std::string text;
  for (const FoundHop& hop : route.hops) {
    if (!text.empty()) text += " and ";
    text += hop.via.empty() ? "dev " + hop.dev : fmt::format("via {} dev {}", hop.via, hop.dev);
  }
  return text;
}

std::string route_text(const FoundRoute& route) {
  if (route.action.empty()) {
    return route.type.empty() || route.type == "unicast" ? hops_text(route) : route.type;
  }
  std::string text = "seg6local " + route.action;
  if (!route.flavours.empty()) {
    text +=
        fmt::format(" {} lblen {} nflen {}", route.flavours, route.block_length, route.node_length);
  }
  if (!route.decapsulates_into.empty()) text += " table " + route.decapsulates_into;
  return fmt::format("{} dev {}", text, route.hops.front().dev);
}

class Verifier {
 public:
  Verifier(const Device& device, const Site& site, EmitKind kind, std::uint32_t block,
           const Found& found)
      : device_(device), site_(site), block_(block), found_(found), fixer_(device, kind) {}

  std::vector<Finding> run() {
    for (const DevicePort& port : device_.ports) {
      if (!link(port)) continue;
      addresses(port);
      neighbour(port);
    }
    foreign_addresses();
    routes();
    if (device_.is_host()) rule();
    settings();
    return std::move(findings_);
  }

  std::vector<Finding> run_routes() {
    routes();
    return std::move(findings_);
  }

 private:
  void add(Mistake mistake, std::string what, std::string found, std::string fix) {
    findings_.push_back({mistake, std::move(what), std::move(found), std::move(fix)});
  }

  void add(Mistake mistake, const std::string& prefix, std::string what, std::string found,
           std::string fix) {
    add(mistake, std::move(what), std::move(found), std::move(fix));
    findings_.back().prefix = prefix;
  }

  void routes() {
    for (const DeviceRoute& route : device_.routes) planned(route, nullptr);
    for (const DevicePort& port : device_.ports) {
      for (const DeviceRoute& route : port.routes) planned(route, &port);
    }
    way_up();
    stale_routes();
  }

  bool link(const DevicePort& port) {
    const auto at = found_.links.find(port.name);
    if (at == found_.links.end()) {
      add(Mistake::kNoPort, "port " + port.name, "", "");
      return false;
    }
    const FoundLink& link = at->second;
    const std::string set = fmt::format("ip link set dev {}", port.name);
    if (link.mtu != site_.mtu) {
      add(Mistake::kMtu, fmt::format("{} mtu {}", port.name, site_.mtu),
          fmt::format("{}", link.mtu), fmt::format("{} mtu {}", set, site_.mtu));
    }
    if (!port.mac.empty() && link.mac != port.mac) {
      add(Mistake::kMac, fmt::format("{} address {}", port.name, port.mac), link.mac,
          fmt::format("{} address {}", set, port.mac));
    }
    cable(port, link);
    if (!link.is_up) {
      // Its routes are gone as well; the script writes all of them again.
      add(Mistake::kPortDown, port.name + " up", "down", set + " up");
    } else if (!link.has_carrier) {
      add(Mistake::kNoCarrier,
          fmt::format("{} connected to {} {}", port.name, port.far_device, port.far_port),
          "no carrier", "");
    }
    return true;
  }

  // Only veth pairs say where they lead.
  void cable(const DevicePort& port, const FoundLink& link) {
    if (!link.peer_space_id) return;
    const auto at = found_.spaces.find(*link.peer_space_id);
    if (at == found_.spaces.end()) return;
    const std::string& space = at->second;
    if (space == port.far_device || space.ends_with("-" + port.far_device)) return;
    add(Mistake::kCable,
        fmt::format("{} connected to {} {}", port.name, port.far_device, port.far_port), space, "");
  }

  void addresses(const DevicePort& port) {
    const auto check = [&](const Ipv6Prefix& prefix) {
      const std::pair wanted{port.name, to_string(prefix)};
      if (std::ranges::find(found_.addresses, wanted) != found_.addresses.end()) return;
      add(Mistake::kNoAddress, fmt::format("address {} on {}", wanted.second, port.name), "",
          fmt::format("ip -6 address replace {} dev {} nodad", wanted.second, port.name));
    };
    check(port.address);
    if (port.own_address) check(*port.own_address);
  }

  // fd4d:5243:0:<plane>::/64, which only one host has each address of.
  void foreign_addresses() {
    std::set<std::string> own;
    for (const DevicePort& port : device_.ports) {
      if (port.own_address) own.insert(to_string(*port.own_address));
    }
    for (const auto& [dev, address] : found_.addresses) {
      if (!is_inner(address) || own.contains(address)) continue;
      add(Mistake::kForeignAddress, fmt::format("no address {} on {}", address, dev), address,
          fmt::format("ip -6 address delete {} dev {}", address, dev));
    }
  }

  void neighbour(const DevicePort& port) {
    const auto at = found_.neighbours.find({port.name, to_string(port.far_address)});
    const bool is_there = at != found_.neighbours.end();
    if (is_there && (at->second.state == "FAILED" || at->second.state == "INCOMPLETE")) {
      add(Mistake::kDeadNeighbour,
          fmt::format("{} {} answers on {}", port.far_device, to_string(port.far_address),
                      port.name),
          at->second.state, neighbour_line(port));
      return;
    }
    if (port.far_mac.empty()) return;
    const std::string what =
        fmt::format("neighbour {} {} on {}", to_string(port.far_address), port.far_mac, port.name);
    if (!is_there || at->second.state != "PERMANENT") {
      add(Mistake::kNoNeighbour, what, is_there ? at->second.state : "", neighbour_line(port));
    } else if (at->second.mac != port.far_mac) {
      add(Mistake::kWrongNeighbour, what, at->second.mac, neighbour_line(port));
    }
  }

  static std::string neighbour_line(const DevicePort& port) {
    if (port.far_mac.empty()) return "";
    return fmt::format("ip -6 neighbour replace {} lladdr {} dev {} nud permanent",
                       to_string(port.far_address), port.far_mac, port.name);
  }

  void planned(const DeviceRoute& route, const DevicePort* port) {
    const std::string to = to_string(route.to);
    const auto& table = route.kind == RouteKind::kLocal ? found_.usid_routes : found_.routes;
    std::vector<const FoundRoute*> there;
    for (const FoundRoute& each : table) {
      if (each.to == to && !is_of_kernel(each)) there.push_back(&each);
    }
    known_.insert(to);
    if (there.empty()) {
      add(missing(route.kind), to, iproute2_route(route, port), "", fixer_.add(route, port));
    } else if (there.size() > 1 || there.front()->hops.size() > 1) {
      many(route, port, there);
    } else if (!is_as_planned(route, port, *there.front())) {
      const bool is_segment =
          route.kind == RouteKind::kEnd || route.kind == RouteKind::kDecapsulate;
      add(is_segment ? Mistake::kWrongSegment : Mistake::kWrongRoute, to,
          iproute2_route(route, port), route_text(*there.front()),
          fixer_.replace(*there.front(), route, port));
    }
  }

  void many(const DeviceRoute& route, const DevicePort* port,
            const std::vector<const FoundRoute*>& there) {
    std::string text;
    std::string fixes;
    for (const FoundRoute* each : there) {
      text += (text.empty() ? "" : "; ") + route_text(*each);
      fixes += fixer_.remove(*each) + "; ";
    }
    add(Mistake::kManyRoutes, to_string(route.to), iproute2_route(route, port), text,
        fixes + fixer_.add(route, port));
  }

  [[nodiscard]] static Mistake missing(RouteKind kind) {
    switch (kind) {
      case RouteKind::kEnd:
      case RouteKind::kDecapsulate: return Mistake::kNoSegment;
      case RouteKind::kBlackhole: return Mistake::kNoBlackhole;
      case RouteKind::kVia:
      case RouteKind::kLocal: return Mistake::kNoRoute;
    }
    return Mistake::kNoRoute;
  }

  [[nodiscard]] static bool is_as_planned(const DeviceRoute& route, const DevicePort* port,
                                          const FoundRoute& found) {
    const FoundHop& hop = found.hops.front();
    const bool needs_port = route.kind == RouteKind::kVia || route.kind == RouteKind::kDecapsulate;
    if (needs_port && port == nullptr) return false;
    switch (route.kind) {
      case RouteKind::kVia:
        return found.action.empty() && (found.type.empty() || found.type == "unicast") &&
               hop.via == to_string(port->far_address) && hop.dev == port->name &&
               (!route.source || found.source == to_string(*route.source));
      case RouteKind::kEnd:
        return found.action == "End" && found.flavours == "next-csid" && found.block_length == 32 &&
               found.node_length == 16;
      case RouteKind::kDecapsulate:
        return found.action == "End.DT6" && found.decapsulates_into == "local" &&
               hop.dev == port->name;
      case RouteKind::kBlackhole: return found.type == "blackhole";
      case RouteKind::kLocal: return found.type == "local";
    }
    return false;
  }

  // Packets to other racks that name no path may go by any uplink: by all that there are.
  void way_up() {
    if (!device_.by_any_uplink) return;
    const std::string to = to_string(*device_.by_any_uplink);
    known_.insert(to);
    std::set<FoundHop> hops;
    for (const FoundRoute& route : found_.routes) {
      if (route.to == to && !is_of_kernel(route)) hops.insert(route.hops.begin(), route.hops.end());
    }
    for (const DevicePort& port : device_.ports) {
      if (port.link.kind != LinkId::Kind::kUplink) continue;
      const FoundHop wanted{to_string(port.far_address), port.name};
      if (hops.erase(wanted) > 0) continue;
      add(Mistake::kNoUplink, fmt::format("{} also via {} dev {}", to, wanted.via, wanted.dev), "",
          fixer_.add_uplink(wanted));
    }
    for (const FoundHop& hop : hops) {
      add(Mistake::kWrongRoute, to + " by uplinks only",
          fmt::format("via {} dev {}", hop.via, hop.dev), fixer_.remove_uplink(hop));
    }
  }

  void stale_routes() {
    for (const FoundRoute& route : found_.routes) {
      const bool is_ours = is_usid(route.to) || is_inner(route.to);
      if (!is_ours || is_of_kernel(route) || known_.contains(route.to)) continue;
      const Mistake mistake = route.action.empty() ? Mistake::kStaleRoute : Mistake::kStaleSegment;
      add(mistake, route.to, fmt::format("no route to {}", route.to), route_text(route),
          fixer_.remove(route));
    }
  }

  void rule() {
    const FoundRule wanted{to_string(block_prefix(block_)), "udp", fmt::format("{}", kUsidTable)};
    if (std::ranges::find(found_.rules, wanted) != found_.rules.end()) return;
    const std::string line = iproute2_once_lines(device_, block_).front();
    add(Mistake::kNoRule, line.substr(line.find("to ")), "", "ip -6 " + line);
  }

  void settings() {
    const auto check = [&](const std::string& setting) {
      const std::size_t sign = setting.find('=');
      std::string name = setting.substr(0, sign);
      std::ranges::replace(name, '/', '.');
      const auto at = found_.settings.find(name);
      const std::string value = at == found_.settings.end() ? "unknown" : at->second;
      if (value == setting.substr(sign + 1)) return;
      add(Mistake::kSetting, setting, value, "sysctl -w " + setting);
    };
    for (const std::string& setting : kernel_settings(device_)) {
      if (setting.find("/default/") == std::string::npos) check(setting);
    }
    for (const DevicePort& port : device_.ports) {
      if (!found_.links.contains(port.name)) continue;
      for (const std::string& setting : kernel_port_settings(device_, port)) check(setting);
    }
  }

  // The kernel's own: an address of the device, or the network of a cable.
  static bool is_of_kernel(const FoundRoute& route) {
    return route.protocol == "kernel" && route.action.empty();
  }
  [[nodiscard]] bool is_usid(std::string_view text) const {
    return text.starts_with(fmt::format("{:x}:{:x}:", block_ >> 16, block_ & 0xffff));
  }
  // fd4d:5243:0:<plane>::, which is written fd4d:5243:: in plane 0.
  static bool is_inner(std::string_view text) {
    return text.starts_with("fd4d:5243:0:") || text.starts_with("fd4d:5243::");
  }

  const Device& device_;
  const Site& site_;
  std::uint32_t block_;
  const Found& found_;
  Fixer fixer_;
  std::set<std::string, std::less<>> known_{};  // prefixes that are planned
  std::vector<Finding> findings_{};
};

}  // namespace

std::string_view name_of(Mistake mistake) {
  return kMistakes[static_cast<std::size_t>(mistake)].name;
}

std::string_view name_of(Difference difference) {
  constexpr std::array<std::string_view, 3> kNames{"missing", "wrong", "extra"};
  return kNames[static_cast<std::size_t>(difference)];
}

Difference difference_of(Mistake mistake) {
  return kMistakes[static_cast<std::size_t>(mistake)].difference;
}

std::vector<std::string> settings_to_read(const Device& device) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& setting) {
    if (setting.find("/default/") != std::string::npos) return;
    names.push_back(setting.substr(0, setting.find('=')));
  };
  for (const std::string& setting : kernel_settings(device)) add(setting);
  for (const DevicePort& port : device.ports) {
    for (const std::string& setting : kernel_port_settings(device, port)) add(setting);
  }
  return names;
}

std::vector<Finding> verify_routes(const Device& device, EmitKind kind, std::uint32_t block,
                                   std::vector<FoundRoute> routes) {
  const Found found{.routes = std::move(routes)};
  return Verifier(device, Site{}, kind, block, found).run_routes();
}

std::vector<Finding> verify(const Device& device, const Site& site, EmitKind kind,
                            std::uint32_t block, const Found& found) {
  return Verifier(device, site, kind, block, found).run();
}

}  // namespace openmrc::fabric
