// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/shielded_utf8.h"

#include <gtest/gtest.h>

namespace openmrc::text {
namespace {

TEST(ShieldedUtf8, EveryByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string hidden = shielded(all);
  EXPECT_EQ(hidden.size(), 128 + 128 * 4U);
  EXPECT_TRUE(is_utf8(hidden));
  EXPECT_EQ(unshielded(hidden), all);
  EXPECT_EQ(unshielded(shielded(shielded("\xc3\xa4"))), shielded("\xc3\xa4"));
  EXPECT_EQ(unshielded("plain"), "plain");
  EXPECT_EQ(unshielded("a\xf4\x80\x80\x80z"), "a\xf4\x80\x80\x80z");
  EXPECT_EQ(unshielded("cut\xf4\x80"), "cut\xf4\x80");
}

TEST(ShieldedUtf8, KnowsUtf8) {
  for (const char* const text : {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* const text :
       {"\xc3", "\xa4", "\xc3z", "\xff", "\xf8\x80\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace openmrc::text
