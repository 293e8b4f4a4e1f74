// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace openmrc::sim {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

// Memory for what is reached in no order: in small pages, looking up where a page is would take as
// long as the memory itself. A system that has no huge pages to give gives small ones.
[[nodiscard]] std::unique_ptr<void, FreeMemory> allocate_huge(std::size_t bytes);

}  // namespace openmrc::sim
