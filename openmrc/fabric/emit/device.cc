// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/device.h"

#include <fmt/format.h>

#include <array>

#include "openmrc/fabric/names.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::fabric {
namespace {

constexpr std::string_view kMacFormat = "02:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}";

Plane plane_numbered(std::uint32_t number) { return Plane(static_cast<std::uint8_t>(number)); }

// What all routes and ports of one device are made from.
class Maker {
 public:
  Maker(const UsidPlan& plan, const Site& site, EmitKind kind)
      : plan_(plan), site_(site), kind_(kind) {}

  [[nodiscard]] Device make(const SwitchId& id) const;
  [[nodiscard]] Device make(HostIndex host) const;

 private:
  [[nodiscard]] DevicePort port(const LinkId& link, CableEnd end) const;
  [[nodiscard]] DevicePort host_port(HostIndex host, Plane plane) const;
  [[nodiscard]] DevicePort t0_downlink(const SwitchId& t0, std::uint32_t downlink) const;
  [[nodiscard]] DevicePort t0_uplink(const SwitchId& t0, std::uint32_t uplink) const;
  [[nodiscard]] DevicePort t1_downlink(const SwitchId& t1, std::uint32_t rack) const;

  [[nodiscard]] std::string mac(const LinkId& link, CableEnd end) const;
  [[nodiscard]] std::string device_name(const LinkId& link, CableEnd end) const;
  [[nodiscard]] std::string port_name(const LinkId& link, CableEnd end) const;
  [[nodiscard]] static SwitchId switch_at(const LinkId& link, CableEnd end);

  [[nodiscard]] Ipv6Prefix usid(Segment::Kind kind, Plane plane, std::uint32_t index) const {
    return usid_prefix(plan_.block(), {kind, plane, index});
  }
  [[nodiscard]] Ipv6Prefix inner(HostIndex host, Plane plane, std::uint8_t length) const {
    Ipv6Prefix prefix{plan_.inner_address(host, plane), length};
    if (length <= 112) prefix.address.set_group(7, 0);
    if (length <= 64) {
      for (const std::size_t group : {4U, 5U, 6U}) prefix.address.set_group(group, 0);
    }
    return prefix;
  }
  [[nodiscard]] Ipv6Prefix inner_rack(std::uint32_t rack, Plane plane) const {
    return inner(plan_.fabric().host_at(rack, 0), plane, 112);
  }
  [[nodiscard]] Ipv6Prefix inner_plane(Plane plane) const { return inner(HostIndex(0), plane, 64); }

  const UsidPlan& plan_;
  const Site& site_;
  EmitKind kind_;
};

SwitchId Maker::switch_at(const LinkId& link, CableEnd end) {
  const bool is_t1 = link.kind == LinkId::Kind::kUplink && end == CableEnd::kUpper;
  return {.plane = link.plane,
          .tier = is_t1 ? Tier::kT1 : Tier::kT0,
          .index = is_t1 ? link.port : link.rack};
}

std::string Maker::mac(const LinkId& link, CableEnd end) const {
  if (site_.neighbours == Neighbours::kDiscovered) return "";
  const bool is_host_end = link.kind == LinkId::Kind::kHost && end == CableEnd::kLower;
  if (kind_ == EmitKind::kSonic && !is_host_end) return mac_of(switch_at(link, end));
  return mac_of(link, end);
}

std::string Maker::device_name(const LinkId& link, CableEnd end) const {
  if (link.kind == LinkId::Kind::kHost && end == CableEnd::kLower) {
    return name_of(plan_.fabric().host_at(link.rack, link.port));
  }
  return name_of(switch_at(link, end));
}

std::string Maker::port_name(const LinkId& link, CableEnd end) const {
  if (link.kind == LinkId::Kind::kUplink) {
    return end == CableEnd::kLower ? site_.t0_uplinks.of(link.port)
                                   : site_.t1_downlinks.of(link.rack);
  }
  return end == CableEnd::kLower ? site_.host_ports.of(link.plane.raw())
                                 : site_.t0_downlinks.of(link.port);
}

DevicePort Maker::port(const LinkId& link, CableEnd end) const {
  const CableEnd far = other(end);
  return {.link = link,
          .end = end,
          .name = port_name(link, end),
          .far_device = device_name(link, far),
          .far_port = port_name(link, far),
          .mac = mac(link, end),
          .far_mac = mac(link, far),
          .address = {link_address(link, end, site_.link_addresses),
                      link_prefix_length(site_.link_addresses)},
          .far_address = link_address(link, far, site_.link_addresses)};
}

DevicePort Maker::host_port(HostIndex host, Plane plane) const {
  const Fabric& fabric = plan_.fabric();
  DevicePort made = port(fabric.host_link(host, plane), CableEnd::kLower);
  const wire::Ipv6Address own = plan_.inner_address(host, plane);
  made.own_address = Ipv6Prefix{own, 128};
  made.routes = {{.to = inner_plane(plane), .source = own},
                 {.to = usid(Segment::Kind::kT0, plane, fabric.rack_of(host)), .source = own},
                 {.to = usid(Segment::Kind::kHost, plane, fabric.downlink_of(host)),
                  .kind = DeviceRoute::Kind::kDecapsulate}};
  return made;
}

DevicePort Maker::t0_downlink(const SwitchId& t0, std::uint32_t downlink) const {
  DevicePort made = port({LinkId::Kind::kHost, t0.plane, t0.index, downlink}, CableEnd::kUpper);
  made.routes = {{.to = usid(Segment::Kind::kHost, t0.plane, downlink)}};
  if (site_.inner_routes) {
    made.routes.push_back({.to = inner(plan_.fabric().host_at(t0.index, downlink), t0.plane, 128)});
  }
  return made;
}

DevicePort Maker::t0_uplink(const SwitchId& t0, std::uint32_t uplink) const {
  DevicePort made = port({LinkId::Kind::kUplink, t0.plane, t0.index, uplink}, CableEnd::kLower);
  made.routes = {{.to = usid(Segment::Kind::kT1, t0.plane, uplink)}};
  return made;
}

DevicePort Maker::t1_downlink(const SwitchId& t1, std::uint32_t rack) const {
  DevicePort made = port({LinkId::Kind::kUplink, t1.plane, rack, t1.index}, CableEnd::kUpper);
  made.routes = {{.to = usid(Segment::Kind::kT0, t1.plane, rack)}};
  if (site_.inner_routes) made.routes.push_back({.to = inner_rack(rack, t1.plane)});
  return made;
}

Device Maker::make(const SwitchId& id) const {
  const Shape& shape = plan_.fabric().shape();
  const bool is_t0 = id.tier == Tier::kT0;
  Device device{.id = id, .name = name_of(id)};
  device.routes.push_back(
      {.to = usid(is_t0 ? Segment::Kind::kT0 : Segment::Kind::kT1, id.plane, id.index),
       .kind = DeviceRoute::Kind::kEnd});
  // A switch says nothing of what it cannot forward. The default route may be the way to manage it,
  // where the fabric is not alone in its routing table.
  const bool is_alone = kind_ <= EmitKind::kFrr84 || kind_ == EmitKind::kContainerlab;
  device.routes.push_back({.to = is_alone ? Ipv6Prefix{{}, 0} : block_prefix(plan_.block()),
                           .kind = DeviceRoute::Kind::kBlackhole});
  if (!is_t0) {
    for (std::uint32_t i = 0; i < shape.racks; ++i) device.ports.push_back(t1_downlink(id, i));
    return device;
  }
  for (std::uint32_t i = 0; i < shape.hosts_per_rack; ++i) {
    device.ports.push_back(t0_downlink(id, i));
  }
  for (std::uint32_t i = 0; i < shape.uplinks; ++i) device.ports.push_back(t0_uplink(id, i));
  if (!site_.inner_routes) return device;
  device.routes.push_back(
      {.to = inner_rack(id.index, id.plane), .kind = DeviceRoute::Kind::kBlackhole});
  if (shape.uplinks > 0) device.by_any_uplink = inner_plane(id.plane);
  return device;
}

Device Maker::make(HostIndex host) const {
  Device device{.id = host, .name = name_of(host)};
  for (std::uint32_t i = 0; i < plan_.fabric().shape().planes; ++i) {
    const Plane plane = plane_numbered(i);
    device.ports.push_back(host_port(host, plane));
    Ipv6Prefix own = usid(Segment::Kind::kHost, plane, plan_.fabric().downlink_of(host));
    own.length = 128;
    device.routes.push_back({.to = own, .kind = DeviceRoute::Kind::kLocal});
  }
  return device;
}

}  // namespace

std::string to_string(const Ipv6Prefix& prefix) {
  return fmt::format("{}/{}", to_string(prefix.address), prefix.length);
}

std::string mac_of(const LinkId& link, CableEnd end) {
  const unsigned kind = link.kind == LinkId::Kind::kHost ? 0 : 4;
  const unsigned place =
      unsigned{link.plane.raw()} << 4 | kind | (end == CableEnd::kUpper ? 1U : 0U);
  return fmt::format(kMacFormat, place, link.rack >> 8, link.rack & 0xff, link.port >> 8,
                     link.port & 0xff);
}

std::string mac_of(const SwitchId& id) {
  const unsigned tier = id.tier == Tier::kT0 ? 8 : 9;
  return fmt::format(kMacFormat, unsigned{id.plane.raw()} << 4 | tier, 0, 0, id.index >> 8,
                     id.index & 0xff);
}

wire::Ipv6Address link_address(const LinkId& link, CableEnd end, LinkAddresses addresses) {
  const bool upper = end == CableEnd::kUpper;
  if (addresses == LinkAddresses::kLinkLocal) {
    return wire::Ipv6Address::of(
        {0xfe80, 0, 0, 0, 0, 0, 0, static_cast<std::uint16_t>(upper ? 1 : 2)});
  }
  const auto narrow = [](auto number) { return static_cast<std::uint16_t>(number); };
  return wire::Ipv6Address::of({0xfd4d, 0x5243, 0xf, narrow(link.plane.raw()),
                                narrow(link.kind == LinkId::Kind::kHost ? 0 : 1), narrow(link.rack),
                                narrow(link.port), narrow(upper ? 1 : 0)});
}

Ipv6Prefix usid_prefix(std::uint32_t block, const Segment& segment) {
  const std::array usids{usid_of(segment)};
  return {wire::UsidCarrier::of(block, usids)->address(), 48};
}

Ipv6Prefix block_prefix(std::uint32_t block) {
  return {wire::UsidCarrier::of(block, {})->address(), 32};
}

Device device_of(const UsidPlan& plan, const Site& site, EmitKind kind, const SwitchId& id) {
  return Maker(plan, site, kind).make(id);
}
Device device_of(const UsidPlan& plan, const Site& site, EmitKind kind, HostIndex host) {
  return Maker(plan, site, kind).make(host);
}

std::vector<SwitchId> all_switches(const Fabric& fabric) {
  const Shape& shape = fabric.shape();
  std::vector<SwitchId> all;
  for (std::uint32_t i = 0; i < shape.planes; ++i) {
    const Plane plane = plane_numbered(i);
    for (std::uint32_t t0 = 0; t0 < shape.racks; ++t0) all.push_back({plane, Tier::kT0, t0});
    for (std::uint32_t t1 = 0; t1 < shape.uplinks; ++t1) all.push_back({plane, Tier::kT1, t1});
  }
  return all;
}

}  // namespace openmrc::fabric
