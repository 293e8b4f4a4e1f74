// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/names.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/lab/spec.h"

// Where the parts of a lab are: namespaces, interfaces, addresses and files.
namespace openmrc::lab {

using fabric::all_switches;
using fabric::name_of;

inline Plane plane_at(std::uint32_t number) { return Plane(static_cast<std::uint8_t>(number)); }

// Namespaces are called mrc-<lab>-<host or switch>.
std::string space_prefix(std::string_view lab);
std::string space_of(std::string_view lab, fabric::HostIndex host);
std::string space_of(std::string_view lab, const fabric::SwitchId& id);
std::string management_space(std::string_view lab);

// One end of a cable. The number of the interface is chosen so that it never equals that of the
// other end: if it does, Linux takes up to a second to report a lost carrier.
struct End {
  std::string space{};
  std::string interface{};
  std::uint32_t index = 0;
  std::string mac{};
};

// Every cable of a fabric has a T0 at one end; the other end is a host's or a T1's.
struct Cable {
  fabric::LinkId link{};
  End t0{};
  End far{};
  bool t0_is_upper = false;  // towards a host

  [[nodiscard]] const End& upper() const { return t0_is_upper ? t0 : far; }
  [[nodiscard]] const End& lower() const { return t0_is_upper ? far : t0; }
};

Cable cable_of(const Spec& spec, const fabric::LinkId& link);

std::vector<fabric::LinkId> all_links(const fabric::Fabric& fabric);
// Those that fail with an element.
std::vector<fabric::LinkId> links_of(const fabric::Fabric& fabric, const fabric::Element& element);

// The network over which hosts arrange things; no fault touches it.
inline constexpr std::string_view kManagementInterface = "mgmt";
std::string management_ipv6_address(fabric::HostIndex host);  // fd4d:5243:ffff::<n + 1>
std::string management_ipv4_address(fabric::HostIndex host);  // 10.255.0.<n + 1>
// The one by which hosts are called.
std::string management_address(const Spec& spec, fabric::HostIndex host);

// A host's address in a plane: as the fabric plans it, or 10.<plane>.<rack>.<n + 1>.
wire::Ipv6Address data_address(const Spec& spec, fabric::HostIndex host, Plane plane);

// /run/openmrc/labs/<lab>
std::filesystem::path labs_folder();
std::filesystem::path folder_of(std::string_view lab);
std::filesystem::path spec_file(std::string_view lab);
std::filesystem::path config_file(std::string_view lab, fabric::HostIndex host);
// What `ip netns exec` puts in the place of /etc/hosts.
std::filesystem::path spaces_folder();  // /etc/netns
std::filesystem::path hosts_file(std::string_view space);

}  // namespace openmrc::lab
