// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace openmrc::test {

// While it lives, `operator new` gives memory so many times and then no more: to this thread, or to
// any. One at a time. A program that uses it has its own `operator new`.
class MemoryLimit {
 public:
  enum class Of : std::uint8_t { kThisThread, kProcess };

  explicit MemoryLimit(std::int64_t allocations, Of who = Of::kThisThread);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  // Whether memory was asked for that there was not.
  [[nodiscard]] bool was_reached() const;
};

// Calls attempt() with memory for no allocation, for one, for two, until it has enough. Returns how
// many it needed, or -1 if that is more than anybody should.
template <class Attempt>
std::int64_t with_ever_more_memory(Attempt attempt) {
  constexpr std::int64_t kMax = 2000;
  for (std::int64_t allocations = 0; allocations < kMax; ++allocations) {
    const MemoryLimit limit(allocations);
    attempt();
    if (!limit.was_reached()) return allocations;
  }
  return -1;
}

}  // namespace openmrc::test
