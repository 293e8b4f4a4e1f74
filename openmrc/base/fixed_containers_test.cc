// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

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

}  // namespace
}  // namespace openmrc
