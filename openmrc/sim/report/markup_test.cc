// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/markup.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/markup_checker.h"

namespace openmrc::sim {
namespace {

TEST(Markup, TextStaysText) {
  EXPECT_EQ(escaped("a < b & c > \"d\" 'e'"), "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escaped("line\n\ttab\r"), "line\n\ttab\r");
  EXPECT_EQ(escaped("\u00fc"), "\u00fc");
}

TEST(Markup, WhatXmlCannotSayIsReplaced) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1f", 4)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(MarkupChecker, AcceptsWhatIsWellFormed) {
  EXPECT_EQ(MarkupChecker::check("<a b=\"c\" d-e=\"&lt;\"><f/>text &amp; more</a>"), "");
  EXPECT_EQ(MarkupChecker::check("<!DOCTYPE html>\n<html></html>"), "");
}

TEST(MarkupChecker, RefusesWhatIsNot) {
  for (const char* text :
       {"<a>", "</a>", "<a></b>", "<a><b></a></b>", "<a b=c/>", "<a b=\"c/>", "a & b", "a &nbsp; b",
        "a < b", "<a b=\"<\"/>", "a\x01", "<a b=\"&\"/>"}) {
    EXPECT_NE(MarkupChecker::check(text), "") << text;
  }
}

}  // namespace
}  // namespace openmrc::sim
