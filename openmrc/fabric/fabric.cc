// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric.h"

#include <optional>

namespace openmrc::fabric {
namespace {

constexpr bool within(std::uint32_t value, std::uint32_t most) {
  return value >= 1 && value <= most;
}

std::optional<ShapeError> error_of_pods(const Shape& shape) {
  if (shape.pods == 0 || shape.racks % shape.pods != 0) return ShapeError::kPods;
  if ((shape.pods > 1) != (shape.t1_uplinks > 0)) return ShapeError::kT1Uplinks;
  if (std::uint64_t{shape.uplinks} * shape.t1_uplinks > kPathsMax) return ShapeError::kPaths;
  if (shape.pods > 1 && shape.links_per_t1 > 1) return ShapeError::kLinksPerT1;
  return std::nullopt;
}

}  // namespace

std::string_view describe(ShapeError error) {
  static_assert(kPlanesMax == 16 && kRacksMax == 1024 && kUplinksMax == 1024 && kPathsMax == 1024 &&
                kHostsPerRackMax == 512 && kT1PortsMax == 1536);
  switch (error) {
    case ShapeError::kPlanes: return "there must be 1 to 16 planes";
    case ShapeError::kRacks: return "there must be 1 to 1024 racks";
    case ShapeError::kHostsPerRack: return "a rack must have 1 to 512 hosts";
    case ShapeError::kUplinks: return "a T0 may have at most 1024 uplinks";
    case ShapeError::kNoUplinks: return "several racks need uplinks between them";
    case ShapeError::kIdleT1s: return "with one rack, uplinks lead nowhere: leave them out";
    case ShapeError::kLinksPerT1:
      return "the uplinks of a T0 must be a multiple of links_per_t1; with several pods that is 1";
    case ShapeError::kPods: return "the racks must be a multiple of the pods";
    case ShapeError::kT1Uplinks:
      return "T1s have uplinks where there are several pods, and only there";
    case ShapeError::kPaths:
      return "the uplinks of a T0 times those of a T1 may be 1024 paths at most";
    case ShapeError::kT1Ports: return "a T1 may have at most 1536 links";
    case ShapeError::kSpeed: return "the speed of a link must be above zero";
    case ShapeError::kDelay: return "the delay of a link must be above zero";
  }
  return "unknown shape error";
}

Result<Fabric, ShapeError> Fabric::make(const Shape& shape) {
  if (!within(shape.planes, kPlanesMax)) return failure(ShapeError::kPlanes);
  if (!within(shape.racks, kRacksMax)) return failure(ShapeError::kRacks);
  if (!within(shape.hosts_per_rack, kHostsPerRackMax)) return failure(ShapeError::kHostsPerRack);
  if (shape.uplinks > kUplinksMax) return failure(ShapeError::kUplinks);
  if (shape.racks > 1 && shape.uplinks == 0) return failure(ShapeError::kNoUplinks);
  if (shape.racks == 1 && shape.uplinks > 0) return failure(ShapeError::kIdleT1s);
  if (shape.links_per_t1 == 0 || shape.uplinks % shape.links_per_t1 != 0 ||
      (shape.uplinks == 0 && shape.links_per_t1 != 1)) {
    return failure(ShapeError::kLinksPerT1);
  }
  if (const auto error = error_of_pods(shape)) return failure(*error);
  const std::uint64_t downlinks = std::uint64_t{shape.racks / shape.pods} * shape.links_per_t1;
  if (downlinks + shape.t1_uplinks > kT1PortsMax) return failure(ShapeError::kT1Ports);
  if (shape.host_link_bits_per_second <= 0 || shape.uplink_bits_per_second <= 0) {
    return failure(ShapeError::kSpeed);
  }
  if (shape.host_link_delay <= Duration{} || shape.uplink_delay <= Duration{}) {
    return failure(ShapeError::kDelay);
  }
  return Fabric(shape);
}

}  // namespace openmrc::fabric
