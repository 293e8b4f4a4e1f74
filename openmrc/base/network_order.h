// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/bytes.h"

// Unsigned numbers in messages, with the most significant byte first. There is room for them.
namespace openmrc {

template <class T>
constexpr void put_network_order(MutableBytes out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[at + i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)) & 0xff);
  }
}

template <class T>
[[nodiscard]] constexpr T get_network_order(ConstBytes in, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(in[at + i]);
  }
  return static_cast<T>(value);
}

}  // namespace openmrc
