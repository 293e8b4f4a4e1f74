// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/parts.h"

namespace openmrc::fabric {

// A cabinet: which line of the hall, and which one of it, from 0.
struct Cabinet {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  auto operator<=>(const Cabinet&) const = default;
};

// Where the parts of a fabric stand, so that cables have lengths. The hosts of a rack fill cabinets
// side by side, and its T0s, one of each plane, stand in the middle one of them. So many racks make
// a line. The T1s of all planes fill the lines in the middle of the hall, and T2s the rest of them.
class FloorPlan {
 public:
  FloorPlan(const Fabric& fabric, const FloorRules& rules);

  [[nodiscard]] Cabinet of_host(HostIndex host) const;
  [[nodiscard]] Cabinet of_t0(std::uint32_t rack) const;  // of any plane
  [[nodiscard]] Cabinet of_t1(Plane plane, std::uint32_t number) const;
  [[nodiscard]] Cabinet of_t2(Plane plane, std::uint32_t number) const;

  // The two ends of a cable: what is below, then what is above.
  [[nodiscard]] Cabinet lower_end(const LinkId& link) const;
  [[nodiscard]] Cabinet upper_end(const LinkId& link) const;
  // By the trays, at right angles.
  [[nodiscard]] double metres(const LinkId& link) const;

  [[nodiscard]] std::uint32_t lines() const { return host_lines_ + middle_lines_; }
  [[nodiscard]] std::uint32_t columns() const;

 private:
  [[nodiscard]] std::uint32_t first_column(std::uint32_t rack) const;
  [[nodiscard]] std::uint32_t line_of_rack(std::uint32_t rack) const;
  // The n-th switch in the middle of the hall.
  [[nodiscard]] Cabinet in_the_middle(std::uint32_t n) const;

  Fabric fabric_;
  FloorRules rules_;
  std::uint32_t cabinets_;    // of a rack
  std::uint32_t host_lines_;  // with racks
  std::uint32_t middle_lines_ = 0;
};

}  // namespace openmrc::fabric
