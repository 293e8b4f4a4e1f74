// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/core/context/limits.h"

namespace openmrc::core {

// Which request packets have arrived, and which of them end a message (MRC 6.3.1, 7.5.2.2). Covers
// the PSNs [expected, expected + range); `expected` is the lowest that has not arrived.
class ArrivalWindow {
 public:
  ArrivalWindow() = default;
  // A window of `mpr` steps. Allocates.
  ArrivalWindow(std::uint8_t mpr, UnwrappedPsn expected)
      : range_(mpr * kPsnsPerMpr),
        word_mask_(std::bit_ceil(static_cast<std::uint64_t>(range_)) / 64 - 1),
        words_(std::make_unique<Word[]>(word_mask_ + 1)),
        expected_(expected.raw()),
        end_(expected.raw()),
        unreported_(expected.raw()) {}

  [[nodiscard]] UnwrappedPsn expected() const { return UnwrappedPsn(expected_); }
  [[nodiscard]] UnwrappedPsn cumulative() const { return UnwrappedPsn(expected_ - 1); }
  // One past the highest that has arrived; `expected` if there is none above.
  [[nodiscard]] UnwrappedPsn end() const { return UnwrappedPsn(end_); }
  [[nodiscard]] std::int64_t range() const { return range_; }
  // How many have arrived above `expected`.
  [[nodiscard]] std::int64_t out_of_order() const { return out_of_order_; }

  void prefetch() const { __builtin_prefetch(words_.get()); }

  [[nodiscard]] bool has(UnwrappedPsn psn) const {
    const std::int64_t at = psn.raw();
    if (at < expected_) return true;
    return at < end_ && (word(at).arrived >> bit(at) & 1) != 0;
  }

  struct Advance {
    std::int64_t packets = 0;   // how far `expected` has moved
    std::int64_t messages = 0;  // how many ends of messages it passed
  };
  // `psn` lies in the window and has not arrived before.
  Advance mark(UnwrappedPsn psn, bool ends_message) {
    const std::int64_t at = psn.raw();
    OPENMRC_DCHECK(at >= expected_ && at < expected_ + range_ && !has(psn), "a new packet");
    if (at == expected_ && out_of_order_ == 0) {  // the common case: no gap before, none after
      ++expected_;
      end_ = expected_;
      unreported_ = std::max(unreported_, expected_);
      return {.packets = 1, .messages = ends_message ? 1 : 0};
    }
    const std::uint64_t mask = std::uint64_t{1} << bit(at);
    word(at).arrived |= mask;
    if (ends_message) word(at).ends |= mask;
    end_ = std::max(end_, at + 1);
    unreported_ = std::min(unreported_, at);
    ++out_of_order_;
    return at == expected_ ? advance() : Advance{};
  }

  // MRC 7.5.2.2: the bitmap of a SACK starts at the lowest packet that no SACK has reported yet, so
  // that each is reported; where that leaves room, older ones are reported again, because SACKs get
  // lost. Calling it counts as reporting (REL-29, REL-30).
  struct Bitmap {
    UnwrappedPsn base;
    std::uint64_t bits;
  };
  Bitmap report() {
    const std::int64_t base = std::max(expected_, std::min(lowest_unreported(), end_ - 64));
    const std::uint64_t bits = bits_from(base);
    const unsigned offset = bit(base);
    word(base).reported |= bits << offset;
    if (offset != 0) word(base + 64 - offset).reported |= bits >> (64 - offset);
    unreported_ = std::min(base + 64, end_);
    return {UnwrappedPsn(base), bits};
  }
  // The same from the lowest gap on, for whoever asks what is missing (MRC 7.4.6; REL-31).
  Bitmap report_gaps() { return {UnwrappedPsn(expected_), bits_from(expected_)}; }

 private:
  struct Word {
    std::uint64_t arrived;
    std::uint64_t ends;
    std::uint64_t reported;
  };

  // The lowest that has arrived above `expected` and was in no report; `end` if there is none.
  [[nodiscard]] std::int64_t lowest_unreported() const {
    for (std::int64_t at = std::max(unreported_, expected_); at < end_; at = (at | 63) + 1) {
      const Word& in = word(at);
      const std::uint64_t left = (in.arrived & ~in.reported) >> bit(at);
      if (left != 0) return std::min(at + std::countr_zero(left), end_);
    }
    return end_;
  }

  static unsigned bit(std::int64_t at) { return static_cast<unsigned>(at & 63); }
  Word& word(std::int64_t at) { return words_[static_cast<std::uint64_t>(at) / 64 & word_mask_]; }
  [[nodiscard]] const Word& word(std::int64_t at) const {
    return words_[static_cast<std::uint64_t>(at) / 64 & word_mask_];
  }

  // Moves `expected` past the unbroken run that begins at it (REL-14).
  Advance advance() {
    Advance moved;
    for (;;) {
      Word& current = word(expected_);
      const unsigned offset = bit(expected_);
      const auto ones = static_cast<unsigned>(std::countr_one(current.arrived >> offset));
      const unsigned run = std::min(ones, 64 - offset);
      if (run == 0) break;
      const std::uint64_t passed = (run == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run) - 1)
                                   << offset;
      // Few packets end a message, and to count is a call.
      if (const std::uint64_t ends = current.ends & passed) moved.messages += std::popcount(ends);
      current.arrived &= ~passed;
      current.ends &= ~passed;
      current.reported &= ~passed;
      expected_ += run;
      moved.packets += run;
    }
    out_of_order_ -= moved.packets;
    unreported_ = std::max(unreported_, expected_);
    return moved;
  }

  [[nodiscard]] std::uint64_t bits_from(std::int64_t base) const {
    if (base >= end_) return 0;
    const unsigned offset = bit(base);
    std::uint64_t bits = word(base).arrived >> offset;
    if (offset != 0) bits |= word(base + 64 - offset).arrived << (64 - offset);
    // Beyond the end, the ring holds what is just above `expected`.
    const std::int64_t left = end_ - base;
    return left >= 64 ? bits : bits & ((std::uint64_t{1} << left) - 1);
  }

  std::int64_t range_ = 0;
  std::uint64_t word_mask_ = 0;
  std::unique_ptr<Word[]> words_;
  std::int64_t expected_ = 0;
  std::int64_t end_ = 0;
  std::int64_t unreported_ = 0;
  std::int64_t out_of_order_ = 0;
};

}  // namespace openmrc::core
