// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace openmrc::softswitch {
namespace {

TEST(Drop, EveryReasonHasANameAndATextOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (const DropInfo& info : kDropTable) {
    EXPECT_TRUE(names.insert(info.counter).second) << info.counter;
    EXPECT_TRUE(texts.insert(info.text).second) << info.counter;
    EXPECT_FALSE(info.text.empty()) << info.counter;
  }
}

TEST(Drop, NamesAreSnakeCaseThatProgramsCanUse) {
  for (const DropInfo& info : kDropTable) {
    EXPECT_TRUE(std::ranges::all_of(info.counter, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    })) << info.counter;
  }
}

TEST(Drop, EnumeratorsAndTableAreInTheSameOrder) {
  EXPECT_EQ(describe(Drop::kTooLong).counter, "too_long");
  EXPECT_EQ(describe(Drop::kUsidUnknown).counter, "usid_unknown");
  EXPECT_EQ(describe(Drop::kControlFull).counter, "control_full");
  EXPECT_EQ(static_cast<std::size_t>(Drop::kControlFull) + 1, kDropTable.size());
}

TEST(Drop, ReasonsAreCountedApart) {
  DropCounters counters;
  counters.count(Drop::kHopLimit);
  counters.count(Drop::kHopLimit);
  counters.count(Drop::kDataFull);
  EXPECT_EQ(counters.of(Drop::kHopLimit), 2u);
  EXPECT_EQ(counters.of(Drop::kDataFull), 1u);
  EXPECT_EQ(counters.of(Drop::kNoRoute), 0u);
  EXPECT_EQ(counters.total(), 3u);
}

TEST(Drop, EveryReasonIsInTheDocument) {
  std::ifstream file(OPENMRC_SOFTSWITCH_DOC);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  for (const DropInfo& info : kDropTable) {
    EXPECT_NE(text.find('`' + std::string(info.counter) + '`'), std::string::npos) << info.counter;
  }
}

}  // namespace
}  // namespace openmrc::softswitch
