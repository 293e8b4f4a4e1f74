// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/containers/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/containers/pool_list.h"

namespace openmrc::core {
namespace {

struct Element {
  std::uint64_t value = 0;
  PoolIndex next = kNoElement;
};
using SmallPool = Pool<Element, 2>;  // slabs of four

// --- Pool ---

TEST(Pool, TakesNothingUntilItIsUsed) {
  SmallPool pool(100);
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_NE(pool.take(), kNoElement);
  EXPECT_EQ(pool.in_use(), 1u);
}

TEST(Pool, GivesDifferentElementsUpToItsLimitInWholeSlabs) {
  for (const std::size_t limit : {0u, 1u, 4u, 5u, 64u}) {
    SmallPool pool(limit);
    std::set<PoolIndex> taken;
    for (PoolIndex index = pool.take(); index != kNoElement; index = pool.take()) {
      ASSERT_TRUE(taken.insert(index).second);
    }
    EXPECT_EQ(taken.size(), (limit + 3) / 4 * 4);
    EXPECT_EQ(pool.in_use(), taken.size());
    EXPECT_EQ(pool.take(), kNoElement);
    if (limit == 0) continue;
    pool.give_back(*taken.begin());
    EXPECT_EQ(pool.take(), *taken.begin());
  }
}

TEST(Pool, ElementsStayWhereTheyAreWhenItGrows) {
  SmallPool pool(1'000);
  const PoolIndex first = pool.take();
  Element* where = &pool[first];
  where->value = 42;
  for (int i = 0; i < 900; ++i) static_cast<void>(pool.take());
  EXPECT_EQ(&pool[first], where);
  EXPECT_EQ(pool[first].value, 42u);
}

TEST(Pool, AgreesWithAMap) {
  SmallPool pool(64);
  std::map<PoolIndex, std::uint64_t> model;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    if (rng.chance({1, 2})) {
      const PoolIndex index = pool.take();
      ASSERT_EQ(index == kNoElement, model.size() == 64);
      if (index == kNoElement) continue;
      const std::uint64_t value = rng.next();
      ASSERT_TRUE(model.emplace(index, value).second) << "in use already";
      pool[index].value = value;
    } else if (!model.empty()) {
      const auto at =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(rng.below(model.size())));
      ASSERT_EQ(pool[at->first].value, at->second);
      pool.give_back(at->first);
      model.erase(at);
    }
    ASSERT_EQ(pool.in_use(), model.size());
  }
  const SmallPool& constant = pool;
  for (const auto& [index, value] : model) EXPECT_EQ(constant[index].value, value);
}

TEST(PoolDeathTest, RefusesAnIndexThatItHasNotGiven) {
#ifdef OPENMRC_DEBUG_CHECKS
  SmallPool pool(64);
  EXPECT_DEATH(static_cast<void>(pool[0]), "not an element");
  static_cast<void>(pool.take());
  EXPECT_DEATH(static_cast<void>(pool[4]), "not an element");
  EXPECT_DEATH(pool.give_back(kNoElement), "not an element");
#else
  GTEST_SKIP() << "checked in debug builds only";
#endif
}

// --- PoolList ---

std::vector<PoolIndex> elements_of(const PoolList& list, const SmallPool& pool) {
  std::vector<PoolIndex> elements;
  for (PoolIndex at = list.first(); at != kNoElement; at = pool[at].next) elements.push_back(at);
  return elements;
}

TEST(PoolList, IsEightBytesAndEmptyAtFirst) {
  EXPECT_EQ(sizeof(PoolList), 8u);
  const PoolList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.first(), kNoElement);
  EXPECT_EQ(list.last(), kNoElement);
}

TEST(PoolList, InsertsInFrontBetweenAndBehind) {
  SmallPool pool(8);
  const PoolIndex a = pool.take();
  const PoolIndex b = pool.take();
  const PoolIndex c = pool.take();
  const PoolIndex d = pool.take();
  PoolList list;
  list.insert_after(pool, kNoElement, b);  // into an empty list
  list.insert_after(pool, kNoElement, a);
  list.insert_after(pool, b, d);
  list.insert_after(pool, b, c);
  EXPECT_EQ(elements_of(list, pool), (std::vector{a, b, c, d}));
  EXPECT_EQ(list.last(), d);
}

TEST(PoolList, AgreesWithAListWhileElementsComeAndGo) {
  SmallPool pool(32);
  PoolList list;
  std::list<PoolIndex> model;
  Rng rng(2);
  for (int i = 0; i < 20'000; ++i) {
    const PoolIndex index = rng.chance({1, 2}) ? pool.take() : kNoElement;
    if (index != kNoElement && rng.chance({1, 2})) {
      list.push_back(pool, index);
      model.push_back(index);
    } else if (index != kNoElement) {
      auto at = std::next(model.begin(), static_cast<std::ptrdiff_t>(rng.below(model.size() + 1)));
      list.insert_after(pool, at == model.begin() ? kNoElement : *std::prev(at), index);
      model.insert(at, index);
    } else if (!model.empty()) {
      const PoolIndex popped = list.pop_front(pool);
      ASSERT_EQ(popped, model.front());
      model.pop_front();
      pool.give_back(popped);
    }
    ASSERT_EQ(list.empty(), model.empty());
    ASSERT_EQ(list.last(), model.empty() ? kNoElement : model.back());
    ASSERT_EQ(elements_of(list, pool), (std::vector<PoolIndex>(model.begin(), model.end())));
  }
}

// --- GrowingRing ---

TEST(GrowingRing, AgreesWithADequeWhileItGrows) {
  GrowingRing<std::uint64_t> ring;
  std::deque<std::uint64_t> model;
  Rng rng(3);
  for (int i = 0; i < 50'000; ++i) {
    // First it mostly grows, beyond several doublings, then it mostly shrinks, and again.
    const bool grows = i / 5'000 % 2 == 0;
    if (rng.chance({grows ? 2u : 1u, 3})) {
      ring.push(rng.fork(static_cast<std::uint64_t>(i)).next());
      model.push_back(rng.fork(static_cast<std::uint64_t>(i)).next());
    } else if (!model.empty()) {
      ASSERT_EQ(ring.front(), model.front());
      ASSERT_EQ(ring.pop(), model.front());
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
  }
}

TEST(GrowingRing, KeepsTheOrderWhenItGrowsInTheMiddleOfALap) {
  for (int lead = 0; lead < 130; ++lead) {
    GrowingRing<int> ring;
    for (int i = 0; i < lead; ++i) {
      ring.push(-1);
      ring.pop();
    }
    for (int i = 0; i < 300; ++i) ring.push(i);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(ring.pop(), i) << "lead " << lead;
    ASSERT_TRUE(ring.empty());
  }
}

TEST(GrowingRingDeathTest, RefusesToUnderflow) {
  GrowingRing<int> ring;
  EXPECT_DEATH(static_cast<void>(ring.front()), "queue is empty");
  ring.push(1);
  ring.pop();
  EXPECT_DEATH(ring.pop(), "queue is empty");
}

}  // namespace
}  // namespace openmrc::core
