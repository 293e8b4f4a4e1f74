// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/huge_memory.h"

#include <sys/mman.h>

#include <new>

namespace openmrc::sim {

std::unique_ptr<void, FreeMemory> allocate_huge(std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  std::unique_ptr<void, FreeMemory> memory(std::aligned_alloc(kHugePageBytes, whole));
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory.get(), whole, MADV_HUGEPAGE);
  return memory;
}

}  // namespace openmrc::sim
