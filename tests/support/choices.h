// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::test {

// A finite stream of numbers that decides what a generator makes. Where the stream ends, every
// choice is the first one, so a shorter stream makes a simpler thing: a property tester that
// shrinks the stream shrinks the packet, and a fuzzer's bytes choose one too.
class Choices {
 public:
  explicit Choices(std::span<const std::uint64_t> numbers) : numbers_(numbers) {}

  std::uint64_t bits(unsigned width) {
    const std::uint64_t number = at_ < numbers_.size() ? numbers_[at_++] : 0;
    return width >= 64 ? number : number & ((std::uint64_t{1} << width) - 1);
  }
  std::uint64_t below(std::uint64_t bound) { return bits(64) % bound; }
  bool flag() { return bits(1) != 0; }
  template <class T, std::size_t kSize>
  T one_of(const T (&options)[kSize]) {
    return options[below(kSize)];
  }

 private:
  std::span<const std::uint64_t> numbers_;
  std::size_t at_ = 0;
};

// As many random numbers as the largest packet needs.
inline constexpr std::size_t kChoicesPerPacket = 64;
inline std::vector<std::uint64_t> random_choices(Rng& rng) {
  std::vector<std::uint64_t> numbers(kChoicesPerPacket);
  for (std::uint64_t& number : numbers) number = rng.next();
  return numbers;
}

}  // namespace openmrc::test
