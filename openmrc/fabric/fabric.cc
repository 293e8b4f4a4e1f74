// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric.h"

namespace openmrc::fabric {
namespace {

constexpr bool within(std::uint32_t value, std::uint32_t most) {
  return value >= 1 && value <= most;
}

}  // namespace

std::string_view describe(ShapeError error) {
  static_assert(kPlanesMax == 16 && kRacksMax == 1024 && kUplinksMax == 1024 &&
                kHostsPerRackMax == 512 && kT1PortsMax == 4096);
  switch (error) {
    case ShapeError::kPlanes: return "there must be 1 to 16 planes";
    case ShapeError::kRacks: return "there must be 1 to 1024 racks";
    case ShapeError::kHostsPerRack: return "a rack must have 1 to 512 hosts";
    case ShapeError::kUplinks: return "a T0 may have at most 1024 uplinks";
    case ShapeError::kNoUplinks: return "several racks need uplinks between them";
    case ShapeError::kIdleT1s: return "with one rack, uplinks lead nowhere: leave them out";
    case ShapeError::kLinksPerT1: return "the uplinks of a T0 must be a multiple of links_per_t1";
    case ShapeError::kT1Ports: return "a T1 may have at most 4096 links";
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
  if (std::uint64_t{shape.racks} * shape.links_per_t1 > kT1PortsMax) {
    return failure(ShapeError::kT1Ports);
  }
  if (shape.host_link_bits_per_second <= 0 || shape.uplink_bits_per_second <= 0) {
    return failure(ShapeError::kSpeed);
  }
  if (shape.host_link_delay <= Duration{} || shape.uplink_delay <= Duration{}) {
    return failure(ShapeError::kDelay);
  }
  return Fabric(shape);
}

}  // namespace openmrc::fabric
