// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "openmrc/sim/report/compare.h"
#include "openmrc/sim/report/markup.h"
#include "openmrc/sim/report/page.h"
#include "openmrc/sim/report/report_charts.h"
#include "openmrc/sim/report/result_table.h"
#include "openmrc/sim/report/verdict.h"
#include "openmrc/sim/result/figures.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::human_bytes;
using text::human_count;
using text::human_rate;
using text::human_share;
using text::significant;

constexpr std::size_t kFaultsReported = 50;
constexpr std::size_t kFlowsShown = 20;

// Lines of a paragraph are joined; a list, or what is indented, keeps its lines.
std::string joined_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    const bool joins = text[i] == '\n' && !out.empty() && out.back() != '\n' &&
                       std::string_view("\n -*").find(next) == std::string_view::npos;
    out += joins ? ' ' : text[i];
  }
  return out;
}

// ---- Tiles ----

struct Tile {
  std::string name{};
  std::string value{};
  std::string remark{};
  bool bad = false;
};

std::string render(const Tile& tile) {
  return fmt::format(
      "<div class=\"tile{}\"><div class=\"name\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"remark\">{}</div></div>\n",
      tile.bad ? " bad" : "", escaped(tile.name), escaped(tile.value), escaped(tile.remark));
}

Tile flows_tile(const RunResult& result, const Figures& figures) {
  const bool all = figures.flows_done == result.flows.size();
  if (all) return {"Flows finished", human_count(result.flows.size()), "all of them"};
  return {
      "Flows finished",
      fmt::format("{} of {}", human_count(figures.flows_done), human_count(result.flows.size())),
      fmt::format("{} still ran, {} failed", human_count(figures.flows_open),
                  human_count(figures.flows_failed)),
      true};
}

Tile spread_tile(std::string name, const Spread& spread) {
  return {std::move(name), human(spread.median),
          fmt::format("p99 {}, slowest {}", human(spread.p99), human(spread.max))};
}

Tile repairs_tile(const Totals& totals) {
  return {"Retransmits", human_count(totals.retransmissions),
          human_share(static_cast<double>(totals.retransmissions),
                      static_cast<double>(totals.data_packets_sent)) +
              " of data packets"};
}

Tile losses_tile(const Totals& totals, const Figures& figures) {
  std::string why = "none";
  std::uint64_t most = 0;
  for (std::size_t loss = 0; loss < kLosses; ++loss) {
    if (static_cast<Loss>(loss) == Loss::kInFlight || totals.packets_lost[loss] <= most) continue;
    most = totals.packets_lost[loss];
    why = fmt::format("{}{}", most < figures.packets_lost ? "mostly: " : "",
                      name(static_cast<Loss>(loss)));
  }
  if (figures.control_packets_missing > 0) {
    why += fmt::format("; and {} control packets", human_count(figures.control_packets_missing));
  }
  return {"Lost data packets", human_count(figures.data_packets_missing), why};
}

std::string tiles(const RunResult& result, const Figures& figures) {
  const Totals& totals = result.totals;
  std::vector<Tile> all;
  if (!result.flows.empty()) all.push_back(flows_tile(result, figures));
  if (figures.step) {
    all.push_back(spread_tile("Step time, median", *figures.step));
  } else if (figures.completion) {
    all.push_back(spread_tile("Flow completion time, median", *figures.completion));
  }
  if (figures.line_rate > 0) {
    all.push_back(
        {"Goodput", human_rate(figures.goodput),
         fmt::format("{} of line rate", human_share(figures.goodput, figures.line_rate))});
  }
  all.push_back(repairs_tile(totals));
  all.push_back(losses_tile(totals, figures));
  all.push_back({"Trimmed packets", human_count(totals.packets_trimmed),
                 totals.packets_trimmed == 0 ? "none" : "trimmed in a full queue"});
  if (result.evs > 0) {
    all.push_back({"Paths disabled, at most", human_count(figures.evs_out_most),
                   fmt::format("of {}; {} at the end", human_count(result.evs),
                               human_count(figures.evs_out_at_end))});
  }
  const bool whole = check_packet_accounting(totals).empty();
  all.push_back({"Packet accounting", whole ? "consistent" : "INCONSISTENT",
                 whole ? "no packet and no byte is missing" : "see all numbers", !whole});
  std::string out = "<section class=\"tiles\">\n";
  for (const Tile& tile : all) out += render(tile);
  return out + "</section>\n";
}

// ---- Tables ----

std::string faults_section(const RunResult& result) {
  if (result.faults.empty()) return {};
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < std::min(result.faults.size(), kFaultsReported); ++i) {
    const FaultNote& fault = result.faults[i];
    const bool ends = fault.to != kNoTime;
    rows.push_back({{std::to_string(i + 1), true},
                    {human(fault.from), true},
                    {ends ? human(fault.to) : "never", true},
                    {ends ? human(fault.to - fault.from) : "to the end", true},
                    {fault.text + (was_reached(result, fault) ? "" : " (never reached)")}});
  }
  std::string note;
  if (result.faults.size() > kFaultsReported) {
    note = fmt::format("The first {} of {}.", kFaultsReported, grouped(result.faults.size()));
  }
  return section("Faults", note,
                 table({{"#", true}, {"from", true}, {"to", true}, {"for", true}, {"what"}}, rows));
}

std::vector<Cell> job_row(const JobRecord& job) {
  std::vector<Cell> row{
      {job.name},           {grouped(job.hosts), true},          {human(job.begin), true},
      {time_of(job), true}, {human_bytes(job.bytes_done), true}, {grouped(job.steps.size()), true}};
  const auto steps = step_times(job.steps);
  row.push_back({steps ? human(steps->median) : "", true});
  row.push_back({steps ? human(steps->max) : "", true});
  const bool messages = job.completion_median != kNoTime;
  row.push_back({messages ? human(job.completion_median) : "", true});
  row.push_back({messages ? human(job.completion_p99) : "", true});
  return row;
}

std::string jobs_section(const RunResult& result) {
  if (result.jobs.empty()) return {};
  std::vector<std::vector<Cell>> rows;
  rows.reserve(result.jobs.size());
  for (const JobRecord& job : result.jobs) rows.push_back(job_row(job));
  return section("Jobs", "",
                 table({{"name"},
                        {"hosts", true},
                        {"begins", true},
                        {"took", true},
                        {"sent", true},
                        {"steps", true},
                        {"step, median", true},
                        {"step, worst", true},
                        {"message, median", true},
                        {"message, p99", true}},
                       rows));
}

// Those that failed, then those that did not end, then by how long they took.
std::vector<std::size_t> slowest_flows(const RunResult& result) {
  std::vector<std::size_t> order(result.flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t index) {
    const FlowRecord& flow = result.flows[index];
    const bool ended = flow.end != kNoTime;
    return std::tuple(flow.failed, !ended, ended ? flow.end - flow.start : result.end - flow.start);
  };
  const std::size_t count = std::min(order.size(), kFlowsShown);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  order.resize(count);
  return order;
}

std::vector<Cell> flow_row(const FlowRecord& flow, const Figures& figures) {
  std::vector<Cell> row{{fmt::format("h{} to h{}", flow.from, flow.to)},
                        {std::to_string(flow.tag), true},
                        {human_bytes(flow.bytes), true},
                        {human(flow.start), true}};
  if (flow.failed || flow.end == kNoTime) {
    row.push_back({flow.failed ? "failed" : "not finished", true});
    row.insert(row.end(), 2, {"", true});
    return row;
  }
  const Picoseconds time = flow.end - flow.start;
  const double seconds =
      static_cast<double>(time.raw()) / static_cast<double>(kPicosecondsPerSecond);
  const auto median = static_cast<double>(figures.completion->median.raw());
  row.push_back({human(time), true});
  row.push_back(
      {seconds > 0 ? human_rate(static_cast<double>(flow.bytes) * 8 / seconds) : "", true});
  row.push_back({median > 0 ? significant(static_cast<double>(time.raw()) / median) : "", true});
  return row;
}

std::string flows_section(const RunResult& result, const Figures& figures) {
  if (result.flows.empty()) return {};
  std::vector<std::vector<Cell>> rows;
  for (const std::size_t index : slowest_flows(result)) {
    rows.push_back(flow_row(result.flows[index], figures));
  }
  std::string note;
  if (result.flows.size() > kFlowsShown) {
    note = fmt::format("{} of {} flows; the result file has all.", kFlowsShown,
                       grouped(result.flows.size()));
  }
  return section("Slowest flows", note,
                 table({{"hosts"},
                        {"tag", true},
                        {"size", true},
                        {"start", true},
                        {"took", true},
                        {"rate", true},
                        {"x median", true}},
                       rows));
}

std::string totals_section(const RunResult& result) {
  std::vector<std::vector<Cell>> rows;
  for (const TableRow& row : table_rows(result)) {
    rows.push_back({{row.name}, {row.value, true}, {row.remark}});
  }
  return section("All numbers", "", table({}, rows));
}

std::string baseline_section(const RunResult& result, const RunResult& baseline) {
  const Labels labels = labels_of(result, baseline);
  std::vector<std::vector<Cell>> rows;
  for (const ComparedFigure& figure : compare(result, baseline)) {
    const auto value = [&](const std::optional<double>& number) {
      return number ? human(*number, figure.unit) : std::string("-");
    };
    const std::optional<double> ratio = figure.ratio();
    rows.push_back({{figure.label},
                    {value(figure.first), true},
                    {value(figure.second), true},
                    {ratio ? significant(*ratio) + " x" : "-", true}});
  }
  return section("Comparison", comparison_warning(result, baseline),
                 table({{""},
                        {labels.first, true},
                        {labels.second, true},
                        {fmt::format("{} / {}", labels.second, labels.first), true}},
                       rows));
}

std::string scenario_section(const ReportExtras& extras) {
  if (extras.scenario_file.empty() && extras.run_note.empty()) return {};
  std::string content = paragraph("", extras.run_note);
  if (!extras.scenario_file.empty()) {
    content += fmt::format("<pre>{}</pre>", escaped(extras.scenario_file));
  }
  return section("Scenario", "", content);
}

// ---- The page ----

std::string charts_section(const RunResult& result, const RunResult* baseline) {
  std::string out = "<section class=\"charts\">\n";
  for (const ReportChart& item : report_charts(result, baseline)) {
    out += fmt::format(
        "<figure class=\"card{}\"><h2>{}</h2><figcaption class=\"note\">{}</figcaption>"
        "<div class=\"scroll\">{}</div></figure>\n",
        item.chart.width > kHalfWidth ? " wide" : "", escaped(item.chart.title), escaped(item.note),
        render_svg(item.chart));
  }
  return out + "</section>\n";
}

std::string title_of(const RunResult& result) {
  if (!result.title.empty()) return result.title;
  return result.scenario.empty() ? "A run" : result.scenario;
}

// What ran, in a line.
std::string facts_of(const RunResult& result, const RunResult* baseline) {
  std::string facts =
      fmt::format("{}{}{} hosts \u00b7 {} plane{} \u00b7 {} per host \u00b7 seed {}",
                  transport_name(result), result.transport.empty() ? "" : " \u00b7 ",
                  grouped(result.hosts), result.planes, result.planes == 1 ? "" : "s",
                  human_rate(static_cast<double>(result.host_bits_per_second)), result.seed);
  if (baseline != nullptr) facts += " \u00b7 compared with " + labels_of(result, *baseline).second;
  return facts;
}

std::string header(const RunResult& result, const ReportExtras& extras, const RunResult* baseline) {
  const Verdict verdict = verdict_of(result, baseline);
  std::string maker = "OpenMRC fabric simulator";
  if (!result.scenario.empty()) maker += " \u00b7 " + result.scenario;
  return "<header>\n" + paragraph("eyebrow", maker) +
         fmt::format("<h1>{}</h1>\n", escaped(title_of(result))) +
         paragraph("facts", facts_of(result, baseline)) + paragraph("verdict", verdict.headline) +
         paragraph("detail", verdict.detail) +
         paragraph("text", joined_lines(extras.scenario_text)) + "</header>\n";
}

}  // namespace

std::string html_report(const RunResult& result, const ReportExtras& extras,
                        const RunResult* baseline) {
  const Figures figures = figures_of(result);
  std::string page = page_begin(title_of(result));
  page += header(result, extras, baseline);
  page += tiles(result, figures);
  page += charts_section(result, baseline);
  page += "<div class=\"tables\">\n";
  if (baseline != nullptr) page += baseline_section(result, *baseline);
  page += jobs_section(result);
  page += totals_section(result);
  page += faults_section(result);
  page += flows_section(result, figures);
  page += scenario_section(extras);
  page += "</div>\n";
  return page + page_end("Made by OpenMRC. The same scenario and seed give the same numbers.");
}

}  // namespace openmrc::sim
