// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/memory/placement.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace openmrc::core {
namespace {

TEST(PlaceInOrder, CopiesAnySizeToAnyPlace) {
  std::vector<std::byte> from(600);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t offset = 0; offset < 9; ++offset) {
    for (std::size_t size = 0; size <= 560; ++size) {
      std::vector<std::byte> to(600);
      place_in_order(to.data() + offset, {from.data(), size});
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool inside = i >= offset && i < offset + size;
        ASSERT_EQ(to[i], inside ? from[i - offset] : std::byte{0}) << offset << " " << size;
      }
    }
  }
}

// A record of 64 bytes with its number in each word: who sees a new number in a word sees it, or a
// later one, in all words before.
TEST(PlaceInOrder, WhoSeesAWordSeesAllBeforeIt) {
  constexpr std::uint64_t kRounds = 200'000;
  alignas(64) std::array<std::uint64_t, 8> record{};
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      std::array<std::uint64_t, 8> next;
      next.fill(round);
      place_in_order(reinterpret_cast<std::byte*>(record.data()), std::as_bytes(std::span(next)));
    }
    done = true;
  });
  bool in_order = true;
  while (!done && in_order) {
    std::uint64_t later = 0;
    for (std::size_t word = record.size(); word-- > 0;) {
      const std::uint64_t seen = __atomic_load_n(&record[word], __ATOMIC_ACQUIRE);
      in_order = in_order && seen >= later;
      later = seen;
    }
  }
  writer.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(record[7], kRounds);
}

}  // namespace
}  // namespace openmrc::core
