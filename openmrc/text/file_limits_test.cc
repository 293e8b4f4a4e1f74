// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/file_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/text/toml.h"
#include "openmrc/text/toml_setting.h"

namespace openmrc::text {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string key_of_parts(std::size_t parts) { return "a" + repeated(".a", parts - 1); }

std::string error_of(std::string_view text) {
  const auto table = parse_toml(text);
  return table ? "" : to_string(table.error());
}

// Several megabytes once used up the stack.
TEST(TomlLimits, AKeyOfTooManyPartsIsAnErrorWithItsLine) {
  EXPECT_EQ(error_of(key_of_parts(kTomlKeyPartsMax) + " = 1\n"), "");
  EXPECT_EQ(error_of("b = 1\n" + key_of_parts(kTomlKeyPartsMax + 1) + " = 1\n"),
            "line 2: a key has more than 16 parts");
  EXPECT_EQ(error_of("[" + key_of_parts(1'000'000) + "]\n"),
            "line 1: a key has more than 16 parts");
  EXPECT_EQ(error_of("x = {" + key_of_parts(1'000'000) + " = 1}\n"),
            "line 1: a key has more than 16 parts");
}

TEST(TomlLimits, QuotedPartsCount) {
  EXPECT_NE(error_of(repeated("\"a\".", kTomlKeyPartsMax) + "'b' = 1\n"), "");
}

TEST(TomlLimits, DeepValuesAreAnError) {
  const auto lists = [](std::size_t deep) {
    return "x = " + repeated("[", deep) + repeated("]", deep) + "\n";
  };
  EXPECT_EQ(error_of(lists(kTomlNestingMax)), "");
  EXPECT_EQ(error_of(lists(kTomlNestingMax + 1)), "line 1: values are nested more than 16 deep");
  EXPECT_NE(error_of("x = " + repeated("{a = ", 100'000)), "");
}

TEST(TomlLimits, WhatIsInStringsAndCommentsDoesNotCount) {
  const std::string dots = repeated(".", 100);
  const std::string brackets = repeated("[", 100);
  EXPECT_EQ(error_of("# " + dots + brackets + "\na = \"" + dots + brackets + "\\\"" + dots +
                     "\"\nb = '" + dots + brackets + "'\nc = \"\"\"\n" + dots + brackets +
                     "\"\"\"\"\nd = '''\n" + dots + brackets + "'''\n"),
            "");
  EXPECT_EQ(error_of("addresses = [" + repeated("1.5, ", 100) + "]\n"), "");
}

// What looks like the inside of a string only if its end is missed.
TEST(TomlLimits, StringsEndWhereTheParserEndsThem) {
  const std::string deep = key_of_parts(100'000) + " = 1";
  for (const std::string before :
       {R"(x = [""" """", {)", R"(x = [""" """"", {)", R"(x = ['''a'''', {)", R"(x = ["\\", {)",
        R"(x = ['\', {)", "x = [\"\"\"\\\n\"\"\", {", R"(x = ["", '', {)"}) {
    EXPECT_NE(error_of(before + deep + "}]\n").find("parts"), std::string::npos) << before;
  }
}

// The parser asserts, or worse, where it should look.
TEST(TomlLimits, WhatTheParserTakesForGrantedIsAnError) {
  for (const char* const text :
       {"[@x]", "[[@x]]", "[ .x]", "[\x01]", "[#]", "\xef\xbb\xbf[@x]", "x = 2026-05-01T",
        "x = 1\xce\xb1", "p\xef\xbb\x9f = 2", "[\xc3\xa4]", "x = \xc2\xa0 1",
        "x = \"\"\"\\\xc3\xa4\"\"\"", "x = \xff"}) {
    EXPECT_NE(error_of(text).find("invalid TOML"), std::string::npos) << text;
  }
  const auto file =
      parse_toml("\xef\xbb\xbf# \xc3\xa4\n'\xc3\xa4' = \"\"\"\xc3\xa4\\\n \xc3\xa4\"\"\"\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->entries.at(0).key, "\xc3\xa4");
  EXPECT_EQ(shown(file->entries.at(0).value), "\"\xc3\xa4\xc3\xa4\"");
}

TEST(TomlLimits, AFileThatIsTooLargeIsAnError) {
  EXPECT_EQ(error_of("# " + std::string(kTomlBytesMax - 3, 'x') + "\n"), "");
  EXPECT_EQ(error_of("# " + std::string(kTomlBytesMax, 'x') + "\n"),
            "is larger than 4MiB, the most that is read");
}

TEST(TomlLimits, HoldForSettings) {
  Table file;
  const auto applied = apply_setting(file, key_of_parts(1'000'000) + "=1");
  ASSERT_FALSE(applied);
  EXPECT_NE(applied.error().message.find("parts"), std::string::npos);
}

TEST(JsonDepth, IsLimited) {
  EXPECT_TRUE(check_json_depth(repeated("[", kJsonNestingMax)));
  EXPECT_FALSE(check_json_depth(repeated("[", kJsonNestingMax + 1)));
  EXPECT_FALSE(check_json_depth(repeated("{\"a\":", 1'000'000)));
  EXPECT_TRUE(check_json_depth(repeated("[]{}", 1000)));
}

TEST(JsonDepth, StringsDoNotCount) {
  EXPECT_TRUE(check_json_depth("\"" + repeated("[", 100) + "\\\"" + repeated("{", 100) + "\""));
  EXPECT_FALSE(check_json_depth(R"(["\\")" + repeated("[", 100)));
}

TEST(FileErrors, OnlyTheFirstAreShown) {
  const std::vector<FileError> errors(kErrorsShownMax + 7, FileError{.message = "wrong"});
  const std::string shown = to_string(errors);
  EXPECT_TRUE(shown.ends_with("wrong\nand 7 more errors")) << shown;
}

}  // namespace
}  // namespace openmrc::text
