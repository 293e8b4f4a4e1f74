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

// What a fabric is made of. In each plane every T0 (leaf) has one link to every T1 (spine), so that
// an uplink's number is also the number of the T1 it leads to. With one tier there is one T0 per
// plane and no T1.
struct Shape {
  std::uint32_t planes = 1;
  std::uint32_t racks = 1;           // T0s in a plane; rack r of all planes serves the same hosts
  std::uint32_t hosts_per_rack = 1;  // downlinks of a T0
  std::uint32_t uplinks = 0;         // of a T0, and T1s in a plane; 0: one tier
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
