// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/availability/availability_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "openmrc/sim/experiment/aligned.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMonthHours = 30 * 24;

std::string hours(double value) {
  constexpr double kLong = 1'000;
  return (value < kLong ? text::significant(value)
                        : text::grouped(static_cast<std::uint64_t>(std::llround(value)))) +
         " h";
}

std::optional<Stratum> stratum_of(const StateRuns& state, std::size_t measure) {
  Stratum stratum{.probability = state.state.probability};
  for (const Measured& run : state.runs) {
    if (!run[measure]) return std::nullopt;
    stratum.values.push_back(*run[measure]);
  }
  return stratum;
}

std::optional<double> mean_of(const StateRuns& state, std::size_t measure) {
  const auto stratum = stratum_of(state, measure);
  if (!stratum || stratum->values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : stratum->values) sum += value;
  return sum / static_cast<double>(stratum->values.size());
}

std::string parts_table(const Availability& availability) {
  std::vector<Row> rows{
      {"part", "number", "MTBF", "MTTR", "down on average", "failures in 30 days"}};
  for (const UnreliableParts& parts : availability.parts) {
    rows.push_back({std::string(name_of(parts)), text::grouped(parts.count),
                    hours(parts.mtbf_hours), hours(parts.mttr_hours),
                    text::significant(static_cast<double>(parts.count) * parts.unavailability()),
                    text::significant(parts.failures_per_hour() * kMonthHours)});
  }
  return aligned(rows, 1);
}

std::string states_table(const Availability& availability, const std::vector<std::size_t>& shown) {
  std::vector<Row> rows(1);
  for (const UnreliableParts& parts : availability.parts) {
    rows[0].push_back(fmt::format("{} down", name_of(parts)));
  }
  for (const char* name : {"probability", "in 30 days", "runs", "unfinished"}) {
    rows[0].emplace_back(name);
  }
  for (const std::size_t measure : shown) rows[0].emplace_back(measures()[measure].label);
  for (const StateRuns& state : availability.states) {
    Row& row = rows.emplace_back();
    for (const std::uint64_t down : state.state.down) row.push_back(text::grouped(down));
    row.push_back(text::human_share(state.state.probability, 1));
    row.push_back(hours(state.state.probability * kMonthHours));
    row.push_back(text::grouped(state.runs.size()));
    row.push_back(text::grouped(state.unfinished));
    for (const std::size_t measure : shown) {
      const auto mean = mean_of(state, measure);
      row.push_back(mean ? text::human(*mean, measures()[measure].unit) : "-");
    }
  }
  return aligned(rows, 0);
}

// What a rate is in the states that were not run: between nothing and as much as in the best.
std::string bounds_text(const Availability& availability, std::size_t measure,
                        const WeightedMean& mean) {
  if (measures()[measure].unit != text::Unit::kBitsPerSecond) return {};
  double best = 0;
  for (const StateRuns& state : availability.states) {
    best = std::max(best, mean_of(state, measure).value_or(0));
  }
  const double mass = std::min(1.0, mass_of(availability));
  return fmt::format("; whatever happens in the other states, {} to {}",
                     text::human(mean.low * mass, measures()[measure].unit),
                     text::human(mean.high * mass + best * (1 - mass), measures()[measure].unit));
}

std::string expectation(const Availability& availability, std::size_t measure) {
  const Measure& what = measures()[measure];
  const auto mean = expected(availability, measure);
  if (!mean) return fmt::format("{}: not known, some runs have none\n", what.label);
  return fmt::format("{}: {} [{}, {}]{}\n", what.label, text::human(mean->mean, what.unit),
                     text::human(mean->low, what.unit), text::human(mean->high, what.unit),
                     bounds_text(availability, measure, *mean));
}

Json state_json(const StateRuns& state) {
  Json figures = Json::object();
  for (std::size_t i = 0; i < measures().size(); ++i) {
    if (const auto mean = mean_of(state, i)) figures[std::string(measures()[i].key)] = *mean;
  }
  return {{"down", state.state.down},
          {"probability", state.state.probability},
          {"runs", state.runs.size()},
          {"unfinished", state.unfinished},
          {"figures", figures}};
}

}  // namespace

double mass_of(const Availability& availability) {
  double mass = 0;
  for (const StateRuns& state : availability.states) mass += state.state.probability;
  return mass;
}

std::optional<WeightedMean> expected(const Availability& availability, std::size_t measure) {
  std::vector<Stratum> strata;
  for (const StateRuns& state : availability.states) {
    auto stratum = stratum_of(state, measure);
    if (!stratum) return std::nullopt;
    strata.push_back(std::move(*stratum));
  }
  return weighted_mean(strata);
}

std::string availability_text(const Availability& availability,
                              const std::vector<std::size_t>& shown) {
  std::string out = availability.title.empty() ? "" : availability.title + "\n\n";
  out += parts_table(availability) + "\n" + states_table(availability, shown) + "\n";
  out += "expected over a long time, with 95 % intervals:\n";
  for (const std::size_t measure : shown) out += expectation(availability, measure);
  return out + fmt::format("states that were not run have {:.2g} % of the time\n",
                           std::max(0.0, 1 - mass_of(availability)) * 100);
}

std::string availability_json(const Availability& availability) {
  Json json{{"format", "openmrc-availability"}, {"version", 1}, {"title", availability.title}};
  json["parts"] = Json::array();
  for (const UnreliableParts& parts : availability.parts) {
    json["parts"].push_back({{"of", name_of(parts)},
                             {"count", parts.count},
                             {"mtbf_hours", parts.mtbf_hours},
                             {"mttr_hours", parts.mttr_hours}});
  }
  json["not_run"] = std::max(0.0, 1 - mass_of(availability));
  json["expected"] = Json::object();
  for (std::size_t i = 0; i < measures().size(); ++i) {
    if (const auto mean = expected(availability, i)) {
      json["expected"][std::string(measures()[i].key)] = {
          {"mean", mean->mean}, {"low", mean->low}, {"high", mean->high}};
    }
  }
  json["states"] = Json::array();
  for (const StateRuns& state : availability.states) json["states"].push_back(state_json(state));
  return json.dump(2) + "\n";
}

}  // namespace openmrc::sim
