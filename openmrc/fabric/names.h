// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"

// What people call the parts of a fabric. Everything counts from 0, as in the code:
//
//   p3               a plane
//   h17              a host
//   h17/p3           its NIC port in plane 3
//   p3.t0-17         a switch: the T0 of rack 17 in plane 3
//   p3.t1-4          a switch: T1 number 4 of plane 3; with three tiers there is p3.t2-9, too
//   p3.t0-17/up4     a link: uplink 4 of that T0, also called p3.t1-4/down17
//   p3.t0-17/down5   a link: downlink 5 of that T0, also called by the NIC port it leads to
//   p3.t1-4/up2      a link: uplink 2 of that T1, also called p3.t2-9/down1 by its pod
//   3:4              an EV: plane 3, path 4; with two tiers that is uplink 4
//
// A thing has one name of these forms but for the aliases: numbers have no leading zeros.
namespace openmrc::fabric {

// A NIC has one port in each plane. The link to its T0 fails with it.
struct NicPort {
  HostIndex host{};
  Plane plane{};

  auto operator<=>(const NicPort&) const = default;
};

// Whatever can break.
using Element = std::variant<Plane, HostIndex, SwitchId, LinkId>;

std::string name_of(Plane plane);
std::string name_of(HostIndex host);
std::string name_of(const NicPort& port);
std::string name_of(const SwitchId& id);
std::string name_of(const LinkId& id);  // from the side of its lower switch
std::string name_of(const Element& element);
std::string name_of(PathChoice choice);

enum class NameFault : std::uint8_t {
  kForm,        // looks like no name of what is wanted
  kPlane,       // well formed, but the fabric has no such plane,
  kHost,        // host,
  kT0,          // T0,
  kT1,          // T1,
  kT2,          // T2,
  kT1Downlink,  // downlink of a T1,
  kT1Uplink,    // uplink of a T1,
  kT2Downlink,  // downlink of a T2,
  kDownlink,    // downlink of a T0,
  kUplink,      // uplink of a T0,
  kEv,          // or EV
};

struct NameError {
  NameFault fault = NameFault::kForm;
  std::string name{};        // as it was given
  std::string_view forms{};  // kForm: what would be right
  std::uint32_t count = 0;   // otherwise: how many of them there are

  bool operator==(const NameError&) const = default;
};
std::string to_string(const NameError& error);

Result<Plane, NameError> parse_plane(const Fabric& fabric, std::string_view name);
Result<HostIndex, NameError> parse_host(const Fabric& fabric, std::string_view name);
Result<NicPort, NameError> parse_port(const Fabric& fabric, std::string_view name);
Result<SwitchId, NameError> parse_switch(const Fabric& fabric, std::string_view name);
Result<LinkId, NameError> parse_link(const Fabric& fabric, std::string_view name);

// Any of them. A NIC port is the link it ends.
Result<Element, NameError> parse_element(const Fabric& fabric, std::string_view name);

// `plane:uplink`, or the EV's number (path.h). With three tiers `plane:path`.
Result<PathChoice, NameError> parse_choice(const Fabric& fabric, std::string_view name);

}  // namespace openmrc::fabric
