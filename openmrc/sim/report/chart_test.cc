// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/chart.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/chart_style.h"
#include "openmrc/sim/report/markup_checker.h"

namespace openmrc::sim {
namespace {

using text::Unit;

// 0 to 2 ms across, 52 to 506 pixels; upwards 0 to 108 packets.
Chart simple_chart(Drawn drawn) {
  Chart chart{.title = "A chart",
              .x = {.name = "time", .unit = Unit::kPicoseconds},
              .y = {.name = "packets", .unit = Unit::kCount}};
  chart.series.push_back({.name = "some",
                          .drawn = drawn,
                          .color = series_color(0),
                          .points = {{0, 0}, {1e9, 100}, {2e9, 50}}});
  return chart;
}

void expect_in(const std::string& part, const std::string& svg) {
  EXPECT_EQ(MarkupChecker::check(svg), "");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, svg);
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Chart, HasTitleAxesAndUnits) {
  const std::string svg = render_svg(simple_chart(Drawn::kLine));
  expect_in("<title>A chart</title>", svg);
  expect_in(">time (ms)</text>", svg);
  expect_in(">packets</text>", svg);
  expect_in(">1.5</text>", svg);
  expect_in(">100</text>", svg);
}

TEST(Chart, LineGoesFromPointToPoint) {
  // The plot reaches from 22 to 242 pixels downwards; 100 of 108 is near its top.
  expect_in(R"(d="M52 242L279 38.3L506 140.1" style="stroke:var)",
            render_svg(simple_chart(Drawn::kLine)));
}

TEST(Chart, StepsHoldTheirValue) {
  expect_in(R"(d="M52 242H279V38.3H506V140.1")", render_svg(simple_chart(Drawn::kSteps)));
}

TEST(Chart, AreasStandOnEachOther) {
  Chart chart = simple_chart(Drawn::kArea);
  chart.series.push_back(chart.series.front());
  chart.y.to = 200;
  const std::string svg = render_svg(chart);
  // With a legend the plot begins at 40.
  expect_in(R"(d="M52 242H279V141H506V191.5V242V242H279V242H52Z")", svg);
  expect_in(R"(d="M52 242H279V40H506V141V191.5V141H279V242H52Z")", svg);
}

TEST(Chart, DotsAndBars) {
  EXPECT_EQ(count_of("<circle", render_svg(simple_chart(Drawn::kDots))), 3U);
  Chart bars = simple_chart(Drawn::kBars);
  bars.x = {.name = "step", .unit = Unit::kCount, .from = -0.5, .to = 2.5};
  bars.series[0].points = {{0, 10}, {1, 100}, {2, 50}};
  const std::string svg = render_svg(bars);
  EXPECT_EQ(count_of("<rect", svg), 3U);
  expect_in(R"(x="259" y="38.3" width="40" height="203.7")", svg);
}

TEST(Chart, LegendOnlyWhereThereIsAChoice) {
  Chart chart = simple_chart(Drawn::kLine);
  EXPECT_EQ(count_of(">some</text>", render_svg(chart)), 0U);
  chart.series.push_back({.name = "others", .color = series_color(1), .dashed = true});
  expect_in(">some</text>", render_svg(chart));
  expect_in(R"(<path class="l d" d="M)", render_svg(chart));
}

TEST(Chart, ManyNamesTakeSeveralRows) {
  Chart chart = simple_chart(Drawn::kLine);
  for (int i = 0; i < 20; ++i) chart.series.push_back({.name = "a rather long name"});
  const std::string svg = render_svg(chart);
  EXPECT_EQ(count_of(R"( y="12">)", svg), 4U);
  EXPECT_EQ(count_of(">a rather long name</text>", svg), 20U);
}

TEST(Chart, SpansAreShadedAndLabelled) {
  Chart chart = simple_chart(Drawn::kLine);
  chart.spans.push_back({1e9, 1.5e9, "a fault"});
  const std::string svg = render_svg(chart);
  expect_in(R"(<rect class="span" x="279" y="22" width="113.5" height="220"/>)", svg);
  expect_in(R"(<text class="s f" x="281" y="14">a fault</text>)", svg);
}

TEST(Chart, SpansThatOverlapAreShadedOnce) {
  Chart chart = simple_chart(Drawn::kLine);
  chart.spans = {{0.5e9, 1.5e9, "1"}, {1e9, 2e9, "2"}, {1.2e9, 1.4e9, "3"}, {1.9e9, 9e9, "4"}};
  const std::string svg = render_svg(chart);
  expect_in(R"(x="165.5" y="22" width="227")", svg);
  expect_in(R"(x="392.5" y="22" width="113.5")", svg);
  EXPECT_EQ(count_of(R"(width="0")", svg), 2U);
  EXPECT_EQ(count_of(R"(class="edge")", svg), 4U);
}

TEST(Chart, LabelsOfSpansKeepApart) {
  Chart chart = simple_chart(Drawn::kLine);
  for (int i = 0; i < 50; ++i) chart.spans.push_back({1e9, 2e9, "a fault"});
  EXPECT_EQ(count_of(">a fault</text>", render_svg(chart)), 2U);  // one in each row
  chart.spans = {{1.99e9, 2e9, std::string(100, 'x')}};
  expect_in(">" + std::string(36, 'x') + "...</text>", render_svg(chart));
}

TEST(Chart, LabelIsNotCutInsideACharacter) {
  Chart chart = simple_chart(Drawn::kLine);
  chart.spans = {{0, 2e9, std::string(35, 'x') + "\u00fc and more"}};
  expect_in(">" + std::string(35, 'x') + "...</text>", render_svg(chart));
}

TEST(Chart, ReferencesGoThroughTheWholeChart) {
  Chart chart = simple_chart(Drawn::kLine);
  chart.references = {{50, "half"}, {1e9, "middle", true}, {1.99e9, "near the end", true}};
  const std::string svg = render_svg(chart);
  expect_in(R"(<path class="ref" d="M52 140.1H506"/>)", svg);
  expect_in(R"(<path class="ref" d="M279 22V242"/><text class="s r" x="284" y="234">middle<)", svg);
  expect_in(R"(<text class="e r" x="498.7" y="219">near the end<)", svg);
}

TEST(Chart, TextStaysText) {
  Chart chart = simple_chart(Drawn::kArea);
  chart.title = "<script>alert(1)</script>";
  chart.series[0].name = "a|b\n\"<c>&";
  chart.series.push_back(chart.series[0]);
  chart.spans = {{1e9, 2e9, "</svg><script>"}};
  chart.references = {{50, "<&>"}};
  chart.x.name = "\"t\"";
  chart.total = "<sum>";
  const std::string svg = render_svg(chart);
  EXPECT_EQ(MarkupChecker::check(svg), "");
  EXPECT_EQ(count_of("<script", svg), 0U);
  EXPECT_EQ(count_of("</svg>", svg), 1U);
}

TEST(Chart, NumbersUnderThePointer) {
  Chart chart = simple_chart(Drawn::kArea);
  chart.total = "sum";
  chart.series.push_back(chart.series[0]);
  chart.series.push_back({.name = "short", .drawn = Drawn::kSteps, .points = {{0, 7}, {1e9, 8}}});
  const std::string svg = render_svg(chart);
  expect_in(R"(data-names="time|sum|some|some|short")", svg);
  expect_in(R"(data-rows="52|0 s|0|0|0|7&#10;279|1 ms|200|100|100|8&#10;506|2 ms|100|50|50|")",
            svg);
}

TEST(Chart, NumbersUnderThePointerAreNotTooMany) {
  Chart chart = simple_chart(Drawn::kSteps);
  chart.series[0].points.clear();
  for (int i = 0; i < 5'000; ++i) chart.series[0].points.push_back({i * 1e6, 1});
  EXPECT_LE(count_of("&#10;", render_svg(chart)), 240U);
}

TEST(Chart, OfNothing) {
  EXPECT_EQ(MarkupChecker::check(render_svg(Chart{})), "");
  Chart chart = simple_chart(Drawn::kArea);
  chart.series[0].points.clear();
  EXPECT_EQ(MarkupChecker::check(render_svg(chart)), "");
}

TEST(ChartStyle, IsPartOfAWellFormedPage) {
  EXPECT_EQ(MarkupChecker::check("<style>" + chart_css() + "</style>"), "");
  EXPECT_EQ(MarkupChecker::check("<script>" + chart_script() + "</script>"), "");
}

TEST(ChartStyle, ColorsRepeatAndShadesDiffer) {
  EXPECT_EQ(series_color(0), series_color(8));
  EXPECT_NE(series_color(0), series_color(1));
  EXPECT_EQ(shade_color(0, 1), shade_color(0, 16));
  for (std::size_t i = 1; i < 16; ++i) EXPECT_NE(shade_color(i, 16), shade_color(i - 1, 16));
}

}  // namespace
}  // namespace openmrc::sim
