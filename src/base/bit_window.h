// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/check.h"

namespace openmrc {

// One bit for each of the kCapacity positions from `base` on, in place; the window slides up.
// A responder marks in it which packets have arrived (MRC 6.3.1, 7.5.2.2).
template <std::size_t kCapacity>
class BitWindow {
  static_assert(std::has_single_bit(kCapacity) && kCapacity >= 64,
                "so that a position finds its word with a shift and a mask");

 public:
  constexpr explicit BitWindow(std::int64_t base = 0) : base_(base) {}

  [[nodiscard]] constexpr std::int64_t base() const { return base_; }
  [[nodiscard]] constexpr bool covers(std::int64_t position) const {
    return position >= base_ && position - base_ < static_cast<std::int64_t>(kCapacity);
  }

  [[nodiscard]] constexpr bool test(std::int64_t position) const {
    return covers(position) && (word(position) >> bit(position) & 1) != 0;
  }

  // Returns whether the bit was clear before. `position` must be covered.
  constexpr bool set(std::int64_t position) {
    OPENMRC_CHECK(covers(position), "position is outside the window");
    const std::uint64_t mask = std::uint64_t{1} << bit(position);
    const bool fresh = (word(position) & mask) == 0;
    word(position) |= mask;
    return fresh;
  }

  // Moves the base past the unbroken run of set bits that starts at it; returns the length of
  // the run.
  constexpr std::int64_t advance_over_set() {
    const std::int64_t start = base_;
    for (;;) {
      const auto ones = std::countr_one(word(base_) >> bit(base_));
      const auto run = static_cast<unsigned>(ones) <= 64 - bit(base_)
                           ? static_cast<std::int64_t>(ones)
                           : static_cast<std::int64_t>(64 - bit(base_));
      if (run == 0) return base_ - start;
      const std::uint64_t low_ones = run == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run) - 1;
      word(base_) &= ~(low_ones << bit(base_));
      base_ += run;
    }
  }

  // The 64 bits from `position` on, lowest first; positions that are not covered read as 0.
  [[nodiscard]] constexpr std::uint64_t bits64(std::int64_t position) const {
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < 64;) {
      if (!covers(position + i)) {
        ++i;
        continue;
      }
      const unsigned offset = bit(position + i);
      bits |= word(position + i) >> offset << i;
      i += 64 - static_cast<std::int64_t>(offset);
    }
    // A word also holds positions just below the base, one cycle later, when the window wraps.
    const std::int64_t past_end = base_ + static_cast<std::int64_t>(kCapacity) - position;
    if (past_end >= 64) return bits;
    return past_end <= 0 ? 0 : bits & ((std::uint64_t{1} << past_end) - 1);
  }

 private:
  static constexpr std::size_t index(std::int64_t position) {
    return (static_cast<std::uint64_t>(position) & (kCapacity - 1)) / 64;
  }
  static constexpr unsigned bit(std::int64_t position) {
    return static_cast<unsigned>(static_cast<std::uint64_t>(position) & 63);
  }
  constexpr std::uint64_t& word(std::int64_t position) { return words_[index(position)]; }
  constexpr std::uint64_t word(std::int64_t position) const { return words_[index(position)]; }

  std::array<std::uint64_t, kCapacity / 64> words_{};
  std::int64_t base_;
};

}  // namespace openmrc
