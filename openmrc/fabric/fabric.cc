// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric.h"

namespace openmrc::fabric {
namespace {

constexpr bool within(std::uint32_t value, std::uint32_t most) {
  return value >= 1 && value <= most;
}

}  // namespace

std::string_view describe(ShapeError error) {
  static_assert(kPlanesMax == 16 && kRowsMax == 1024 && kUplinksMax == 1024 &&
                kHostsPerRowMax == 512);
  switch (error) {
    case ShapeError::kPlanes: return "there must be 1 to 16 planes";
    case ShapeError::kRows: return "there must be 1 to 1024 rows";
    case ShapeError::kHostsPerRow: return "a row must have 1 to 512 hosts";
    case ShapeError::kUplinks: return "a T0 may have at most 1024 uplinks";
    case ShapeError::kNoUplinks: return "several rows need uplinks between them";
    case ShapeError::kIdleT1s: return "with one row, uplinks lead nowhere: leave them out";
    case ShapeError::kSpeed: return "the speed of a link must be above zero";
    case ShapeError::kDelay: return "the delay of a link must be above zero";
  }
  return "unknown shape error";
}

Result<Fabric, ShapeError> Fabric::make(const Shape& shape) {
  if (!within(shape.planes, kPlanesMax)) return failure(ShapeError::kPlanes);
  if (!within(shape.rows, kRowsMax)) return failure(ShapeError::kRows);
  if (!within(shape.hosts_per_row, kHostsPerRowMax)) return failure(ShapeError::kHostsPerRow);
  if (shape.uplinks > kUplinksMax) return failure(ShapeError::kUplinks);
  if (shape.rows > 1 && shape.uplinks == 0) return failure(ShapeError::kNoUplinks);
  if (shape.rows == 1 && shape.uplinks > 0) return failure(ShapeError::kIdleT1s);
  if (shape.host_link_bits_per_second <= 0 || shape.uplink_bits_per_second <= 0) {
    return failure(ShapeError::kSpeed);
  }
  if (shape.host_link_delay <= Duration{} || shape.uplink_delay <= Duration{}) {
    return failure(ShapeError::kDelay);
  }
  return Fabric(shape);
}

}  // namespace openmrc::fabric
