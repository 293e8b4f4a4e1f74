// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/strong.h"
#include "openmrc/base/time.h"

// The network as data: a few numbers give every host, switch, link and path, by arithmetic. Nothing
// here grows with the size of the fabric.
namespace openmrc::fabric {

using HostIndex = Strong<struct HostIndexTag, std::uint32_t>;

// What a fabric is made of. In each plane every T0 (leaf) has as many links to every T1 (spine) as
// to any other: uplink n leads to T1 n / links_per_t1. With one tier there is one T0 per plane and
// no T1.
struct Shape {
  std::uint32_t planes = 1;
  std::uint32_t racks = 1;           // T0s in a plane; rack r of all planes serves the same hosts
  std::uint32_t hosts_per_rack = 1;  // downlinks of a T0
  std::uint32_t uplinks = 0;         // of a T0; 0: one tier
  std::uint32_t links_per_t1 = 1;    // of each T0
  std::int64_t host_link_bits_per_second = 100'000'000'000;  // NIC port to T0
  std::int64_t uplink_bits_per_second = 100'000'000'000;     // T0 to T1
  Duration host_link_delay = nanoseconds(500);               // of the wire, one way
  Duration uplink_delay = nanoseconds(500);

  bool operator==(const Shape&) const = default;
};

// The largest fabric that the uSID plan can name (PATH-83).
inline constexpr std::uint32_t kPlanesMax = 16;
inline constexpr std::uint32_t kRacksMax = 1024;
inline constexpr std::uint32_t kUplinksMax = 1024;
inline constexpr std::uint32_t kHostsPerRackMax = 512;
inline constexpr std::uint32_t kT1PortsMax = 4096;

enum class Tier : std::uint8_t { kT0, kT1 };

struct SwitchId {
  Plane plane{};
  Tier tier = Tier::kT0;
  std::uint32_t index = 0;  // rack of a T0, number of a T1

  auto operator<=>(const SwitchId&) const = default;
};

// A cable. It has two directions, which fail together by default.
struct LinkId {
  enum class Kind : std::uint8_t {
    kHost,    // between a NIC port and its T0
    kUplink,  // between a T0 and a T1
  };
  Kind kind = Kind::kHost;
  Plane plane{};
  std::uint32_t rack = 0;  // of its T0
  std::uint32_t port = 0;  // downlink or uplink of that T0

  auto operator<=>(const LinkId&) const = default;
};

// The choices that an EV stands for (MRC 9.3.5). `uplink` means nothing between hosts of one rack.
struct PathChoice {
  Plane plane{};
  std::uint16_t uplink = 0;

  auto operator<=>(const PathChoice&) const = default;
};

enum class ShapeError : std::uint8_t {
  kPlanes,        // none, or more than kPlanesMax
  kRacks,         // none, or more than kRacksMax
  kHostsPerRack,  // none, or more than kHostsPerRackMax
  kUplinks,       // more than kUplinksMax
  kNoUplinks,     // several racks, and nothing between them
  kIdleT1s,       // one rack needs no T1
  kLinksPerT1,    // none, or the uplinks are no multiple of it
  kT1Ports,       // more than kT1PortsMax
  kSpeed,         // of a link, not above zero
  kDelay,         // of a link, not above zero
};
std::string_view describe(ShapeError error);

class Fabric {
 public:
  static Result<Fabric, ShapeError> make(const Shape& shape);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t hosts() const { return shape_.racks * shape_.hosts_per_rack; }
  [[nodiscard]] bool has_t1() const { return shape_.uplinks > 0; }
  [[nodiscard]] std::uint32_t t1s() const { return shape_.uplinks / shape_.links_per_t1; }

  [[nodiscard]] std::uint32_t rack_of(HostIndex host) const {
    return host.raw() / shape_.hosts_per_rack;
  }
  [[nodiscard]] std::uint32_t downlink_of(HostIndex host) const {
    return host.raw() % shape_.hosts_per_rack;
  }
  [[nodiscard]] HostIndex host_at(std::uint32_t rack, std::uint32_t downlink) const {
    OPENMRC_DCHECK(rack < shape_.racks && downlink < shape_.hosts_per_rack, "no such host");
    return HostIndex(rack * shape_.hosts_per_rack + downlink);
  }

  // The switch that a host's port in this plane is connected to, and the cable between them.
  [[nodiscard]] SwitchId t0_of(HostIndex host, Plane plane) const {
    return {.plane = plane, .tier = Tier::kT0, .index = rack_of(host)};
  }
  [[nodiscard]] LinkId host_link(HostIndex host, Plane plane) const {
    return {.kind = LinkId::Kind::kHost,
            .plane = plane,
            .rack = rack_of(host),
            .port = downlink_of(host)};
  }

  // The T1 at the end of an uplink, and its port there. A T1 has the links of rack 0 first.
  [[nodiscard]] std::uint32_t t1_of(std::uint32_t uplink) const {
    return has_single_links() ? uplink : uplink / shape_.links_per_t1;
  }
  [[nodiscard]] std::uint32_t t1_ports() const { return shape_.racks * shape_.links_per_t1; }
  [[nodiscard]] std::uint32_t t1_port(std::uint32_t rack, std::uint32_t uplink) const {
    if (has_single_links()) return rack;
    return rack * shape_.links_per_t1 + uplink % shape_.links_per_t1;
  }
  [[nodiscard]] LinkId t1_link(Plane plane, std::uint32_t t1, std::uint32_t port) const {
    if (has_single_links()) return {LinkId::Kind::kUplink, plane, port, t1};
    return {.kind = LinkId::Kind::kUplink,
            .plane = plane,
            .rack = port / shape_.links_per_t1,
            .port = t1 * shape_.links_per_t1 + port % shape_.links_per_t1};
  }
  // Then a path is named by its switches, as the uSID plan does; and it takes no division to
  // follow.
  [[nodiscard]] bool has_single_links() const { return shape_.links_per_t1 == 1; }

  // Paths from one rack to another; between hosts of a rack there is one in each plane.
  [[nodiscard]] std::uint32_t evs_per_plane() const { return std::max(1U, shape_.uplinks); }
  [[nodiscard]] std::uint32_t evs() const { return shape_.planes * evs_per_plane(); }

  [[nodiscard]] bool has(HostIndex host) const { return host.raw() < hosts(); }
  [[nodiscard]] bool has(PathChoice choice) const {
    return choice.plane.raw() < shape_.planes && choice.uplink < evs_per_plane();
  }

 private:
  explicit Fabric(const Shape& shape) : shape_(shape) {}

  Shape shape_;
};

}  // namespace openmrc::fabric
