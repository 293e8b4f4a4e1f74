// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "openmrc/base/check.h"

namespace openmrc {

template <std::unsigned_integral Rep, std::size_t kBits>
constexpr Rep all_ones() {
  static_assert(kBits > 0 && kBits <= std::numeric_limits<Rep>::digits);
  return static_cast<Rep>(std::numeric_limits<Rep>::max() >>
                          (std::numeric_limits<Rep>::digits - static_cast<int>(kBits)));
}

// An identifier of kBits bits that mixes with no other: it compares, it does not count.
template <class Tag, std::unsigned_integral Rep,
          std::size_t kBits = static_cast<std::size_t>(std::numeric_limits<Rep>::digits)>
class Strong {
 public:
  static constexpr Rep kMax = all_ones<Rep, kBits>();

  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {
    OPENMRC_DCHECK(value <= kMax, "identifier is wider than its type");
  }
  [[nodiscard]] constexpr Rep raw() const { return value_; }
  constexpr auto operator<=>(const Strong&) const = default;

 private:
  Rep value_ = 0;
};

}  // namespace openmrc
