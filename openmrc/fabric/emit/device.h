// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "openmrc/fabric/emit/site.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/wire/field/ip_address.h"

// All that one host or switch must have, as data: what configuration is written from, and what
// devices are compared with.
namespace openmrc::fabric {

using DeviceId = std::variant<HostIndex, SwitchId>;

// Every cable has two ends; the upper one is the switch's above a host, the T1's above a T0.
enum class CableEnd : std::uint8_t { kLower, kUpper };
constexpr CableEnd other(CableEnd end) {
  return end == CableEnd::kLower ? CableEnd::kUpper : CableEnd::kLower;
}

struct Ipv6Prefix {
  wire::Ipv6Address address{};
  std::uint8_t length = 128;

  auto operator<=>(const Ipv6Prefix&) const = default;
};
std::string to_string(const Ipv6Prefix& prefix);

// Locally administered. By the port: it says which cable it is, and which end. By the switch, for
// switches that have one for all ports: it says which switch.
std::string mac_of(const LinkId& link, CableEnd end);
std::string mac_of(const SwitchId& id);

// Means something on the cable only, or fd4d:5243:f:<plane>:<kind>:<rack>:<port>:<end>.
wire::Ipv6Address link_address(const LinkId& link, CableEnd end, LinkAddresses addresses);
constexpr std::uint8_t link_prefix_length(LinkAddresses addresses) {
  return addresses == LinkAddresses::kLinkLocal ? 64 : 127;
}

// The prefix of a micro-segment: fcbb:bb00:4000::/48.
Ipv6Prefix usid_prefix(std::uint32_t block, const Segment& segment);
Ipv6Prefix block_prefix(std::uint32_t block);

struct DeviceRoute {
  enum class Kind : std::uint8_t {
    kVia,          // to the other end of a port
    kEnd,          // the switch's own uSID: shift and look up again (uN)
    kDecapsulate,  // the host's own uSID: what is inside is for this host
    kBlackhole,
    kLocal,  // table kUsidTable: UDP to the host's own uSID is for this host
  };
  Ipv6Prefix to{};
  Kind kind = Kind::kVia;
  std::optional<wire::Ipv6Address> source{};  // of packets that a host sends by it

  bool operator==(const DeviceRoute&) const = default;
};

using RouteKind = DeviceRoute::Kind;

struct DevicePort {
  LinkId link{};
  CableEnd end = CableEnd::kLower;
  std::string name{};
  std::string far_device{};
  std::string far_port{};
  std::string mac{};  // empty: as it is
  std::string far_mac{};
  Ipv6Prefix address{};
  wire::Ipv6Address far_address{};
  std::optional<Ipv6Prefix> own_address{};  // of a host, in this plane
  std::vector<DeviceRoute> routes{};        // kVia by this port, and kDecapsulate

  // MRC 8: what is trimmed here is the receiver's fault and not the path's.
  [[nodiscard]] bool is_last_hop() const {
    return link.kind == LinkId::Kind::kHost && end == CableEnd::kUpper;
  }
};

struct Device {
  DeviceId id{};
  std::string name{};
  std::vector<DevicePort> ports{};            // of a T0: downlinks, then uplinks
  std::vector<DeviceRoute> routes{};          // that depend on no port
  std::optional<Ipv6Prefix> by_any_uplink{};  // packets to other racks that name no path

  [[nodiscard]] bool is_host() const { return std::holds_alternative<HostIndex>(id); }
  [[nodiscard]] const SwitchId& switch_id() const { return std::get<SwitchId>(id); }
};

// Where UDP to a host's own uSID is delivered from (docs/guide/lab.md).
inline constexpr unsigned kUsidTable = 4791;

Device device_of(const UsidPlan& plan, const Site& site, EmitKind kind, const SwitchId& id);
Device device_of(const UsidPlan& plan, const Site& site, EmitKind kind, HostIndex host);

// The T0s of a plane, its T1s, then the next plane.
std::vector<SwitchId> all_switches(const Fabric& fabric);

}  // namespace openmrc::fabric
