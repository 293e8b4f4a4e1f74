// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/time.h"

#include <gtest/gtest.h>

#include <concepts>

namespace openmrc {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

TEST(Time, UnitsAreNanosecondsUnderneath) {
  EXPECT_EQ(microseconds(3).raw(), 3'000);
  EXPECT_EQ(milliseconds(3), microseconds(3'000));
  EXPECT_EQ(seconds(1), nanoseconds(1'000'000'000));
}

TEST(Time, InstantsDifferByDurations) {
  const Instant start(100);
  EXPECT_EQ((start + microseconds(1)) - start, nanoseconds(1'000));
  EXPECT_LT(start - nanoseconds(1), start);
}

TEST(Quantity, AmountsOfOneKindAdd) {
  ByteCount sent(100);
  sent += ByteCount(28);
  sent -= ByteCount(228);
  EXPECT_EQ(sent, -ByteCount(100));
  EXPECT_EQ(sent * 3 / 2, ByteCount(-150));
}

TEST(Quantity, AmountsOfTwoKindsDoNotMix) {
  static_assert(Addable<ByteCount, ByteCount>);
  static_assert(!Addable<ByteCount, Duration>);
  static_assert(!Addable<Instant, Instant>);
  static_assert(!std::convertible_to<std::int64_t, Duration>);
}

}  // namespace
}  // namespace openmrc
