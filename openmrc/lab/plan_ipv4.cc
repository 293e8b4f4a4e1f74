// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/plan_ipv4.h"

#include <fmt/format.h>

#include "openmrc/wire/field/ip_address.h"

namespace openmrc::lab::ipv4 {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;
using Lines = std::vector<std::string>;

// What routes call the other end of a cable. Nobody has this address: an entry in the table of
// neighbours gives its MAC address, so that no end of a cable needs one.
constexpr std::string_view kOtherEnd = "169.254.0.1";

std::string plane_prefix(Plane plane) { return fmt::format("10.{}.0.0/16", plane.raw()); }
std::string rack_prefix(Plane plane, std::uint32_t rack) {
  return fmt::format("10.{}.{}.0/24", plane.raw(), rack);
}

void add_end(const Spec& spec, const End& own, const End& other, Lines& lines) {
  lines.push_back(fmt::format("link set dev {} mtu {} up", own.interface, spec.mtu));
  lines.push_back(fmt::format("neighbour replace {} lladdr {} dev {} nud permanent", kOtherEnd,
                              other.mac, own.interface));
}

std::string way(std::string_view interface) {
  return fmt::format("via {} dev {} onlink", kOtherEnd, interface);
}
std::string route(const std::string& prefix, std::string_view interface) {
  return fmt::format("route replace {} {}", prefix, way(interface));
}

void add_t0_downlink(const Spec& spec, const SwitchId& t0, std::uint32_t downlink, Lines& lines) {
  const Cable cable = cable_of(spec, {LinkId::Kind::kHost, t0.plane, t0.index, downlink});
  const HostIndex host = spec.fabric().host_at(t0.index, downlink);
  add_end(spec, cable.t0, cable.far, lines);
  lines.push_back(route(to_string(data_address(spec, host, t0.plane)) + "/32", cable.t0.interface));
}

void add_t0_uplink(const Spec& spec, const SwitchId& t0, std::uint32_t uplink, Lines& lines) {
  const Cable cable = cable_of(spec, {LinkId::Kind::kUplink, t0.plane, t0.index, uplink});
  add_end(spec, cable.t0, cable.far, lines);
}

void add_t0_way_up(const Spec& spec, const SwitchId& t0, const InterfaceTest& is_up, Lines& lines) {
  std::string ways;
  for (std::uint32_t i = 0; i < spec.shape.uplinks; ++i) {
    const std::string interface = fmt::format("up{}", i);
    if (is_up(interface)) ways += " nexthop " + way(interface);
  }
  if (!ways.empty()) lines.push_back("route replace " + plane_prefix(t0.plane) + ways);
}

void add_t1_downlink(const Spec& spec, const SwitchId& t1, std::uint32_t rack, Lines& lines) {
  const Cable cable = cable_of(spec, {LinkId::Kind::kUplink, t1.plane, rack, t1.index});
  add_end(spec, cable.far, cable.t0, lines);
  lines.push_back(route(rack_prefix(t1.plane, rack), cable.far.interface));
}

}  // namespace

void add_host_port(const Spec& spec, HostIndex host, Plane plane, Lines& lines) {
  const Cable cable = cable_of(spec, spec.fabric().host_link(host, plane));
  const std::string address = to_string(data_address(spec, host, plane));
  add_end(spec, cable.far, cable.t0, lines);
  lines.push_back(fmt::format("address replace {}/32 dev {}", address, cable.far.interface));
  lines.push_back(route(plane_prefix(plane), cable.far.interface) + " src " + address);
}

Lines switch_lines(const Spec& spec, const SwitchId& id, const InterfaceTest& wanted,
                   const InterfaceTest& is_up) {
  Lines lines;
  bool any_uplink = false;
  for (const LinkId& link : links_of(spec.fabric(), id)) {
    const Cable cable = cable_of(spec, link);
    if (!wanted(id.tier == Tier::kT0 ? cable.t0.interface : cable.far.interface)) continue;
    if (id.tier == Tier::kT1) {
      add_t1_downlink(spec, id, link.rack, lines);
    } else if (link.kind == LinkId::Kind::kUplink) {
      add_t0_uplink(spec, id, link.port, lines);
      any_uplink = true;
    } else {
      add_t0_downlink(spec, id, link.port, lines);
    }
  }
  if (any_uplink) add_t0_way_up(spec, id, is_up, lines);
  return lines;
}

Lines blackholes(const SwitchId& id) {
  Lines lines{"route replace blackhole default"};
  if (id.tier == Tier::kT0) {
    lines.push_back("route replace blackhole " + rack_prefix(id.plane, id.index));
  }
  return lines;
}

Lines host_settings() {
  // Unknown keys are skipped: a kernel without IPv6 has none to disable.
  return {"-e", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1",
          "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"};
}

Lines switch_settings() {
  Lines settings = host_settings();
  settings.insert(settings.end(), {"net.ipv4.conf.all.forwarding=1",
                                   // By source and destination ports, as switches do; past uplinks
                                   // without carrier.
                                   "net.ipv4.fib_multipath_hash_policy=1",
                                   "net.ipv4.conf.all.ignore_routes_with_linkdown=1",
                                   "net.ipv4.conf.default.ignore_routes_with_linkdown=1"});
  return settings;
}

}  // namespace openmrc::lab::ipv4
