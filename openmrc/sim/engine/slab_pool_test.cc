// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/slab_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace openmrc::sim {
namespace {

struct Big {
  char bytes[kHugePageBytes / 4];
};

TEST(SlabPool, GivesEachElementToOneUserAtATime) {
  SlabPool<Big> pool;
  std::set<Big*> taken;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(taken.insert(pool.take()).second);
  EXPECT_EQ(pool.bytes(), 12 * sizeof(Big)) << "three slabs of four";
  Big* const last = *taken.rbegin();
  pool.give_back(last);
  EXPECT_EQ(pool.take(), last) << "what is still in the cache is used first";
}

TEST(SlabPool, DoesNotGrowForWhatComesBack) {
  SlabPool<Big> pool;
  for (int i = 0; i < 100; ++i) {
    Big* const both[] = {pool.take(), pool.take()};
    EXPECT_NE(both[0], both[1]);
    pool.give_back(both);
  }
  EXPECT_EQ(pool.bytes(), kHugePageBytes);
}

}  // namespace
}  // namespace openmrc::sim
