// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/layout.h"

#include <fmt/format.h>

#include <variant>

namespace openmrc::lab {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::HostIndex;
using fabric::LinkId;
using fabric::Shape;
using fabric::SwitchId;
using fabric::Tier;

// Numbers of interfaces, far enough apart for any lab.
constexpr std::uint32_t kHostPortFirst = 100;
constexpr std::uint32_t kDownlinkFirst = 1000;  // of a T0
constexpr std::uint32_t kUplinkFirst = 2000;    // of a T0
constexpr std::uint32_t kRackFirst = 3000;      // of a T1

std::string space_named(std::string_view lab, std::string_view node) {
  return space_prefix(lab) + std::string(node);
}

void add_links(const Fabric& fabric, Plane plane, std::vector<LinkId>& links) {
  const Shape& shape = fabric.shape();
  for (std::uint32_t rack = 0; rack < shape.racks; ++rack) {
    for (std::uint32_t i = 0; i < shape.hosts_per_rack; ++i) {
      links.push_back({LinkId::Kind::kHost, plane, rack, i});
    }
    for (std::uint32_t i = 0; i < shape.uplinks; ++i) {
      links.push_back({LinkId::Kind::kUplink, plane, rack, i});
    }
  }
}

bool fails_with(const Fabric& /*fabric*/, const LinkId& link, Plane plane) {
  return link.plane == plane;
}
bool fails_with(const Fabric& fabric, const LinkId& link, HostIndex host) {
  return link == fabric.host_link(host, link.plane);
}
bool fails_with(const Fabric& /*fabric*/, const LinkId& link, const SwitchId& id) {
  if (link.plane != id.plane) return false;
  if (id.tier == Tier::kT0) return link.rack == id.index;
  return link.kind == LinkId::Kind::kUplink && link.port == id.index;
}
bool fails_with(const Fabric& /*fabric*/, const LinkId& link, const LinkId& other) {
  return link == other;
}

}  // namespace

std::string space_prefix(std::string_view lab) { return fmt::format("mrc-{}-", lab); }
std::string space_of(std::string_view lab, HostIndex host) {
  return space_named(lab, name_of(host));
}
std::string space_of(std::string_view lab, const SwitchId& id) {
  return space_named(lab, name_of(id));
}
std::string management_space(std::string_view lab) {
  return space_named(lab, kManagementInterface);
}

Cable cable_of(const Spec& spec, const LinkId& link) {
  const SwitchId t0{.plane = link.plane, .tier = Tier::kT0, .index = link.rack};
  Cable cable{.link = link};
  cable.t0.space = space_of(spec.name, t0);
  if (link.kind == LinkId::Kind::kHost) {
    cable.t0_is_upper = true;
    cable.t0.interface = fmt::format("down{}", link.port);
    cable.t0.index = kDownlinkFirst + link.port;
    cable.far.space = space_of(spec.name, spec.fabric().host_at(link.rack, link.port));
    cable.far.interface = name_of(link.plane);
    cable.far.index = kHostPortFirst + link.plane.raw();
  } else {
    const SwitchId t1{.plane = link.plane, .tier = Tier::kT1, .index = link.port};
    cable.t0.interface = fmt::format("up{}", link.port);
    cable.t0.index = kUplinkFirst + link.port;
    cable.far.space = space_of(spec.name, t1);
    cable.far.interface = fmt::format("down{}", link.rack);
    cable.far.index = kRackFirst + link.rack;
  }
  const auto t0_end = cable.t0_is_upper ? fabric::CableEnd::kUpper : fabric::CableEnd::kLower;
  cable.t0.mac = mac_of(link, t0_end);
  cable.far.mac = mac_of(link, other(t0_end));
  return cable;
}

std::vector<LinkId> all_links(const Fabric& fabric) {
  std::vector<LinkId> links;
  for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
    add_links(fabric, plane_at(plane), links);
  }
  return links;
}

std::vector<LinkId> links_of(const Fabric& fabric, const Element& element) {
  std::vector<LinkId> links = all_links(fabric);
  std::erase_if(links, [&](const LinkId& link) {
    return !std::visit([&](const auto& it) { return fails_with(fabric, link, it); }, element);
  });
  return links;
}

std::string management_ipv6_address(HostIndex host) {
  return fmt::format("fd4d:5243:ffff::{:x}", host.raw() + 1);
}
std::string management_ipv4_address(HostIndex host) {
  static_assert(kNodesMax < 0xffff);
  return fmt::format("10.255.{}.{}", (host.raw() + 1) >> 8, (host.raw() + 1) & 0xff);
}

std::string management_address(const Spec& spec, HostIndex host) {
  return spec.ip == wire::IpVersion::kV4 ? management_ipv4_address(host)
                                         : management_ipv6_address(host);
}

wire::Ipv6Address data_address(const Spec& spec, HostIndex host, Plane plane) {
  const Fabric fabric = spec.fabric();
  if (spec.ip == wire::IpVersion::kV6) return fabric::UsidPlan(fabric).inner_address(host, plane);
  static_assert(kNodesMax <= 256, "racks, and hosts of a rack, have eight bits");
  return wire::mapped(wire::Ipv4Address(10U << 24 | std::uint32_t{plane.raw()} << 16 |
                                        fabric.rack_of(host) << 8 |
                                        (fabric.downlink_of(host) + 1)));
}

std::filesystem::path labs_folder() { return "/run/openmrc/labs"; }
std::filesystem::path folder_of(std::string_view lab) { return labs_folder() / lab; }
std::filesystem::path spec_file(std::string_view lab) { return folder_of(lab) / "lab.json"; }
std::filesystem::path config_file(std::string_view lab, HostIndex host) {
  return folder_of(lab) / name_of(host) / "openmrc.toml";
}
std::filesystem::path spaces_folder() { return "/etc/netns"; }
std::filesystem::path hosts_file(std::string_view space) {
  return spaces_folder() / space / "hosts";
}

}  // namespace openmrc::lab
