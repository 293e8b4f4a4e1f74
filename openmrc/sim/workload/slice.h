// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace openmrc::sim {

// The largest vector of a collective: far above what is reduced at once, and small enough that
// bytes x hosts fits in 64 bits.
inline constexpr std::uint64_t kVectorBytesMax = std::uint64_t{1} << 40;
// The largest message: what a host lets others write to.
inline constexpr std::uint64_t kMessageBytesMax = std::uint64_t{1} << 40;

// Where part `index` of `bytes` begins if they are cut into `parts` that differ by a byte at most.
constexpr std::uint64_t slice_begin(std::uint64_t bytes, std::uint32_t parts, std::uint32_t index) {
  return bytes * index / parts;
}

// How many bytes `count` parts from `index` on have together.
constexpr std::uint64_t slice_bytes(std::uint64_t bytes, std::uint32_t parts, std::uint32_t index,
                                    std::uint32_t count = 1) {
  return slice_begin(bytes, parts, index + count) - slice_begin(bytes, parts, index);
}

}  // namespace openmrc::sim
