// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/matcher.h"

#include <gtest/gtest.h>

#include <array>

#include "openmrc/tagged/buffer.h"

namespace openmrc::tagged {
namespace {

Arrival arrival(int from, std::uint64_t tag, std::uint32_t id, Kind kind = Kind::kAnnounce) {
  return {.from = from, .header = {.kind = kind, .tag = tag, .id = id}};
}

TEST(Matcher, GivesTheOldestMessageOfTheTagAndRank) {
  Matcher matcher;
  matcher.keep(arrival(2, 7, 1));
  matcher.keep(arrival(1, 7, 2));
  matcher.keep(arrival(2, 7, 3));
  matcher.keep(arrival(2, 8, 4));
  EXPECT_EQ(matcher.take_arrival(7, std::array{2})->header.id, 1U);
  EXPECT_EQ(matcher.take_arrival(7, std::array{1, 2})->header.id, 2U);
  EXPECT_EQ(matcher.take_arrival(7, std::array{2})->header.id, 3U);
  EXPECT_FALSE(matcher.take_arrival(7, std::array{2}));
  EXPECT_FALSE(matcher.take_arrival(9, std::array{2}));
  EXPECT_EQ(matcher.take_arrival(8, std::array{2})->header.id, 4U);
}

TEST(Matcher, GivesTheOldestReceiveThatTheRankMayEnd) {
  Matcher matcher;
  Buffer one({});
  Buffer any({});
  matcher.wait(7, {.buffer = &one, .from = {1}});
  matcher.wait(7, {.buffer = &any, .from = {1, 2}});
  EXPECT_EQ(matcher.take_receive(7, 2)->buffer, &any);
  EXPECT_FALSE(matcher.take_receive(7, 2));
  EXPECT_EQ(matcher.take_receive(7, 1)->buffer, &one);
  EXPECT_FALSE(matcher.take_receive(7, 1));
}

TEST(Matcher, SaysWhoIsWaitedFor) {
  Matcher matcher;
  Buffer one({});
  Buffer any({});
  matcher.wait(7, {.buffer = &any, .from = {3, 1}});
  EXPECT_FALSE(matcher.awaits_only(1));
  matcher.wait(8, {.buffer = &one, .from = {1}});
  EXPECT_TRUE(matcher.awaits_only(1));
  EXPECT_EQ(matcher.awaited(any), (std::vector{1, 3}));
  matcher.forget(one);
  EXPECT_FALSE(matcher.awaits_only(1));
  EXPECT_TRUE(matcher.awaited(one).empty());
}

TEST(Matcher, CountsAnnouncedMessagesThatAreKept) {
  Matcher matcher;
  matcher.keep(arrival(2, 7, 1));
  matcher.keep(arrival(2, 7, 2, Kind::kEager));
  EXPECT_EQ(matcher.announced(2), 1U);
  EXPECT_EQ(matcher.announced(1), 0U);
  EXPECT_TRUE(matcher.take_arrival(7, std::array{2}));
  EXPECT_EQ(matcher.announced(2), 0U);
}

}  // namespace
}  // namespace openmrc::tagged
