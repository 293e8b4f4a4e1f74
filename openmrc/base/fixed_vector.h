// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include "openmrc/base/check.h"

namespace openmrc {

// A list of at most kCapacity elements, stored in place.
template <class T, std::size_t kCapacity>
class FixedVector {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");

 public:
  constexpr FixedVector() = default;
  constexpr FixedVector(std::initializer_list<T> elements) {
    for (const T& element : elements) push_back(element);
  }

  // The caller knows that there is room.
  constexpr void push_back(const T& element) {
    OPENMRC_CHECK(size_ < kCapacity, "fixed vector is full");
    elements_[size_++] = element;
  }
  constexpr void clear() { size_ = 0; }

  [[nodiscard]] static constexpr std::size_t capacity() { return kCapacity; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr bool full() const { return size_ == kCapacity; }
  [[nodiscard]] constexpr const T* data() const { return elements_.data(); }
  [[nodiscard]] constexpr const T* begin() const { return elements_.data(); }
  [[nodiscard]] constexpr const T* end() const { return elements_.data() + size_; }
  constexpr const T& operator[](std::size_t index) const {
    OPENMRC_CHECK(index < size_, "index is past the end");
    return elements_[index];
  }

  constexpr bool operator==(const FixedVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::array<T, kCapacity> elements_{};
  std::size_t size_ = 0;
};

}  // namespace openmrc
