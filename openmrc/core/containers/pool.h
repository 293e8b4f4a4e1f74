// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/base/check.h"

namespace openmrc::core {

// Names an element of a pool. Small, and still valid when the pool has grown.
using PoolIndex = std::uint32_t;
inline constexpr PoolIndex kNoElement = 0xffffffff;

// Elements that come and go without the heap: it grows by a slab when it must, never shrinks, and
// never beyond its limit. What is in flight lives in pools, so that what is idle is small.
template <class T, std::size_t kSlabShift = 4>
class Pool {
  static constexpr std::size_t kSlabSize = std::size_t{1} << kSlabShift;

 public:
  // At most `limit` elements, rounded up to whole slabs.
  explicit Pool(std::size_t limit) : slabs_max_((limit + kSlabSize - 1) >> kSlabShift) {}

  // An element with whatever its last user left in it; kNoElement when the limit is reached.
  [[nodiscard]] PoolIndex take() {
    if (free_.empty() && !grow()) return kNoElement;
    const PoolIndex index = free_.back();
    free_.pop_back();
    return index;
  }
  void give_back(PoolIndex index) {
    OPENMRC_DCHECK(index < (slabs_.size() << kSlabShift), "not an element of this pool");
    free_.push_back(index);
  }

  T& operator[](PoolIndex index) {
    OPENMRC_DCHECK(index < (slabs_.size() << kSlabShift), "not an element of this pool");
    return slabs_[index >> kSlabShift][index & (kSlabSize - 1)];
  }
  const T& operator[](PoolIndex index) const {
    OPENMRC_DCHECK(index < (slabs_.size() << kSlabShift), "not an element of this pool");
    return slabs_[index >> kSlabShift][index & (kSlabSize - 1)];
  }

  // How many can be taken.
  [[nodiscard]] std::size_t room() const {
    return ((slabs_max_ - slabs_.size()) << kSlabShift) + free_.size();
  }
  [[nodiscard]] std::size_t in_use() const { return (slabs_.size() << kSlabShift) - free_.size(); }

 private:
  bool grow() {
    if (slabs_.size() == slabs_max_) return false;
    const std::size_t first = slabs_.size() << kSlabShift;
    // Room for every element, so that giving back never allocates.
    free_.reserve(first + kSlabSize);
    slabs_.push_back(std::make_unique<T[]>(kSlabSize));
    for (std::size_t i = kSlabSize; i > 0; --i) {
      free_.push_back(static_cast<PoolIndex>(first + i - 1));
    }
    return true;
  }

  std::size_t slabs_max_;
  std::vector<std::unique_ptr<T[]>> slabs_;
  std::vector<PoolIndex> free_;
};

}  // namespace openmrc::core
