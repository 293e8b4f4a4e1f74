// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/report.h"

#include <gtest/gtest.h>

#include "openmrc/sim/report/markup_checker.h"
#include "openmrc/sim/report/report_charts.h"
#include "openmrc/sim/report/report_style.h"
#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

void expect_in(const std::string& part, const std::string& page) {
  EXPECT_NE(page.find(part), page.npos) << part;
}

void expect_not_in(const std::string& part, const std::string& page) {
  EXPECT_EQ(page.find(part), page.npos) << part;
}

RunResult slower_result() {
  RunResult result = sample_result();
  result.transport = "rc";
  for (FlowRecord& flow : result.flows) flow.end = flow.end * 3;
  result.end = result.end * 3;
  return result;
}

void add_steps(RunResult& result, int count, int microseconds) {
  for (int i = 0; i < count; ++i) {
    const Picoseconds begin = kMicrosecond * microseconds * i;
    result.steps.push_back({begin, begin + kMicrosecond * microseconds, 8});
  }
}

std::vector<std::string> chart_titles(const RunResult& result, const RunResult* baseline) {
  std::vector<std::string> titles;
  for (const ReportChart& item : report_charts(result, baseline)) {
    titles.push_back(item.chart.title);
    EXPECT_FALSE(item.note.empty()) << item.chart.title;
    EXPECT_FALSE(item.chart.x.name.empty() || item.chart.y.name.empty()) << item.chart.title;
  }
  return titles;
}

TEST(Report, IsOneWellFormedPage) {
  const std::string page = html_report(sample_result());
  EXPECT_EQ(MarkupChecker::check(page), "");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
}

TEST(Report, LoadsNothing) {
  const RunResult other = slower_result();
  std::string page = html_report(sample_result(), {}, &other);
  const std::string name_of_svg = "http://www.w3.org/2000/svg";  // a name, not an address
  for (std::size_t at = page.find(name_of_svg); at != page.npos; at = page.find(name_of_svg)) {
    page.erase(at, name_of_svg.size());
  }
  for (const char* part :
       {"http:", "https:", "src=", "href=", "url(", "@import", "<link", "<img"}) {
    expect_not_in(part, page);
  }
  expect_in("content=\"default-src 'none';", page);
}

TEST(Report, SameResultGivesSamePage) {
  EXPECT_EQ(html_report(sample_result()), html_report(sample_result()));
}

TEST(Report, HasWhatPeopleLookFor) {
  const std::string page =
      html_report(sample_result(), {"Look at plane 2.", "planes = 4\n", "2 threads"});
  expect_in("<h1>A sample</h1>", page);
  expect_in("All 8 flows finished in 995 us; the fault at 500 us (p2.t1-4 down) cost 25 %", page);
  expect_in("<div class=\"value\">2.82 Tb/s</div><div class=\"remark\">88 % of line rate</div>",
            page);
  expect_in("<td class=\"n\">550 us</td><td class=\"n\">50 us</td><td>p2.t1-4 down</td>", page);
  expect_in("<td>h7 to h0</td><td class=\"n\">1</td><td class=\"n\">42.0 MiB</td>", page);
  expect_in("<td>packet accounting</td><td class=\"n\">consistent</td>", page);
  expect_in("Look at plane 2.", page);
  expect_in("<pre>planes = 4\n</pre>", page);
  expect_in("2 threads", page);
}

TEST(Report, DataAndControlPacketsAreLostApart) {
  RunResult result = sample_result();
  expect_in(
      "<div class=\"name\">Lost data packets</div><div class=\"value\">40</div>"
      "<div class=\"remark\">link down</div>",
      html_report(result));
  result.totals.control_packets_arrived -= 20;
  result.totals.packets_lost[0] += 20;
  expect_in(
      "<div class=\"name\">Lost data packets</div><div class=\"value\">40</div>"
      "<div class=\"remark\">link down; and 20 control packets</div>",
      html_report(result));
}

TEST(Report, TextOfTheScenarioIsWrappedByTheBrowser) {
  const std::string page = html_report(
      sample_result(), {"A sentence that\ngoes on.\n\nAnother:\n- one\n- two\n", "", ""});
  expect_in("A sentence that goes on.\n\nAnother:\n- one\n- two", page);
}

TEST(Report, RemarksInTablesAreWrapped) {
  // Neither clipped nor scrolled out of sight in a narrow window; numbers stay in one piece.
  expect_in("td:last-child:not(.n){white-space:pre-wrap;", report_css());
  expect_in("@media(max-width:520px){th,td{white-space:pre-wrap;", report_css());
  expect_in("<td>every packet and byte is accounted for</td></tr>", html_report(sample_result()));
}

TEST(Report, TextOfTheScenarioStaysText) {
  RunResult result = sample_result();
  result.title = "</title><script>alert(1)</script>";
  result.scenario = "<script>alert(2)</script>";
  result.transport = "<script>";
  result.faults[0].text = "\"><script>alert(3)</script>";
  RunResult other = result;
  other.transport = "<img onerror=\"alert(4)\">";
  const std::string page = html_report(
      result, {"<script>alert(5)</script>", "</pre><script>alert(6)</script>", "<script>"}, &other);
  EXPECT_EQ(MarkupChecker::check(page), "");
  EXPECT_EQ(page.find("<script"), page.rfind("<script"));  // our own
  expect_not_in("<script>alert", page);
  expect_not_in("<img", page);
  expect_in("<h1>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</h1>", page);
}

TEST(Report, OfNothing) {
  const std::string page = html_report(RunResult{});
  EXPECT_EQ(MarkupChecker::check(page), "");
  expect_in("no flow was sent", page);
  expect_not_in("<svg", page);
  EXPECT_EQ(MarkupChecker::check(
                html_report(sample_result(), {}, &static_cast<const RunResult&>(RunResult{}))),
            "");
}

TEST(Report, OfOneFlow) {
  RunResult result = sample_result();
  result.flows.resize(1);
  const std::string page = html_report(result);
  EXPECT_EQ(MarkupChecker::check(page), "");
  expect_not_in("Flow completion time (CDF)", page);
}

TEST(Report, OfFlowsThatDidNotFinish) {
  RunResult result = sample_result();
  result.finished = false;
  result.flows[2].end = kNoTime;
  result.flows[4].failed = true;
  const std::string page = html_report(result);
  EXPECT_EQ(MarkupChecker::check(page), "");
  expect_in("<div class=\"tile bad\"><div class=\"name\">Flows finished</div>", page);
  expect_in("2 of 8 flows did not finish: the curve ends below 100 %.", page);
  expect_in("median of those done", page);
  // First those that failed, then those that did not end.
  EXPECT_LT(page.find("<td>h4 to h5</td>"), page.find("<td>h2 to h3</td>"));
  EXPECT_LT(page.find("<td>h2 to h3</td>"), page.find("<td>h7 to h0</td>"));
}

TEST(Report, OfFlowsThatAllFailed) {
  RunResult result = sample_result();
  for (FlowRecord& flow : result.flows) flow.failed = true;
  EXPECT_EQ(MarkupChecker::check(html_report(result)), "");
}

TEST(Report, BrokenAccountsAreShown) {
  RunResult result = sample_result();
  ++result.totals.payload_bytes_sent;
  expect_in("INCONSISTENT", html_report(result));
}

TEST(Report, LongTablesSayThatTheyAreCut) {
  RunResult result = sample_result();
  while (result.flows.size() < 131'072) result.flows.push_back(result.flows.front());
  result.faults.assign(75, result.faults.front());
  const std::string page = html_report(result);
  expect_in("20 of 131,072 flows; the result file has all.", page);
  expect_in("The first 50 of 75.", page);
  EXPECT_LT(page.size(), 200'000U);
}

TEST(Report, MarksNoFaultThatWasNeverReached) {
  RunResult result = sample_result();
  expect_in("The fault is marked in red.", html_report(result));
  result.faults[0].from = kMillisecond * 5;
  const std::string page = html_report(result);
  expect_not_in("marked in red", page);
  expect_in("p2.t1-4 down (never reached)", page);
}

TEST(Report, ShowsTheBaseline) {
  const RunResult other = slower_result();
  const std::string page = html_report(sample_result(), {}, &other);
  EXPECT_EQ(MarkupChecker::check(page), "");
  expect_in("RC, all planes", page);
  expect_in("compared with RC", page);
  expect_in(
      "<td>flow completion time, max</td><td class=\"n\">995 us</td>"
      "<td class=\"n\">2.99 ms</td><td class=\"n\">3 x</td>",
      page);
}

TEST(ReportCharts, AreThoseThatThereIsDataFor) {
  const std::vector<std::string> all{"Goodput of each plane over time",
                                     "Flow completion time (CDF)",
                                     "Paths that were not GOOD",
                                     "Deepest queue",
                                     "Congestion marks",
                                     "Losses and retransmits"};
  EXPECT_EQ(chart_titles(sample_result(), nullptr), all);
  RunResult quiet = sample_result();
  for (Bucket& bucket : quiet.buckets) bucket = {.payload_bytes = {1, 1, 1, 1}};
  EXPECT_EQ(chart_titles(quiet, nullptr), std::vector<std::string>(all.begin(), all.begin() + 2));
}

TEST(ReportCharts, StandInFullRows) {
  RunResult result = sample_result();
  for (Bucket& bucket : result.buckets) bucket.marked = 0;
  const auto charts = report_charts(result, nullptr);
  ASSERT_EQ(charts.size(), 5U);
  EXPECT_EQ(charts[3].chart.width, kHalfWidth);
  EXPECT_EQ(charts[4].chart.width, kHalfWidth);
  result.flows.resize(1);
  EXPECT_EQ(report_charts(result, nullptr).back().chart.width, kFullWidth);
}

TEST(ReportCharts, GoodputIsBitsPerSecondOfEachPlane) {
  const Chart chart = report_charts(sample_result(), nullptr)[0].chart;
  ASSERT_EQ(chart.series.size(), 4U);
  EXPECT_EQ(chart.series[2].name, "plane 2");
  EXPECT_DOUBLE_EQ(chart.series[2].points[49].y, 720e9);
  EXPECT_DOUBLE_EQ(chart.series[2].points[50].y, 0);
  EXPECT_DOUBLE_EQ(chart.series[2].points.back().x, 1e9);
  ASSERT_EQ(chart.references.size(), 1U);
  EXPECT_EQ(chart.references[0].label, "line rate 3.2 Tb/s");
}

TEST(ReportCharts, EvsAreCountedOn) {
  const auto charts = report_charts(sample_result(), nullptr);
  const Chart& few = charts[2].chart;
  ASSERT_EQ(few.series.size(), 1U);
  EXPECT_EQ(few.series[0].name, "ASSUMED_BAD");
  EXPECT_EQ(few.series[0].points[49].y, 0);
  EXPECT_EQ(few.series[0].points[59].y, 16);
  EXPECT_EQ(few.series[0].points[60].y, 0);

  RunResult result = sample_result();
  result.buckets[10].ev_changes = {-300, 100, 0, 200, 0};
  const Chart many = report_charts(result, nullptr)[2].chart;
  EXPECT_EQ(many.title, "Paths by state");
  ASSERT_EQ(many.series.size(), 3U);
  EXPECT_EQ(many.series[2].name, "GOOD");
  EXPECT_EQ(many.series[2].points[9].y, 512);
  EXPECT_EQ(many.series[2].points[10].y, 212);
}

TEST(ReportCharts, StepsWithAFaultStandOut) {
  RunResult result = sample_result();
  add_steps(result, 10, 100);
  const auto charts = report_charts(result, nullptr);
  const Chart& chart = charts[1].chart;
  EXPECT_EQ(chart.title, "Time of each step");
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[0].points.size(), 9U);
  ASSERT_EQ(chart.series[1].points.size(), 1U);
  EXPECT_EQ(chart.series[1].points[0].x, 5);
  EXPECT_EQ(chart.series[0].drawn, Drawn::kBars);
}

TEST(ReportCharts, OneStepHasNoChart) {
  RunResult result = sample_result();
  const std::vector<std::string> without = chart_titles(result, nullptr);
  add_steps(result, 1, 100);
  EXPECT_EQ(chart_titles(result, nullptr), without);
  add_steps(result, 2, 100);
  EXPECT_EQ(chart_titles(result, nullptr)[1], "Time of each step");
}

TEST(ReportCharts, ManyStepsShareDots) {
  RunResult result = sample_result();
  add_steps(result, 2'000, 1);
  const auto item = report_charts(result, nullptr)[1];
  EXPECT_EQ(item.chart.series[0].drawn, Drawn::kDots);
  EXPECT_LE(item.chart.series[0].points.size(), 500U);
  expect_in("Each point is the slowest of 4 steps.", item.note);
}

TEST(ReportCharts, StepsOfABaseline) {
  RunResult result = sample_result();
  add_steps(result, 10, 100);
  RunResult other = slower_result();
  add_steps(other, 10, 300);
  other.buckets.resize(200, other.buckets[0]);
  const auto charts = report_charts(result, &other);
  // Spikes are not laid over each other, but have the same scales.
  EXPECT_EQ(charts[1].chart.title, "The same with RC");
  EXPECT_EQ(charts[0].chart.x.to, charts[1].chart.x.to);
  EXPECT_EQ(charts[0].chart.y.to, charts[1].chart.y.to);
  EXPECT_EQ(charts[2].chart.series.back().name, "RC");
  EXPECT_EQ(charts[2].chart.series.back().points[3].y, 300e6);
}

TEST(ReportCharts, AxisOfTimesFollowsThem) {
  RunResult result = sample_result();
  const auto axis = [&] { return report_charts(result, nullptr)[1].chart.x; };
  EXPECT_GT(axis().from, 900e6);
  EXPECT_FALSE(axis().logarithmic);
  result.flows[0].end = kMicrosecond * 100;
  EXPECT_EQ(axis().from, 0);
  result.flows[7].end = kMillisecond * 50;
  EXPECT_TRUE(axis().logarithmic);
  EXPECT_GT(axis().from, 0);
}

TEST(ReportStyle, IsPartOfAWellFormedPage) {
  EXPECT_EQ(MarkupChecker::check("<style>" + report_css() + "</style>"), "");
}

TEST(Report, HasATableOfJobs) {
  RunResult result = sample_result();
  expect_not_in("Jobs</h2>", html_report(result));
  result.jobs = sample_jobs();
  result.jobs[1].name = "<storage>";
  const std::string page = html_report(result);
  EXPECT_EQ(MarkupChecker::check(page), "");
  for (const char* part : {"Jobs</h2>", "dense", "&lt;storage&gt;", "to the end"}) {
    expect_in(part, page);
  }
}

}  // namespace
}  // namespace openmrc::sim
