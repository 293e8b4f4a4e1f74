// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/bytes.h"
#include "tests/world/checkers.h"

namespace openmrc::test {

// Bytes that are sent: no two pieces of them are alike, and none is one of the marks below.
ConstBytes pattern();

// Memory of an application in places with gaps between them. A place is filled by one message at
// the most; what the application has back is marked, and must stay so: nobody else may touch it.
class PlacedMemory {
 public:
  static constexpr std::byte kUntouched{0xee};
  static constexpr std::byte kTakenBack{0xdd};

  explicit PlacedMemory(std::string name) : name_(std::move(name)) {}

  // Before `allocate`.
  std::size_t add(std::size_t size, std::size_t alignment = 1);
  void allocate();

  [[nodiscard]] MutableBytes all() { return bytes_; }
  // What peers may reach: everything but the guards.
  [[nodiscard]] MutableBytes region() {
    return {bytes_.data() + kGuard, bytes_.size() - 2 * kGuard};
  }
  [[nodiscard]] MutableBytes at(std::size_t place) {
    return {bytes_.data() + places_[place].offset, places_[place].size};
  }
  [[nodiscard]] ConstBytes at(std::size_t place) const {
    return {bytes_.data() + places_[place].offset, places_[place].size};
  }
  [[nodiscard]] std::size_t offset_in_region(std::size_t place) const {
    return places_[place].offset - kGuard;
  }

  // The first bytes are these, and the rest has not been touched.
  [[nodiscard]] bool holds(std::size_t place, ConstBytes bytes) const;
  // Each byte is either as it was or what it should become.
  [[nodiscard]] bool may_become(std::size_t place, ConstBytes bytes) const;

  // The application has it back.
  void take_back(std::size_t place);
  [[nodiscard]] bool is_taken_back(std::size_t place) const { return places_[place].taken_back; }

  // Gaps, guards, and what was taken back.
  void check(Verdict& verdict) const;

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::size_t kGap = 8;

  struct Place {
    std::size_t offset = 0;
    std::size_t size = 0;
    bool taken_back = false;
  };

  [[nodiscard]] bool is_filled(std::size_t from, std::size_t to, std::byte with) const;

  std::string name_;
  std::vector<Place> places_;
  std::vector<std::byte> bytes_;
  std::size_t used_ = kGuard;
};

}  // namespace openmrc::test
