// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/interval_chart.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/sim/report/markup_checker.h"

namespace openmrc::sim {
namespace {

IntervalChart sample_chart() {
  return {.title = "a < b",
          .unit = text::Unit::kPicoseconds,
          .rows = {{.name = "4 & 8", .at = 9e8, .low = 8e8, .high = 1e9},
                   {.name = std::string(50, 'x'), .at = 9.5e8, .low = 9.4e8, .high = 9.6e8}}};
}

TEST(IntervalChart, IsWellFormed) {
  EXPECT_EQ(MarkupChecker::check(render_svg(sample_chart())), "");
  EXPECT_EQ(MarkupChecker::check(render_svg(IntervalChart{})), "");
}

TEST(IntervalChart, HasALineForEachRow) {
  const std::string svg = render_svg(sample_chart());
  EXPECT_NE(svg.find("<title>4 &amp; 8: 900 us [800 us, 1 ms]</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">" + std::string(34, 'x') + "...</text>"), std::string::npos) << svg;
}

TEST(IntervalChart, BeginsAtZeroIfValuesLieFarApart) {
  IntervalChart chart = sample_chart();
  EXPECT_EQ(render_svg(chart).find(">0.0</text>"), std::string::npos);
  EXPECT_TRUE(begins_above_zero(chart));
  chart.rows[0].low = 1e8;
  EXPECT_NE(render_svg(chart).find(">0.0</text>"), std::string::npos) << render_svg(chart);
  EXPECT_FALSE(begins_above_zero(chart));
}

TEST(IntervalChart, OfEqualValuesStandsInTheMiddle) {
  const std::string svg = render_svg({.rows = {{.name = "a", .at = 500, .low = 500, .high = 500}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
}

TEST(IntervalChart, CutsNamesBetweenCharacters) {
  IntervalChart chart = sample_chart();
  chart.rows[1].name = std::string(33, 'x') + "\u00b7\u00b7\u00b7\u00b7";
  EXPECT_NE(render_svg(chart).find(std::string(33, 'x') + "..."), std::string::npos);
}

}  // namespace
}  // namespace openmrc::sim
