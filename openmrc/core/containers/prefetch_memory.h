// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace openmrc::core {

// Asks for memory that will be needed soon; null is allowed.
inline void prefetch_memory(const void* from, std::size_t size) {
  constexpr std::size_t kCacheLine = 64;
  if (from == nullptr) return;
  const auto* at = static_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < size; i += kCacheLine) __builtin_prefetch(at + i);
}

}  // namespace openmrc::core
