// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "openmrc/base/bytes.h"
#include "openmrc/core/memory/placement.h"
#include "openmrc/messages/work.h"

namespace openmrc::messages {

[[nodiscard]] inline std::uint64_t size_of(std::span<const Segment> segments) {
  std::uint64_t size = 0;
  for (const Segment& segment : segments) size += segment.length;
  return size;
}

// Puts bytes into pieces of memory, from the `offset`th byte of all of them on. They fit.
inline void scatter(std::span<const Segment> segments, std::uint64_t offset, ConstBytes bytes) {
  for (const Segment& segment : segments) {
    if (bytes.empty()) return;
    if (offset >= segment.length) {
      offset -= segment.length;
      continue;
    }
    const std::size_t size =
        std::min<std::size_t>(bytes.size(), segment.length - static_cast<std::size_t>(offset));
    core::place_in_order(segment.data + offset, bytes.first(size));
    bytes = bytes.subspan(size);
    offset = 0;
  }
}

}  // namespace openmrc::messages
