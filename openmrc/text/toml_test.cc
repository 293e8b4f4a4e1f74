// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml.h"

#include <gtest/gtest.h>

namespace openmrc::text {
namespace {

TEST(Toml, KeepsTheOrderAndTheLinesOfTheFile) {
  const auto file = parse_toml("zebra = 1\nant = 2.5\n\n[section]\nflag = true\nname = 'x'\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->entries.size(), 3U);
  EXPECT_EQ(file->entries[0].key, "zebra");
  EXPECT_EQ(file->entries[1].key, "ant");
  EXPECT_EQ(file->entries[1].line, 2U);
  const auto* section = file->entries[2].value.as<Table>();
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(section->line, 4U);
  ASSERT_NE(section->find("name"), nullptr);
  EXPECT_EQ(section->find("name")->line, 6U);
  EXPECT_EQ(section->find("none"), nullptr);
}

TEST(Toml, ShowsValuesAsTheyWereWritten) {
  const auto file =
      parse_toml("a = 1\nb = 2.5\nc = true\nd = 'x'\ne = [1, 2]\nf = {g = 1}\nh = 2026-05-01\n");
  ASSERT_TRUE(file);
  std::vector<std::string> all;
  for (const Entry& entry : file->entries) all.push_back(shown(entry.value));
  EXPECT_EQ(all, (std::vector<std::string>{"1", "2.5", "true", "\"x\"", "a list", "a table",
                                           "a date or time of day"}));
}

TEST(Toml, KnowsListsOfTables) {
  const auto file = parse_toml("mixed = [{a = 1}, 2]\nempty = []\n[[port]]\n[[port]]\n");
  ASSERT_TRUE(file);
  EXPECT_FALSE(is_list_of_tables(file->find("mixed")->value));
  EXPECT_TRUE(is_list_of_tables(file->find("empty")->value));
  EXPECT_TRUE(is_list_of_tables(file->find("port")->value));
}

TEST(Toml, SaysWhereItIsNotToml) {
  EXPECT_EQ(parse_toml("a = 1\nb = \n").error().line, 2U);
  EXPECT_EQ(parse_toml("a = 1\n\na = 2\n").error().line, 3U);
  EXPECT_EQ(parse_toml("\n\n\x01").error().line, 3U);
  EXPECT_TRUE(parse_toml("a").error().message.starts_with("invalid TOML: "));
}

}  // namespace
}  // namespace openmrc::text
