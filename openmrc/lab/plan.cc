// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "openmrc/fabric/usid_plan.h"
#include "openmrc/lab/files.h"
#include "openmrc/lab/plan_ipv4.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::Segment;
using fabric::SwitchId;
using fabric::Tier;
using Lines = std::vector<std::string>;

// A pair of interfaces in every switch that no cable depends on: a seg6local route needs one, and
// vanishes with it.
constexpr std::string_view kSegmentInterface = "sr0";
constexpr std::string_view kSegmentPeer = "sr1";

bool all(std::string_view /*interface*/) { return true; }

// fcbb:bb00:4000::
std::string usid_address(const Segment& segment) {
  const auto carrier =
      wire::UsidCarrier::of(fabric::kUsidBlockDefault, std::vector{usid_of(segment)});
  return to_string(carrier->address());
}
std::string block_prefix() {
  return to_string(wire::UsidCarrier::of(fabric::kUsidBlockDefault, {})->address()) + "/32";
}

bool is_ipv4(const Spec& spec) { return spec.ip == wire::IpVersion::kV4; }

std::string inner_address(const Spec& spec, HostIndex host, Plane plane) {
  return to_string(data_address(spec, host, plane));
}
// What the hosts of a rack have in common, and those of a plane.
std::string inner_rack(const Spec& spec, std::uint32_t rack, Plane plane) {
  auto address =
      fabric::UsidPlan(spec.fabric()).inner_address(spec.fabric().host_at(rack, 0), plane);
  address.set_group(7, 0);
  return to_string(address) + "/112";
}
std::string inner_plane(const Spec& spec, Plane plane) {
  auto address = fabric::UsidPlan(spec.fabric()).inner_address(HostIndex(0), plane);
  address.set_group(7, 0);
  return to_string(address) + "/64";
}

std::string link_line(const Spec& spec, std::string_view interface) {
  return fmt::format("link set dev {} mtu {} up", interface, spec.mtu);
}

// An end of a cable: up, with an address that means something on the cable only, and with the
// address of the other end, without neighbour discovery.
void add_end(const Spec& spec, const Cable& cable, bool upper, Lines& lines) {
  const End& own = upper ? cable.upper() : cable.lower();
  const End& other = upper ? cable.lower() : cable.upper();
  lines.push_back(link_line(spec, own.interface));
  lines.push_back(fmt::format("address replace {}/64 dev {} nodad",
                              upper ? kUpperAddress : kLowerAddress, own.interface));
  lines.push_back(fmt::format("neighbour replace {} lladdr {} dev {} nud permanent",
                              upper ? kLowerAddress : kUpperAddress, other.mac, own.interface));
}

std::string route(const std::string& prefix, std::string_view via, std::string_view interface) {
  return fmt::format("route replace {} via {} dev {}", prefix, via, interface);
}

void add_host_port(const Spec& spec, HostIndex host, Plane plane, Lines& lines) {
  if (is_ipv4(spec)) return ipv4::add_host_port(spec, host, plane, lines);
  const fabric::Fabric fabric = spec.fabric();
  const std::string interface = name_of(plane);
  const std::string address = inner_address(spec, host, plane);
  add_end(spec, cable_of(spec, fabric.host_link(host, plane)), false, lines);
  lines.push_back(fmt::format("address replace {}/128 dev {} nodad", address, interface));
  lines.push_back(route(inner_plane(spec, plane), kUpperAddress, interface) + " src " + address);
  const Segment t0{Segment::Kind::kT0, plane, fabric.rack_of(host)};
  lines.push_back(route(usid_address(t0) + "/48", kUpperAddress, interface) + " src " + address);
  const Segment self{Segment::Kind::kHost, plane, fabric.downlink_of(host)};
  lines.push_back(
      fmt::format("route replace {}/48 encap seg6local action End.DT6 table local dev {}",
                  usid_address(self), interface));
}

void add_t0_downlink(const Spec& spec, const SwitchId& t0, std::uint32_t downlink, Lines& lines) {
  if (is_ipv4(spec)) return ipv4::add_t0_downlink(spec, t0, downlink, lines);
  const Cable cable = cable_of(spec, {LinkId::Kind::kHost, t0.plane, t0.index, downlink});
  add_end(spec, cable, true, lines);
  const std::string& interface = cable.t0.interface;
  const Segment host{Segment::Kind::kHost, t0.plane, downlink};
  lines.push_back(route(usid_address(host) + "/48", kLowerAddress, interface));
  lines.push_back(
      route(inner_address(spec, spec.fabric().host_at(t0.index, downlink), t0.plane) + "/128",
            kLowerAddress, interface));
}

void add_t0_uplink(const Spec& spec, const SwitchId& t0, std::uint32_t uplink, Lines& lines) {
  if (is_ipv4(spec)) return ipv4::add_t0_uplink(spec, t0, uplink, lines);
  const Cable cable = cable_of(spec, {LinkId::Kind::kUplink, t0.plane, t0.index, uplink});
  add_end(spec, cable, false, lines);
  const Segment t1{Segment::Kind::kT1, t0.plane, uplink};
  lines.push_back(route(usid_address(t1) + "/48", kUpperAddress, cable.t0.interface));
}

// Ordinary packets to other racks go by any uplink.
void add_t0_way_up(const Spec& spec, const SwitchId& t0, const InterfaceTest& is_up, Lines& lines) {
  if (is_ipv4(spec)) return ipv4::add_t0_way_up(spec, t0, is_up, lines);
  std::string ways;
  for (std::uint32_t i = 0; i < spec.shape.uplinks; ++i) {
    const std::string interface = fmt::format("up{}", i);
    if (is_up(interface)) ways += fmt::format(" nexthop via {} dev {}", kUpperAddress, interface);
  }
  if (!ways.empty()) lines.push_back("route replace " + inner_plane(spec, t0.plane) + ways);
}

void add_t1_downlink(const Spec& spec, const SwitchId& t1, std::uint32_t rack, Lines& lines) {
  if (is_ipv4(spec)) return ipv4::add_t1_downlink(spec, t1, rack, lines);
  const Cable cable = cable_of(spec, {LinkId::Kind::kUplink, t1.plane, rack, t1.index});
  add_end(spec, cable, true, lines);
  const std::string& interface = cable.far.interface;
  const Segment t0{Segment::Kind::kT0, t1.plane, rack};
  lines.push_back(route(usid_address(t0) + "/48", kLowerAddress, interface));
  lines.push_back(route(inner_rack(spec, rack, t1.plane), kLowerAddress, interface));
}

// What every interface of a cable has from the beginning and keeps.
void add_interface(const Spec& spec, const std::string& interface, Lines& lines) {
  if (!is_ipv4(spec)) lines.push_back(fmt::format("link set dev {} addrgenmode none", interface));
  // With a rate, or a switch that looks at every packet, each is a frame of its own.
  if (spec.bits_per_second || spec.switches == Switches::kSoft) {
    lines.push_back(fmt::format("link set dev {} gso_max_segs 1", interface));
  }
}

// UDP by its number, because a bare system has no /etc/protocols.
Lines host_base_lines(const Spec& spec, HostIndex host) {
  Lines lines{"link set dev lo up", fmt::format("link set dev {} up", kManagementInterface)};
  if (!is_ipv4(spec)) {
    lines.push_back(fmt::format("address replace {}/64 dev {} nodad", management_ipv6_address(host),
                                kManagementInterface));
    lines.push_back(
        fmt::format("rule add pref 100 to {} ipproto 17 lookup {}", block_prefix(), kUsidTable));
  }
  for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
    add_interface(spec, name_of(plane_at(plane)), lines);
    if (is_ipv4(spec)) continue;
    const Segment self{Segment::Kind::kHost, plane_at(plane), spec.fabric().downlink_of(host)};
    lines.push_back(
        fmt::format("route replace local {}/128 dev lo table {}", usid_address(self), kUsidTable));
  }
  return lines;
}

Lines interfaces_of(const Spec& spec, const SwitchId& id) {
  Lines interfaces;
  for (const LinkId& link : links_of(spec.fabric(), id)) {
    const Cable cable = cable_of(spec, link);
    interfaces.push_back(id.tier == Tier::kT0 ? cable.t0.interface : cable.far.interface);
  }
  return interfaces;
}

Lines switch_base_lines(const Spec& spec, const SwitchId& id) {
  Lines lines{"link set dev lo up"};
  for (const std::string& interface : interfaces_of(spec, id)) {
    add_interface(spec, interface, lines);
  }
  if (spec.switches == Switches::kSoft) return lines;
  if (is_ipv4(spec)) {
    std::ranges::move(ipv4::blackholes(id), std::back_inserter(lines));
    return lines;
  }
  const Segment own{id.tier == Tier::kT0 ? Segment::Kind::kT0 : Segment::Kind::kT1, id.plane,
                    id.index};
  lines.insert(lines.end(),
               {fmt::format("link add {} type veth peer name {}", kSegmentInterface, kSegmentPeer),
                fmt::format("link set dev {} up", kSegmentInterface),
                fmt::format("link set dev {} up", kSegmentPeer),
                fmt::format("route replace {}/48 encap seg6local action End flavors next-csid "
                            "lblen 32 nflen 16 dev {}",
                            usid_address(own), kSegmentInterface),
                // A switch says nothing of what it cannot forward.
                "route replace blackhole ::/0"});
  if (id.tier == Tier::kT0) {
    lines.push_back("route replace blackhole " + inner_rack(spec, id.index, id.plane));
  }
  return lines;
}

Step sysctl(const std::string& space, const Lines& settings) {
  Step step{{"ip", "netns", "exec", space, "sysctl", "-q", "-w"}, {}};
  step.arguments.insert(step.arguments.end(), settings.begin(), settings.end());
  return step;
}

// Interfaces take `default` over when they are made, so this comes before them.
Stage sysctl_stage(const Spec& spec) {
  Lines on_hosts{
      "net.ipv6.conf.all.seg6_enabled=1",      "net.ipv6.conf.default.seg6_enabled=1",
      "net.ipv6.conf.all.accept_dad=0",        "net.ipv6.conf.default.accept_dad=0",
      "net.ipv6.conf.all.keep_addr_on_down=1", "net.ipv6.conf.default.keep_addr_on_down=1",
      "net.ipv6.conf.default.accept_ra=0"};
  Lines on_switches = on_hosts;
  if (is_ipv4(spec)) {
    on_hosts = ipv4::host_settings();
    on_switches = ipv4::switch_settings();
  } else if (spec.switches == Switches::kSoft) {
    on_switches = {"net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"};
  } else {
    on_switches.insert(on_switches.end(), {"net.ipv6.conf.all.forwarding=1",
                                           // By source and destination ports, as switches do; past
                                           // uplinks without carrier.
                                           "net.ipv6.fib_multipath_hash_policy=1",
                                           "net.ipv6.conf.all.ignore_routes_with_linkdown=1",
                                           "net.ipv6.conf.default.ignore_routes_with_linkdown=1"});
  }
  Stage stage;
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    stage.push_back(sysctl(space_of(spec.name, HostIndex(i)), on_hosts));
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    stage.push_back(sysctl(space_of(spec.name, id), on_switches));
  }
  if (is_ipv4(spec)) {
    stage.push_back(sysctl(management_space(spec.name), ipv4::host_settings()));
  }
  return stage;
}

Stage space_stage(const Spec& spec) {
  Lines lines{"netns add " + management_space(spec.name)};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back("netns add " + space_of(spec.name, HostIndex(i)));
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    lines.push_back("netns add " + space_of(spec.name, id));
  }
  return {{{"ip", "-batch", "-"}, lines}};
}

std::string veth_end(const Spec& spec, const End& end) {
  return fmt::format("name {} index {} address {} mtu {} netns {}", end.interface, end.index,
                     end.mac, spec.mtu, end.space);
}

Stage cable_stage(const Spec& spec) {
  Lines lines;
  for (const LinkId& link : all_links(spec.fabric())) {
    const Cable cable = cable_of(spec, link);
    lines.push_back(fmt::format("link add {} type veth peer {}", veth_end(spec, cable.far),
                                veth_end(spec, cable.t0)));
  }
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back(
        fmt::format("link add name {} index 50 netns {} type veth peer name h{} index {} netns {}",
                    kManagementInterface, space_of(spec.name, HostIndex(i)), i, 100 + i,
                    management_space(spec.name)));
  }
  return {{{"ip", "-batch", "-"}, lines}};
}

Lines management_lines(const Spec& spec) {
  Lines lines{"link add br0 type bridge", "link set dev br0 up"};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back(fmt::format("link set dev h{} master br0 up", i));
  }
  return lines;
}

Stage node_stage(const Spec& spec) {
  Stage stage{in_space(spec, management_space(spec.name), management_lines(spec))};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    const HostIndex host(i);
    Lines lines = host_base_lines(spec, host);
    std::ranges::move(host_lines(spec, host, all), std::back_inserter(lines));
    stage.push_back(in_space(spec, space_of(spec.name, host), std::move(lines)));
    stage.push_back(
        {{"ip", "-n", space_of(spec.name, host), "address", "replace",
          management_ipv4_address(host) + "/16", "dev", std::string(kManagementInterface)},
         {}});
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    Lines lines = switch_base_lines(spec, id);
    std::ranges::move(switch_lines(spec, id, all, all), std::back_inserter(lines));
    stage.push_back(in_space(spec, space_of(spec.name, id), std::move(lines)));
  }
  return stage;
}

// How much may wait behind a port. A switch drops what it has no room for; a host's own port does
// not, it makes the sender wait.
std::int64_t queue_of_switch(std::int64_t bits_per_second) {
  constexpr std::int64_t kBytesMin = 128 * 1024;  // the windows of two senders
  return std::max(kBytesMin, bits_per_second / 8 * 3 / 1000);
}
std::int64_t queue_of_host(std::int64_t bits_per_second) {
  return std::max(queue_of_switch(bits_per_second), bits_per_second / 8 * 50 / 1000);
}

// A token bucket: bursts as short as timers allow, and a queue behind it.
std::string shaper(const Spec& spec, std::string_view interface, std::int64_t queue) {
  constexpr std::int64_t kBurstsPerSecond = 4000;
  const std::int64_t bits = *spec.bits_per_second;
  const std::int64_t two_frames = 2 * (std::int64_t{spec.mtu} + 14);
  const std::int64_t burst = std::max(two_frames, bits / 8 / kBurstsPerSecond);
  return fmt::format("qdisc replace dev {} root tbf rate {}bit burst {} limit {}", interface, bits,
                     burst, queue);
}

// A soft switch keeps the rate of its own ports.
Stage rate_stage(const Spec& spec) {
  Stage stage;
  const auto add = [&](const std::string& space, const Lines& interfaces, std::int64_t queue) {
    Step step{{"tc", "-n", space, "-batch", "-"}, {}};
    for (const std::string& interface : interfaces) {
      step.input.push_back(shaper(spec, interface, queue));
    }
    stage.push_back(std::move(step));
  };
  Lines ports;
  for (std::uint32_t i = 0; i < spec.shape.planes; ++i) ports.push_back(name_of(plane_at(i)));
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    add(space_of(spec.name, HostIndex(i)), ports, queue_of_host(*spec.bits_per_second));
  }
  if (spec.switches == Switches::kSoft) return stage;
  for (const SwitchId& id : all_switches(spec.fabric())) {
    add(space_of(spec.name, id), interfaces_of(spec, id), queue_of_switch(*spec.bits_per_second));
  }
  return stage;
}

}  // namespace

Step in_space(const Spec& spec, const std::string& space, std::vector<std::string> lines) {
  return {{"ip", is_ipv4(spec) ? "-4" : "-6", "-n", space, "-batch", "-"}, std::move(lines)};
}

std::vector<std::string> host_lines(const Spec& spec, HostIndex host, const InterfaceTest& wanted) {
  Lines lines;
  for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
    if (wanted(name_of(plane_at(plane)))) add_host_port(spec, host, plane_at(plane), lines);
  }
  return lines;
}

std::vector<std::string> switch_lines(const Spec& spec, const SwitchId& id,
                                      const InterfaceTest& wanted, const InterfaceTest& is_up) {
  Lines lines;
  bool any_uplink = false;
  for (const LinkId& link : links_of(spec.fabric(), id)) {
    const Cable cable = cable_of(spec, link);
    const bool uplink = link.kind == LinkId::Kind::kUplink;
    const std::string& interface = id.tier == Tier::kT0 ? cable.t0.interface : cable.far.interface;
    if (!wanted(interface)) continue;
    if (spec.switches == Switches::kSoft) {
      lines.push_back(link_line(spec, interface));
    } else if (id.tier == Tier::kT1) {
      add_t1_downlink(spec, id, link.rack, lines);
    } else if (uplink) {
      add_t0_uplink(spec, id, link.port, lines);
      any_uplink = true;
    } else {
      add_t0_downlink(spec, id, link.port, lines);
    }
  }
  if (any_uplink) add_t0_way_up(spec, id, is_up, lines);
  return lines;
}

Plan plan_of(const Spec& spec) {
  Plan plan{.stages = {space_stage(spec), sysctl_stage(spec), cable_stage(spec), node_stage(spec)},
            .files = files_of(spec)};
  if (spec.bits_per_second) plan.stages.push_back(rate_stage(spec));
  return plan;
}

}  // namespace openmrc::lab
