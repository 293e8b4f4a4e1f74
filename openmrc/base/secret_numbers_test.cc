// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/secret_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace openmrc {
namespace {

constexpr SecretNumbers::Key kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

// The published vector for the bytes 0 to 7 (SEC-6).
TEST(SecretNumbers, HashesAsPublished) {
  EXPECT_EQ(sip_hash(kKey, 0x0706050403020100), 0x93f5f5799a932462);
}

// SEC-6
TEST(SecretNumbers, TheSameKeyGivesTheSameNumbersAndAnotherKeyOthers) {
  SecretNumbers one(kKey);
  SecretNumbers same(kKey);
  SecretNumbers other({kKey[0], kKey[1] + 1});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t number = one.next();
    EXPECT_EQ(same.next(), number);
    seen.insert(number);
    seen.insert(other.next());
  }
  EXPECT_EQ(seen.size(), 2'000U);
}

// SEC-6
TEST(SecretNumbers, EachNumberBelowABoundIsEquallyLikely) {
  SecretNumbers numbers(kKey);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(numbers.below(7));
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  EXPECT_GT(*least, 9'700);  // three standard deviations are 278
  EXPECT_LT(*most, 10'300);
}

}  // namespace
}  // namespace openmrc
