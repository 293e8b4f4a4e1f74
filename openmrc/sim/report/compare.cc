// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "openmrc/sim/result/figures.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::significant;
using text::Unit;

using Json = nlohmann::ordered_json;
using Value = std::optional<double>;

struct Side {
  const RunResult& result;
  Figures figures;
};

double number(std::uint64_t count) { return static_cast<double>(count); }

template <Picoseconds Spread::* kPart>
Value completion(const Side& side) {
  if (!side.figures.completion) return std::nullopt;
  return number((*side.figures.completion).*kPart);
}

template <Picoseconds Spread::* kPart>
Value step(const Side& side) {
  if (!side.figures.step) return std::nullopt;
  return number((*side.figures.step).*kPart);
}

template <double FlowRates::* kPart>
Value flow_rate(const Side& side) {
  if (!side.figures.flow_rates) return std::nullopt;
  return (*side.figures.flow_rates).*kPart;
}

template <std::uint64_t Totals::* kPart>
Value total(const Side& side) {
  return number(side.result.totals.*kPart);
}

// EVs are MRC's own: without any there is nothing to compare.
template <std::uint64_t Totals::* kPart>
Value ev_total(const Side& side) {
  return side.result.evs == 0 ? std::nullopt : total<kPart>(side);
}

Value share_of_line_rate(const Side& side) {
  if (side.figures.line_rate == 0) return std::nullopt;
  return side.figures.goodput / side.figures.line_rate * 1e6;
}

template <class Count>
Value of_flows(const Side& side, Count count) {
  if (side.result.flows.empty()) return std::nullopt;
  return number(std::uint64_t{count});
}

struct Measure {
  std::string_view key;
  std::string_view label;
  Unit unit;
  Value (*value)(const Side&);
};

constexpr std::array kMeasures{
    Measure{"end_ps", "ended after", Unit::kPicoseconds,
            [](const Side& side) -> Value { return number(side.result.end); }},
    Measure{"flows_done", "flows finished", Unit::kCount,
            [](const Side& side) { return of_flows(side, side.figures.flows_done); }},
    Measure{"flows_open", "flows not finished", Unit::kCount,
            [](const Side& side) { return of_flows(side, side.figures.flows_open); }},
    Measure{"flows_failed", "flows failed", Unit::kCount,
            [](const Side& side) { return of_flows(side, side.figures.flows_failed); }},
    Measure{"completion_median_ps", "flow completion time, median", Unit::kPicoseconds,
            completion<&Spread::median>},
    Measure{"completion_p99_ps", "flow completion time, p99", Unit::kPicoseconds,
            completion<&Spread::p99>},
    Measure{"completion_max_ps", "flow completion time, max", Unit::kPicoseconds,
            completion<&Spread::max>},
    Measure{"flow_rate_median_bps", "flow rate, median", Unit::kBitsPerSecond,
            flow_rate<&FlowRates::median>},
    Measure{"flow_rate_slowest_percent_bps", "flow rate, slowest 1 %", Unit::kBitsPerSecond,
            flow_rate<&FlowRates::slowest_percent>},
    Measure{"flow_rate_slowest_bps", "flow rate, slowest", Unit::kBitsPerSecond,
            flow_rate<&FlowRates::slowest>},
    Measure{"step_median_ps", "step time, median", Unit::kPicoseconds, step<&Spread::median>},
    Measure{"step_p99_ps", "step time, p99", Unit::kPicoseconds, step<&Spread::p99>},
    Measure{"step_max_ps", "step time, worst", Unit::kPicoseconds, step<&Spread::max>},
    Measure{"goodput_bps", "goodput", Unit::kBitsPerSecond,
            [](const Side& side) -> Value { return side.figures.goodput; }},
    Measure{"share_of_line_rate_ppm", "share of line rate", Unit::kPartsPerMillion,
            share_of_line_rate},
    Measure{"message_bytes_completed", "message bytes completed", Unit::kBytes,
            total<&Totals::message_bytes_completed>},
    Measure{"data_packets_sent", "data packets sent", Unit::kCount,
            total<&Totals::data_packets_sent>},
    Measure{"retransmissions", "retransmits", Unit::kCount, total<&Totals::retransmissions>},
    Measure{"packets_marked", "packets marked (ECN)", Unit::kCount, total<&Totals::packets_marked>},
    Measure{"packets_trimmed", "packets trimmed", Unit::kCount, total<&Totals::packets_trimmed>},
    Measure{"packets_lost", "packets lost", Unit::kCount,
            [](const Side& side) -> Value { return number(side.figures.packets_lost); }},
    Measure{"evs_lost", "EVs disabled", Unit::kCount, ev_total<&Totals::evs_lost>},
    Measure{"evs_readmitted", "EVs restored", Unit::kCount, ev_total<&Totals::evs_readmitted>},
};

std::string cell(const Value& value, Unit unit) { return value ? human(*value, unit) : "-"; }

std::string cell(const Value& ratio) {
  return ratio ? fmt::format("{}x", significant(*ratio)) : "-";
}

std::string unfinished(const RunResult& result, const std::string& label) {
  const Figures figures = figures_of(result);
  if (figures.flows_open + figures.flows_failed == 0) return {};
  return fmt::format("{}: {} of {} flows did not finish; its times and rates are of the others.",
                     label, grouped(figures.flows_open + figures.flows_failed),
                     grouped(result.flows.size()));
}

Json whole(const Value& value) { return value ? Json(std::llround(*value)) : Json(nullptr); }

Json identity(const RunResult& result) {
  return {{"scenario", result.scenario},
          {"transport", result.transport},
          {"seed", result.seed},
          {"finished", result.finished}};
}

}  // namespace

std::optional<double> ComparedFigure::ratio() const {
  if (!first || !second || *first == 0) return std::nullopt;
  return *second / *first;
}

std::vector<ComparedFigure> compare(const RunResult& first, const RunResult& second) {
  const Side one{first, figures_of(first)};
  const Side other{second, figures_of(second)};
  std::vector<ComparedFigure> figures;
  for (const Measure& measure : kMeasures) {
    ComparedFigure figure{measure.key, measure.label, measure.unit, measure.value(one),
                          measure.value(other)};
    if (figure.first || figure.second) figures.push_back(figure);
  }
  return figures;
}

std::string comparison_warning(const RunResult& first, const RunResult& second) {
  const Labels labels = labels_of(first, second);
  const std::string one = unfinished(first, labels.first);
  const std::string other = unfinished(second, labels.second);
  return one.empty() || other.empty() ? one + other : one + " " + other;
}

std::string compare_text(const RunResult& first, const RunResult& second) {
  const Labels labels = labels_of(first, second);
  std::vector<std::array<std::string, 4>> rows{
      {"", labels.first, labels.second, fmt::format("{} / {}", labels.second, labels.first)}};
  for (const ComparedFigure& figure : compare(first, second)) {
    rows.push_back({std::string(figure.label), cell(figure.first, figure.unit),
                    cell(figure.second, figure.unit), cell(figure.ratio())});
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    out += fmt::format("{:<{}}  {:>{}}  {:>{}}  {:>{}}\n", row[0], widths[0], row[1], widths[1],
                       row[2], widths[2], row[3], widths[3]);
  }
  const std::string warning = comparison_warning(first, second);
  return warning.empty() ? out : out + warning + "\n";
}

std::string compare_json(const RunResult& first, const RunResult& second) {
  Json figures = Json::object();
  for (const ComparedFigure& figure : compare(first, second)) {
    const Value ratio = figure.ratio();
    figures[std::string(figure.key)] = {{"first", whole(figure.first)},
                                        {"second", whole(figure.second)},
                                        {"ratio", ratio ? Json(*ratio) : Json(nullptr)}};
  }
  const Json json = {{"format", "openmrc-compare"},
                     {"version", 1},
                     {"first", identity(first)},
                     {"second", identity(second)},
                     {"figures", figures}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace openmrc::sim
