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

// What a fabric is made of. In each plane every T0 (leaf) has as many links to every T1 (spine) of
// its pod as to any other: uplink n leads to the pod's T1 n / links_per_t1. With one tier there is
// one T0 per plane and no T1, with two there is one pod. With three, T1 n of every pod has a link
// to each of as many T2s (core) as it has uplinks; other T1s have other T2s.
struct Shape {
  std::uint32_t planes = 1;
  std::uint32_t racks = 1;           // T0s in a plane; rack r of all planes serves the same hosts
  std::uint32_t hosts_per_rack = 1;  // downlinks of a T0
  std::uint32_t uplinks = 0;         // of a T0; 0: one tier
  std::uint32_t links_per_t1 = 1;    // of each T0; with three tiers one
  std::uint32_t pods = 1;            // of a plane; racks that follow each other
  std::uint32_t t1_uplinks = 0;      // of a T1; 0: at most two tiers
  std::int64_t host_link_bits_per_second = 100'000'000'000;  // NIC port to T0
  std::int64_t uplink_bits_per_second = 100'000'000'000;     // between switches
  Duration host_link_delay = nanoseconds(500);               // of the wire, one way
  Duration uplink_delay = nanoseconds(500);

  bool operator==(const Shape&) const = default;
};

// The largest fabric that the uSID plan can name (PATH-83).
inline constexpr std::uint32_t kPlanesMax = 16;
inline constexpr std::uint32_t kRacksMax = 1024;
inline constexpr std::uint32_t kUplinksMax = 1024;
inline constexpr std::uint32_t kPathsMax = 1024;  // in a plane, between two racks
inline constexpr std::uint32_t kHostsPerRackMax = 512;
inline constexpr std::uint32_t kT1PortsMax = 1536;

enum class Tier : std::uint8_t { kT0, kT1, kT2 };

struct SwitchId {
  Plane plane{};
  Tier tier = Tier::kT0;
  std::uint32_t index = 0;  // rack of a T0, number of a T1 or T2 in its plane

  auto operator<=>(const SwitchId&) const = default;
};

// A cable. It has two directions, which fail together by default.
struct LinkId {
  enum class Kind : std::uint8_t {
    kHost,      // between a NIC port and its T0
    kUplink,    // between a T0 and a T1
    kT1Uplink,  // between a T1 and a T2
  };
  Kind kind = Kind::kHost;
  Plane plane{};
  std::uint32_t rack = 0;  // of its T0; kT1Uplink: the number of its T1
  std::uint32_t port = 0;  // downlink or uplink of that switch

  auto operator<=>(const LinkId&) const = default;
};

// The choices that an EV stands for (MRC 9.3.5). With two tiers a path is the uplink of the T0s;
// with three it is that and the uplink of the T1s. It means nothing between hosts of one rack, and
// within a pod only the uplink of the T0s counts.
struct PathChoice {
  Plane plane{};
  std::uint16_t path = 0;

  auto operator<=>(const PathChoice&) const = default;
};

enum class ShapeError : std::uint8_t {
  kPlanes,        // none, or more than kPlanesMax
  kRacks,         // none, or more than kRacksMax
  kHostsPerRack,  // none, or more than kHostsPerRackMax
  kUplinks,       // more than kUplinksMax
  kNoUplinks,     // several racks, and nothing between them
  kIdleT1s,       // one rack needs no T1
  kLinksPerT1,    // none, the uplinks are no multiple of it, or several with three tiers
  kPods,          // none, or the racks are no multiple of it
  kT1Uplinks,     // several pods and none, or one pod and some
  kPaths,         // more than kPathsMax
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
  [[nodiscard]] bool has_t2() const { return shape_.t1_uplinks > 0; }
  [[nodiscard]] std::uint32_t racks_per_pod() const { return shape_.racks / shape_.pods; }
  [[nodiscard]] std::uint32_t t1s_per_pod() const { return shape_.uplinks / shape_.links_per_t1; }
  // Of a plane.
  [[nodiscard]] std::uint32_t t1s() const { return shape_.pods * t1s_per_pod(); }
  [[nodiscard]] std::uint32_t t2s() const { return t1s_per_pod() * shape_.t1_uplinks; }

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

  // Then a path is named by its switches, as the uSID plan does; and it takes no division to
  // follow.
  [[nodiscard]] bool has_addresses() const { return has_addresses_; }

  [[nodiscard]] std::uint32_t pod_of_rack(std::uint32_t rack) const {
    return has_t2() ? rack / racks_per_pod() : 0;
  }
  [[nodiscard]] std::uint32_t t1_in_pod(std::uint32_t pod, std::uint32_t number) const {
    return pod * t1s_per_pod() + number;
  }
  // The T1 at the end of an uplink, and its port there. A T1 has the links of the first rack of its
  // pod first, and its uplinks last.
  [[nodiscard]] std::uint32_t t1_of(std::uint32_t rack, std::uint32_t uplink) const {
    if (has_addresses()) return uplink;
    return t1_in_pod(pod_of_rack(rack), uplink / shape_.links_per_t1);
  }
  [[nodiscard]] std::uint32_t t1_downlinks() const { return racks_per_pod() * shape_.links_per_t1; }
  [[nodiscard]] std::uint32_t t1_ports() const { return t1_downlinks() + shape_.t1_uplinks; }
  [[nodiscard]] std::uint32_t t1_port(std::uint32_t rack, std::uint32_t uplink) const {
    if (has_addresses()) return rack;
    return rack % racks_per_pod() * shape_.links_per_t1 + uplink % shape_.links_per_t1;
  }
  [[nodiscard]] LinkId t1_link(Plane plane, std::uint32_t t1, std::uint32_t port) const {
    if (has_addresses()) return {LinkId::Kind::kUplink, plane, port, t1};
    if (port >= t1_downlinks()) return {LinkId::Kind::kT1Uplink, plane, t1, port - t1_downlinks()};
    return {.kind = LinkId::Kind::kUplink,
            .plane = plane,
            .rack = pod_of_t1(t1) * racks_per_pod() + port / shape_.links_per_t1,
            .port = t1 % t1s_per_pod() * shape_.links_per_t1 + port % shape_.links_per_t1};
  }

  // The T2 at the end of a T1's uplink. It has one port for each pod.
  [[nodiscard]] std::uint32_t pod_of_t1(std::uint32_t t1) const { return t1 / t1s_per_pod(); }
  [[nodiscard]] std::uint32_t t2_of(std::uint32_t t1, std::uint32_t uplink) const {
    return t1 % t1s_per_pod() * shape_.t1_uplinks + uplink;
  }
  [[nodiscard]] LinkId t2_link(Plane plane, std::uint32_t t2, std::uint32_t pod) const {
    return {.kind = LinkId::Kind::kT1Uplink,
            .plane = plane,
            .rack = t1_in_pod(pod, t2 / shape_.t1_uplinks),
            .port = t2 % shape_.t1_uplinks};
  }

  // Paths from one rack to another, of another pod if there are several; between hosts of a rack
  // there is one in each plane.
  [[nodiscard]] std::uint32_t evs_per_plane() const {
    return std::max(1U, shape_.uplinks * std::max(1U, shape_.t1_uplinks));
  }
  [[nodiscard]] std::uint32_t evs() const { return shape_.planes * evs_per_plane(); }
  // Those that a path is made of.
  [[nodiscard]] std::uint32_t uplink_of(std::uint32_t path) const {
    return has_t2() ? path / shape_.t1_uplinks : path;
  }
  [[nodiscard]] std::uint32_t t1_uplink_of(std::uint32_t path) const {
    return has_t2() ? path % shape_.t1_uplinks : 0;
  }
  [[nodiscard]] std::uint32_t path_of(std::uint32_t uplink, std::uint32_t t1_uplink) const {
    return has_t2() ? uplink * shape_.t1_uplinks + t1_uplink : uplink;
  }

  [[nodiscard]] bool has(HostIndex host) const { return host.raw() < hosts(); }
  [[nodiscard]] bool has(PathChoice choice) const {
    return choice.plane.raw() < shape_.planes && choice.path < evs_per_plane();
  }

 private:
  explicit Fabric(const Shape& shape)
      : shape_(shape), has_addresses_(shape.links_per_t1 == 1 && shape.t1_uplinks == 0) {}

  Shape shape_;
  bool has_addresses_;
};

}  // namespace openmrc::fabric
