// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "openmrc/sim/result/figures.h"
#include "openmrc/sim/result/measures.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::significant;
using text::Unit;

using Json = nlohmann::ordered_json;
using Value = std::optional<double>;

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

// From its beginning to its end, and of a step.
struct JobTimes {
  Value whole{};
  Value step{};
};

JobTimes times_of(const RunResult& result, const std::string& name) {
  const auto job = std::ranges::find(result.jobs, name, &JobRecord::name);
  if (job == result.jobs.end()) return {};
  JobTimes times;
  if (job->end != kNoTime) times.whole = number(job->end - job->begin);
  if (const auto spread = step_times(job->steps)) times.step = number(spread->median);
  return times;
}

void add_job_figures(std::vector<ComparedFigure>& figures, const RunResult& first,
                     const RunResult& second) {
  std::vector<std::string> names;
  for (const RunResult* result : {&first, &second}) {
    for (const JobRecord& job : result->jobs) {
      if (std::ranges::find(names, job.name) == names.end()) names.push_back(job.name);
    }
  }
  for (const std::string& name : names) {
    const JobTimes one = times_of(first, name);
    const JobTimes other = times_of(second, name);
    const auto add = [&](std::string_view key, std::string_view label, Value a, Value b) {
      if (!a && !b) return;
      figures.push_back({fmt::format("job.{}.{}", name, key), fmt::format("{}, {}", name, label),
                         Unit::kPicoseconds, a, b});
    };
    add("time_ps", "whole job", one.whole, other.whole);
    add("step_median_ps", "step time, median", one.step, other.step);
  }
}

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
  const Measured one = measure(first);
  const Measured other = measure(second);
  std::vector<ComparedFigure> figures;
  for (std::size_t i = 0; i < measures().size(); ++i) {
    const Measure& measure = measures()[i];
    ComparedFigure figure{std::string(measure.key), std::string(measure.label), measure.unit,
                          one[i], other[i]};
    if (figure.first || figure.second) figures.push_back(figure);
  }
  add_job_figures(figures, first, second);
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
    rows.push_back({figure.label, cell(figure.first, figure.unit), cell(figure.second, figure.unit),
                    cell(figure.ratio())});
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
    figures[figure.key] = {{"first", whole(figure.first)},
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
