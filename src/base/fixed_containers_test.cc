// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <set>

#include "openmrc/base/bit_window.h"
#include "openmrc/base/fixed_ring.h"
#include "openmrc/base/fixed_vector.h"
#include "openmrc/base/rng.h"

namespace openmrc {
namespace {

TEST(FixedVector, HoldsWhatWasPushedAndComparesByContent) {
  FixedVector<int, 4> v{1, 2};
  EXPECT_EQ(v.size(), 2u);
  v.push_back(3);
  EXPECT_EQ(v[2], 3);
  EXPECT_NE(v, (FixedVector<int, 4>{1, 2, 4}));
  EXPECT_EQ(v, (FixedVector<int, 4>{1, 2, 3}));
  v.clear();
  EXPECT_TRUE(v.empty());
}

TEST(FixedVectorDeathTest, RefusesToOverflow) {
  FixedVector<int, 2> v{1, 2};
  EXPECT_TRUE(v.full());
  EXPECT_DEATH(v.push_back(3), "full");
  EXPECT_DEATH(static_cast<void>(v[2]), "past the end");
}

TEST(FixedRing, AgreesWithADequeOverManyWraps) {
  FixedRing<std::uint64_t, 8> ring;
  std::deque<std::uint64_t> model;
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    if (!ring.full() && rng.chance({1, 2})) {
      ring.push(rng.next());
      model.push_back(ring[ring.size() - 1]);
    } else if (!ring.empty()) {
      ASSERT_EQ(ring.pop(), model.front());
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    for (std::size_t at = 0; at < model.size(); ++at) ASSERT_EQ(ring[at], model[at]);
  }
}

TEST(FixedRingDeathTest, RefusesToOverflowAndUnderflow) {
  FixedRing<int, 2> ring;
  EXPECT_DEATH(ring.pop(), "empty");
  ring.push(1);
  ring.push(2);
  EXPECT_DEATH(ring.push(3), "full");
}

constexpr std::size_t kWindow = 128;

TEST(BitWindow, MarksEachPositionOnce) {
  BitWindow<kWindow> window(1'000);
  EXPECT_TRUE(window.set(1'005));
  EXPECT_FALSE(window.set(1'005));
  EXPECT_TRUE(window.test(1'005));
  EXPECT_FALSE(window.test(1'004));
  EXPECT_FALSE(window.test(999));
  EXPECT_FALSE(window.test(1'000 + kWindow));
}

TEST(BitWindow, AdvancesOverARunLongerThanAWord) {
  BitWindow<kWindow> window(10);
  for (std::int64_t at = 10; at < 10 + 128; ++at) window.set(at);
  EXPECT_EQ(window.advance_over_set(), 128);
  EXPECT_EQ(window.base(), 138);
  EXPECT_EQ(window.bits64(138), 0u);
}

TEST(BitWindow, AgreesWithASetOverManyWraps) {
  BitWindow<kWindow> window(-50);
  std::set<std::int64_t> model;
  std::int64_t model_base = -50;
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    // Mostly near the base, so that the window moves; sometimes anywhere in it.
    const std::uint64_t reach = rng.chance({9, 10}) ? 8 : kWindow;
    const std::int64_t at = window.base() + static_cast<std::int64_t>(rng.below(reach));
    ASSERT_EQ(window.set(at), model.insert(at).second);
    const std::int64_t before = model_base;
    while (model.erase(model_base) > 0) ++model_base;
    ASSERT_EQ(window.advance_over_set(), model_base - before);
    ASSERT_EQ(window.base(), model_base);
    const std::int64_t from =
        window.base() + static_cast<std::int64_t>(rng.below(2 * kWindow)) - 70;
    std::uint64_t expected = 0;
    for (std::int64_t bit = 0; bit < 64; ++bit) {
      if (model.contains(from + bit)) expected |= std::uint64_t{1} << bit;
    }
    ASSERT_EQ(window.bits64(from), expected) << "from " << from << " base " << window.base();
  }
}

TEST(BitWindowDeathTest, RefusesPositionsOutside) {
  BitWindow<kWindow> window(0);
  EXPECT_DEATH(window.set(-1), "outside the window");
  EXPECT_DEATH(window.set(kWindow), "outside the window");
}

}  // namespace
}  // namespace openmrc
