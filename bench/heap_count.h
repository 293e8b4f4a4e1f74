// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace openmrc::bench {

// What the program has asked of the heap so far. A program that links heap_count.cc has every new
// and delete counted.
struct HeapCount {
  std::uint64_t allocations = 0;
  std::size_t live_bytes = 0;  // as the allocator rounds them up
};
HeapCount heap_count();

}  // namespace openmrc::bench
