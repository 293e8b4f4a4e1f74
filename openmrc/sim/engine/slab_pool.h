// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "openmrc/sim/engine/huge_memory.h"

namespace openmrc::sim {

// Elements that one worker takes. Other workers use them as well, and hand them back when all have
// met. The list of free ones is kept apart, because a free element is in nobody's cache.
template <class T>
class SlabPool {
  static_assert(std::is_trivially_destructible_v<T>, "slabs are freed as they are");

 public:
  // With whatever its last user left in it.
  T* take() {
    if (free_.empty()) grow();
    T* element = free_.back();
    free_.pop_back();
    return element;
  }
  void give_back(T* element) { free_.push_back(element); }
  void give_back(std::span<T* const> elements) {
    free_.insert(free_.end(), elements.begin(), elements.end());
  }
  [[nodiscard]] std::size_t bytes() const { return slabs_.size() * kSlab * sizeof(T); }

 private:
  static constexpr std::size_t kSlab = kHugePageBytes / sizeof(T);

  void grow() {
    slabs_.push_back(allocate_huge(kSlab * sizeof(T)));
    auto* elements = static_cast<std::byte*>(slabs_.back().get());
    // The last to be pushed is the first to be taken, so that memory is touched from its begin on.
    for (std::size_t i = kSlab; i > 0; --i) free_.push_back(new (elements + (i - 1) * sizeof(T)) T);
  }

  std::vector<std::unique_ptr<void, FreeMemory>> slabs_;
  std::vector<T*> free_;
};

}  // namespace openmrc::sim
