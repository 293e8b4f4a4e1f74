// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace openmrc::text {
namespace {

// What a file says, written, read and written again.
std::string twice(std::string_view value) {
  const auto first = toml_text(parse_toml(fmt::format("x = {}", value))->entries[0].value);
  if (!first) return "none";
  const auto parsed = parse_toml(fmt::format("x = {}", *first));
  if (!parsed) return "not TOML: " + *first;
  EXPECT_EQ(toml_text(parsed->entries[0].value), first);
  return *first;
}

TEST(TomlText, SaysWhatTheFileSays) {
  for (const std::string_view value :
       {"5", "-9223372036854775808", "true", "false", "0.25", "1.0", "1e+30", "inf", "nan",
        "\"8 MiB\"", "\"a \\\"b\\\" \\\\ \\u000a\"", "[]", "[1, [2.5, \"x\"]]", "{ }",
        "{ kind = \"cut\", \"a b\" = { c = [] } }"}) {
    EXPECT_EQ(twice(value), value);
  }
}

TEST(TomlText, QuotesAreThoseOfOneLine) {
  EXPECT_EQ(twice("'a\tb'"), "\"a\\u0009b\"");
  EXPECT_EQ(twice("\"\"\"\na\nb\"\"\""), "\"a\\u000ab\"");
}

TEST(TomlText, ADateIsNone) {
  EXPECT_EQ(twice("2026-01-01"), "none");
  EXPECT_EQ(twice("[1, { a = 07:32:00 }]"), "none");
}

}  // namespace
}  // namespace openmrc::text
