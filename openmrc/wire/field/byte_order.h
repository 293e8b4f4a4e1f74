// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace openmrc::wire {

// Network order to and from the machine's, at any alignment.

template <std::unsigned_integral T>
constexpr T load_be(const std::byte* from) {
  T value = 0;
  if consteval {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>((value << 8) | std::to_integer<T>(from[i]));
    }
  } else {
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
  }
  return value;
}

template <std::unsigned_integral T>
constexpr void store_be(std::byte* to, T value) {
  if consteval {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      to[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
    }
  } else {
    if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
    std::memcpy(to, &value, sizeof(T));
  }
}

}  // namespace openmrc::wire
