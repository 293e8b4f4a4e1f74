// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/memory_limit.h"

#if defined(OPENMRC_SANITIZE_ADDRESS)
#include <sanitizer/lsan_interface.h>
#endif

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace openmrc::test {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

std::atomic<std::int64_t> g_left = kNone;
thread_local std::int64_t t_left = kNone;
std::atomic<bool> g_was_reached = false;

template <class Counter>
bool is_used_up(Counter& left) {
  return left != kNone && --left < 0;
}

// The core is built without exceptions: what it had when it got no more memory is lost.
#if defined(OPENMRC_SANITIZE_ADDRESS)
void ignore_leaks() { __lsan_disable(); }
void heed_leaks() { __lsan_enable(); }
#else
void ignore_leaks() {}
void heed_leaks() {}
#endif

void* limited(std::size_t size, std::size_t alignment) {
  if (is_used_up(t_left) || is_used_up(g_left)) {
    g_was_reached = true;
    throw std::bad_alloc();
  }
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* memory = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? std::aligned_alloc(alignment, whole)
                                                              : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

MemoryLimit::MemoryLimit(std::int64_t allocations, Of who) {
  ignore_leaks();
  g_was_reached = false;
  if (who == Of::kProcess) {
    g_left = allocations;
  } else {
    t_left = allocations;
  }
}

MemoryLimit::~MemoryLimit() {
  heed_leaks();
  g_left = kNone;
  t_left = kNone;
}

bool MemoryLimit::was_reached() const { return g_was_reached; }

}  // namespace openmrc::test

namespace {

using openmrc::test::limited;

void* limited_or_null(std::size_t size, std::size_t alignment) noexcept {
  try {
    return limited(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::size_t bytes(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// All there are: sanitizers have their own of those that are left out, and see that what one gave
// is taken back by another.
void* operator new(std::size_t size) { return limited(size, 1); }
void* operator new[](std::size_t size) { return limited(size, 1); }
void* operator new(std::size_t size, std::align_val_t to) { return limited(size, bytes(to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return limited(size, bytes(to)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return limited_or_null(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return limited_or_null(size, 1);
}
void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return limited_or_null(size, bytes(to));
}
void* operator new[](std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return limited_or_null(size, bytes(to));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
