// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/proven_evs.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace openmrc::core {
namespace {

constexpr Instant kNow{1'000};
constexpr Instant kUntil{2'000};

EvIndex ev(unsigned number) { return EvIndex(static_cast<std::uint8_t>(number)); }

std::vector<EvIndex> next(ProvenEvs& proven, int count, Instant now = kNow) {
  std::vector<EvIndex> evs;
  for (int i = 0; i < count; ++i) {
    if (const auto one = proven.next(now)) evs.push_back(*one);
  }
  return evs;
}
std::set<EvIndex> all(ProvenEvs& proven, Instant now = kNow) {
  const std::vector<EvIndex> evs = next(proven, 2 * ProvenEvs::kSize, now);
  return {evs.begin(), evs.end()};
}

TEST(ProvenEvs, IsEmptyAtFirst) {
  ProvenEvs proven;
  EXPECT_FALSE(proven.next(kNow));
  EXPECT_FALSE(proven.has_any(kNow));
}

// PATH-69
TEST(ProvenEvs, TakesThemInTurn) {
  ProvenEvs proven;
  for (const unsigned number : {1u, 2u, 3u}) proven.add(ev(number), kUntil);
  EXPECT_EQ(next(proven, 6), (std::vector{ev(2), ev(1), ev(3), ev(2), ev(1), ev(3)}));
}

// PATH-68
TEST(ProvenEvs, KeepsTheLatest) {
  ProvenEvs proven;
  for (unsigned number = 0; number < 20; ++number) proven.add(ev(number), kUntil);
  std::set<EvIndex> latest;
  for (unsigned number = 20 - ProvenEvs::kSize; number < 20; ++number) latest.insert(ev(number));
  EXPECT_EQ(all(proven), latest);
}

TEST(ProvenEvs, TheSameAgainTakesNoOthersPlace) {
  ProvenEvs proven;
  proven.add(ev(1), kUntil);
  for (unsigned i = 0; i < 20; ++i) proven.add(ev(2), kUntil);
  EXPECT_EQ(all(proven), (std::set{ev(1), ev(2)}));
}

TEST(ProvenEvs, EachExpiresByItself) {
  ProvenEvs proven;
  proven.add(ev(1), kUntil);
  proven.add(ev(2), kUntil + nanoseconds(10));
  EXPECT_EQ(all(proven, kUntil), (std::set{ev(1), ev(2)}));
  EXPECT_EQ(all(proven, kUntil + nanoseconds(1)), (std::set{ev(2)}));
  proven.add(ev(2), kUntil + nanoseconds(20));
  EXPECT_TRUE(proven.has_any(kUntil + nanoseconds(20)));
  EXPECT_FALSE(proven.has_any(kUntil + nanoseconds(21)));
  EXPECT_TRUE(all(proven, kUntil + nanoseconds(21)).empty());
}

TEST(ProvenEvs, OneThatIsRemovedDoesNotReturnByItself) {
  ProvenEvs proven;
  for (const unsigned number : {1u, 2u, 1u, 3u}) proven.add(ev(number), kUntil);
  proven.remove(ev(1));
  EXPECT_EQ(all(proven), (std::set{ev(2), ev(3)}));
  proven.add(ev(1), kUntil);
  EXPECT_EQ(all(proven), (std::set{ev(1), ev(2), ev(3)}));
  proven.clear();
  EXPECT_TRUE(all(proven).empty());
}

}  // namespace
}  // namespace openmrc::core
