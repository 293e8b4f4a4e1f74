// SPDX-License-Identifier: BSD-3-Clause
#include "bench/heap_count.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace openmrc::bench {
namespace {

HeapCount g_count;  // the benchmarks have one thread

void* counted(void* memory) {
  if (memory == nullptr) std::abort();
  ++g_count.allocations;
  g_count.live_bytes += malloc_usable_size(memory);
  return memory;
}

void forget(void* memory) {
  if (memory == nullptr) return;
  g_count.live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

void* aligned(std::size_t size, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(to, (size + to - 1) / to * to);
}

}  // namespace

HeapCount heap_count() { return g_count; }

}  // namespace openmrc::bench

using openmrc::bench::aligned;
using openmrc::bench::counted;
using openmrc::bench::forget;

// All others end in these.
void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t to) { return counted(aligned(size, to)); }
void operator delete(void* memory) noexcept { forget(memory); }
void operator delete(void* memory, std::size_t) noexcept { forget(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { forget(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { forget(memory); }
