// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;

// So many of the missing runs are named; the others are counted.
constexpr std::size_t kMissingNamed = 10;

using Values = std::vector<double>;

struct Gathered {
  Group group;
  std::vector<Values> figures{measures().size()};
};

void add(Gathered& gathered, const ExperimentRun& run) {
  ++gathered.group.runs;
  if (!run.finished) ++gathered.group.unfinished;
  for (std::size_t i = 0; i < run.figures.size(); ++i) {
    if (run.figures[i]) gathered.figures[i].push_back(*run.figures[i]);
  }
}

std::string missing_text(const std::vector<std::string>& missing) {
  if (missing.empty()) return {};
  std::string text = fmt::format("{} run{} missing: ", grouped(missing.size()),
                                 missing.size() == 1 ? " is" : "s are");
  const std::size_t named = std::min(missing.size(), kMissingNamed);
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? "" : "; ") + missing[i];
  if (missing.size() > named) text += fmt::format("; and {} more", grouped(missing.size() - named));
  return text + ".";
}

}  // namespace

std::string label_of(std::span<const std::string> values) {
  std::string label;
  for (const std::string& value : values) label += (label.empty() ? "" : " \u00b7 ") + value;
  return label.empty() ? "all runs" : label;
}

std::vector<Group> groups_of(const Experiment& experiment) {
  std::vector<Gathered> all;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const ExperimentRun& run : experiment.runs) {
    const auto [place, is_new] = places.try_emplace(run.values, all.size());
    if (is_new) all.push_back({.group = {.values = run.values}});
    add(all[place->second], run);
  }
  std::vector<Group> groups;
  for (Gathered& gathered : all) {
    for (Values& values : gathered.figures) {
      gathered.group.estimates.push_back(estimate_median(std::move(values)));
    }
    groups.push_back(std::move(gathered.group));
  }
  return groups;
}

std::vector<std::size_t> measures_in(const std::vector<Group>& groups) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < measures().size(); ++i) {
    const auto has = [i](const Group& group) { return group.estimates[i].has_value(); };
    if (std::ranges::any_of(groups, has)) found.push_back(i);
  }
  return found;
}

std::string interval_note(const std::vector<Group>& groups) {
  if (groups.empty()) return {};
  const auto [least, most] = std::ranges::minmax(groups, {}, &Group::runs);
  std::string text = fmt::format(
      "Medians of {} seed{}, each with the interval that holds the median of all seeds with at "
      "least 95 % probability (order statistics; no distribution is assumed).",
      least.runs == most.runs ? fmt::format("{}", least.runs)
                              : fmt::format("{} to {}", least.runs, most.runs),
      most.runs == 1 ? "" : "s");
  const Estimate estimate = *estimate_median(std::vector<double>(least.runs));
  if (estimate.confidence < kConfidence) {
    text += fmt::format(
        " {} seed{} not enough for that: there it is the range of all values, which holds it with "
        "{:.0f} %.",
        least.runs, least.runs == 1 ? " is" : "s are", estimate.confidence * 100);
  }
  return text;
}

std::string experiment_warning(const Experiment& experiment) {
  const auto unfinished = static_cast<std::size_t>(
      std::ranges::count(experiment.runs, false, &ExperimentRun::finished));
  std::string text;
  if (unfinished > 0) {
    text = fmt::format(
        "{} of {} runs did not finish; their completion times and rates are of the flows that did.",
        grouped(unfinished), grouped(experiment.runs.size()));
  }
  const std::string missing = missing_text(experiment.missing);
  return text.empty() || missing.empty() ? text + missing : text + " " + missing;
}

}  // namespace openmrc::sim
