// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "openmrc/base/ids.h"

namespace openmrc::core {

// A set of planes; bit p stands for plane p.
class PlaneMask {
 public:
  constexpr PlaneMask() = default;
  constexpr explicit PlaneMask(std::uint32_t bits) : bits_(bits) {}
  static constexpr PlaneMask all() { return PlaneMask(~std::uint32_t{0}); }
  static constexpr PlaneMask first(std::size_t count) {
    return PlaneMask(static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1));
  }
  static constexpr PlaneMask only(Plane plane) { return PlaneMask(1u << plane.raw()); }

  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr int count() const { return std::popcount(bits_); }
  [[nodiscard]] constexpr bool has(Plane plane) const { return (bits_ >> plane.raw() & 1) != 0; }
  constexpr void add(Plane plane) { bits_ |= 1u << plane.raw(); }
  constexpr void remove(Plane plane) { bits_ &= ~(1u << plane.raw()); }

  // The first plane of the set at or after `from`, around the end. The set is not empty.
  [[nodiscard]] constexpr Plane next_from(unsigned from) const {
    const std::uint32_t above = from >= 32 ? 0 : bits_ & (~std::uint32_t{0} << from);
    return Plane(static_cast<std::uint8_t>(std::countr_zero(above != 0 ? above : bits_)));
  }

  constexpr PlaneMask operator&(PlaneMask other) const { return PlaneMask(bits_ & other.bits_); }
  constexpr PlaneMask operator|(PlaneMask other) const { return PlaneMask(bits_ | other.bits_); }
  [[nodiscard]] constexpr PlaneMask without(PlaneMask other) const {
    return PlaneMask(bits_ & ~other.bits_);
  }
  constexpr bool operator==(const PlaneMask&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

// MRC 7.4.8 (WIRE-73): a port status mask has bit n for port n, and ports count from 1.
constexpr std::uint32_t port_status_of(PlaneMask planes) { return planes.bits() << 1; }
constexpr PlaneMask planes_of(std::uint32_t port_status) { return PlaneMask(port_status >> 1); }

}  // namespace openmrc::core
