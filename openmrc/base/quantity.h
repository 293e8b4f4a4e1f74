// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>

namespace openmrc {

// An amount with a unit: amounts of one kind add and compare, amounts of two kinds do not mix.
// Signed, so that a difference below zero is a number and not a surprise.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int64_t raw() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity operator+(Quantity other) const { return Quantity(value_ + other.value_); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(value_ - other.value_); }
  constexpr Quantity operator*(std::int64_t factor) const { return Quantity(value_ * factor); }
  constexpr Quantity operator/(std::int64_t divisor) const { return Quantity(value_ / divisor); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 private:
  std::int64_t value_ = 0;
};

using ByteCount = Quantity<struct ByteCountTag>;

}  // namespace openmrc
