// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/strong.h"

namespace openmrc {

// A serial number as it stands on the wire: kBits wide, wrapping. It has no order of its own,
// because after a wrap the smaller number is the later one; to compare, unwrap it.
template <class Tag, std::unsigned_integral Rep, std::size_t kBits>
class Serial {
 public:
  static constexpr Rep kMask = all_ones<Rep, kBits>();

  constexpr Serial() = default;
  // Takes the low kBits of `value`.
  constexpr explicit Serial(Rep value) : value_(value & kMask) {}
  [[nodiscard]] constexpr Rep raw() const { return value_; }
  constexpr bool operator==(const Serial&) const = default;

  constexpr Serial operator+(std::int64_t steps) const {
    return Serial(
        static_cast<Rep>(static_cast<std::uint64_t>(value_) + static_cast<std::uint64_t>(steps)));
  }

  // Steps from `earlier` to this one, in [-2^(kBits-1), 2^(kBits-1)): the half-range rule of
  // MRC 6.3.1 (REL-1).
  [[nodiscard]] constexpr std::int64_t distance_from(Serial earlier) const {
    constexpr std::int64_t kHalf = std::int64_t{1} << (kBits - 1);
    const auto forward =
        static_cast<std::int64_t>(static_cast<Rep>((value_ - earlier.value_)) & kMask);
    return forward < kHalf ? forward : forward - 2 * kHalf;
  }

 private:
  Rep value_ = 0;
};

// The twin that never wraps: it compares, and differences are plain numbers.
template <class WireSerial>
class Unwrapped {
 public:
  constexpr Unwrapped() = default;
  constexpr explicit Unwrapped(std::int64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int64_t raw() const { return value_; }
  constexpr auto operator<=>(const Unwrapped&) const = default;

  constexpr Unwrapped operator+(std::int64_t steps) const { return Unwrapped(value_ + steps); }
  constexpr Unwrapped operator-(std::int64_t steps) const { return Unwrapped(value_ - steps); }
  constexpr std::int64_t operator-(Unwrapped earlier) const { return value_ - earlier.value_; }

  [[nodiscard]] constexpr WireSerial wrapped() const { return WireSerial{} + value_; }

  // The number nearest to this one that `serial` can stand for.
  [[nodiscard]] constexpr Unwrapped nearest(WireSerial serial) const {
    return *this + serial.distance_from(wrapped());
  }

 private:
  std::int64_t value_ = 0;
};

}  // namespace openmrc
