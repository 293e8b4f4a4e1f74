// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "openmrc/sim/experiment/aligned.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kMainMeasures{
    "end_ps",      "completion_median_ps", "completion_p99_ps",
    "step_p99_ps", "goodput_bps",          "retransmissions"};

// The unit of a number for people: " ms".
std::string suffix_of(const std::string& human) {
  const std::size_t space = human.rfind(' ');
  return space == std::string::npos ? "" : human.substr(space);
}

std::string without(const std::string& suffix, std::string human) {
  if (suffix_of(human) == suffix) human.resize(human.size() - suffix.size());
  return human;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const Row& row) {
  std::string line;
  for (const std::string& cell : row) line += (line.empty() ? "" : ",") + csv_cell(cell);
  return line + "\r\n";
}

Json whole(double value) { return std::llround(value); }

Json json_of(const std::vector<std::string>& axes, const std::vector<std::string>& values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < axes.size(); ++i) object[axes[i]] = values[i];
  return object;
}

Json json_of(const Group& group, const std::vector<std::string>& axes) {
  Json figures = Json::object();
  for (std::size_t i = 0; i < group.estimates.size(); ++i) {
    const auto& estimate = group.estimates[i];
    if (!estimate) continue;
    figures[std::string(measures()[i].key)] = {{"median", whole(estimate->median)},
                                               {"low", whole(estimate->low)},
                                               {"high", whole(estimate->high)},
                                               {"n", estimate->count},
                                               {"confidence", estimate->confidence}};
  }
  return {{"axes", json_of(axes, group.values)},
          {"runs", group.runs},
          {"unfinished", group.unfinished},
          {"figures", std::move(figures)}};
}

Json json_of(const ExperimentRun& run, const std::vector<std::string>& axes) {
  Json figures = Json::object();
  for (std::size_t i = 0; i < run.figures.size(); ++i) {
    if (run.figures[i]) figures[std::string(measures()[i].key)] = whole(*run.figures[i]);
  }
  return {{"axes", json_of(axes, run.values)},
          {"seed", run.seed},
          {"finished", run.finished},
          {"figures", std::move(figures)}};
}

}  // namespace

std::vector<std::size_t> main_measures(const std::vector<Group>& groups) {
  const std::vector<std::size_t> there = measures_in(groups);
  std::vector<std::size_t> shown;
  for (const std::string_view key : kMainMeasures) {
    const auto index = find_measure(key);
    if (index && std::ranges::find(there, *index) != there.end()) shown.push_back(*index);
  }
  return shown;
}

std::string estimate_text(const std::optional<Estimate>& estimate, text::Unit unit) {
  if (!estimate) return "-";
  std::string median = text::human(estimate->median, unit);
  if (estimate->low == estimate->high) return median;
  const std::string suffix = suffix_of(median);
  return fmt::format("{} [{}, {}]", median, without(suffix, text::human(estimate->low, unit)),
                     without(suffix, text::human(estimate->high, unit)));
}

std::string groups_text(const Experiment& experiment, const std::vector<std::size_t>& shown) {
  Row head = experiment.axes;
  head.emplace_back("runs");
  for (const std::size_t i : shown) head.emplace_back(measures()[i].label);
  std::vector<Row> rows{std::move(head)};
  for (const Group& group : groups_of(experiment)) {
    Row& row = rows.emplace_back(group.values);
    row.push_back(fmt::format("{}", group.runs));
    for (const std::size_t i : shown) {
      row.push_back(estimate_text(group.estimates[i], measures()[i].unit));
    }
  }
  return aligned(rows, experiment.axes.size());
}

std::string group_text(const Group& group) {
  std::vector<Row> rows{{"", "median", "low", "high"}};
  for (const std::size_t i : measures_in({group})) {
    const Estimate& estimate = *group.estimates[i];
    const text::Unit unit = measures()[i].unit;
    rows.push_back({std::string(measures()[i].label), text::human(estimate.median, unit),
                    text::human(estimate.low, unit), text::human(estimate.high, unit)});
  }
  return aligned(rows, 1);
}

std::string experiment_csv(const Experiment& experiment) {
  const std::vector<Group> groups = groups_of(experiment);
  const std::vector<std::size_t> shown = measures_in(groups);
  Row head = experiment.axes;
  head.insert(head.end(), {"runs", "unfinished"});
  for (const std::size_t i : shown) {
    for (const char* part : {"median", "low", "high"}) {
      head.push_back(fmt::format("{}_{}", measures()[i].key, part));
    }
  }
  std::string out = csv_line(head);
  for (const Group& group : groups) {
    Row row = group.values;
    row.insert(row.end(), {fmt::format("{}", group.runs), fmt::format("{}", group.unfinished)});
    for (const std::size_t i : shown) {
      const auto& estimate = group.estimates[i];
      for (const auto part : {&Estimate::median, &Estimate::low, &Estimate::high}) {
        row.push_back(estimate ? fmt::format("{}", std::llround((*estimate).*part)) : "");
      }
    }
    out += csv_line(row);
  }
  return out;
}

std::string experiment_json(const Experiment& experiment) {
  Json groups = Json::array();
  for (const Group& group : groups_of(experiment)) {
    groups.push_back(json_of(group, experiment.axes));
  }
  Json runs = Json::array();
  for (const ExperimentRun& run : experiment.runs) runs.push_back(json_of(run, experiment.axes));
  const Json json = {{"format", "openmrc-experiment"},
                     {"version", 1},
                     {"title", experiment.title},
                     {"axes", experiment.axes},
                     {"interval", "median, order statistics, 95 %"},
                     {"groups", std::move(groups)},
                     {"runs", std::move(runs)},
                     {"missing", experiment.missing}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace openmrc::sim
