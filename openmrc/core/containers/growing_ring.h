// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::core {

// A first-in first-out queue that allocates only when it holds more than ever before.
template <class T>
class GrowingRing {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");

 public:
  // So many elements need no more memory.
  void reserve(std::size_t elements) {
    while (capacity_ < elements) grow();
  }
  void push(const T& element) {
    if (size() == capacity_) grow();
    elements_[pushed_++ & (capacity_ - 1)] = element;
  }
  // The next `pop`; there is one.
  [[nodiscard]] const T& front() const {
    OPENMRC_CHECK(!empty(), "queue is empty");
    return elements_[popped_ & (capacity_ - 1)];
  }
  // The `index`th from the front.
  [[nodiscard]] const T& operator[](std::size_t index) const {
    OPENMRC_CHECK(index < size(), "index is past the end");
    return elements_[(popped_ + index) & (capacity_ - 1)];
  }
  T pop() {
    const T element = front();
    ++popped_;
    return element;
  }

  [[nodiscard]] std::size_t size() const { return pushed_ - popped_; }
  [[nodiscard]] bool empty() const { return pushed_ == popped_; }

 private:
  void grow() {
    const std::size_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
    auto elements = std::make_unique<T[]>(capacity);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) elements[i] = elements_[popped_++ & (capacity_ - 1)];
    elements_ = std::move(elements);
    capacity_ = capacity;
    popped_ = 0;
    pushed_ = count;
  }

  std::unique_ptr<T[]> elements_;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t pushed_ = 0;
  std::size_t popped_ = 0;
};

}  // namespace openmrc::core
