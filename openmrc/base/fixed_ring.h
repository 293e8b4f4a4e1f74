// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "openmrc/base/check.h"

namespace openmrc {

// A first-in first-out queue of at most kCapacity elements, stored in place. One thread.
template <class T, std::size_t kCapacity>
class FixedRing {
  static_assert(std::has_single_bit(kCapacity), "so that wrapping is a mask");
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");

 public:
  // The caller knows that there is room.
  constexpr void push(const T& element) {
    OPENMRC_CHECK(!full(), "ring is full");
    elements_[slot(pushed_++)] = element;
  }

  constexpr T pop() {
    OPENMRC_CHECK(!empty(), "ring is empty");
    return elements_[slot(popped_++)];
  }

  // The element that `pop` gives after `index` others.
  constexpr const T& operator[](std::size_t index) const {
    OPENMRC_CHECK(index < size(), "index is past the end");
    return elements_[slot(popped_ + index)];
  }
  constexpr T& operator[](std::size_t index) {
    OPENMRC_CHECK(index < size(), "index is past the end");
    return elements_[slot(popped_ + index)];
  }

  [[nodiscard]] static constexpr std::size_t capacity() { return kCapacity; }
  [[nodiscard]] constexpr std::size_t size() const { return pushed_ - popped_; }
  [[nodiscard]] constexpr bool empty() const { return pushed_ == popped_; }
  [[nodiscard]] constexpr bool full() const { return size() == kCapacity; }

 private:
  static constexpr std::size_t slot(std::size_t position) { return position & (kCapacity - 1); }

  std::array<T, kCapacity> elements_{};
  std::size_t pushed_ = 0;
  std::size_t popped_ = 0;
};

}  // namespace openmrc
