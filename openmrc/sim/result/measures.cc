// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/measures.h"

#include <algorithm>
#include <array>

#include "openmrc/sim/result/figures.h"

namespace openmrc::sim {
namespace {

using text::Unit;
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

struct Taken {
  Measure measure;
  Value (*value)(const Side&);
};

constexpr std::array kTaken{
    Taken{{"end_ps", "ended after", Unit::kPicoseconds},
          [](const Side& side) -> Value { return number(side.result.end); }},
    Taken{{"flows_done", "flows finished", Unit::kCount},
          [](const Side& side) { return of_flows(side, side.figures.flows_done); }},
    Taken{{"flows_open", "flows not finished", Unit::kCount},
          [](const Side& side) { return of_flows(side, side.figures.flows_open); }},
    Taken{{"flows_failed", "flows failed", Unit::kCount},
          [](const Side& side) { return of_flows(side, side.figures.flows_failed); }},
    Taken{{"completion_median_ps", "flow completion time, median", Unit::kPicoseconds},
          completion<&Spread::median>},
    Taken{{"completion_p99_ps", "flow completion time, p99", Unit::kPicoseconds},
          completion<&Spread::p99>},
    Taken{{"completion_max_ps", "flow completion time, max", Unit::kPicoseconds},
          completion<&Spread::max>},
    Taken{{"flow_rate_median_bps", "flow rate, median", Unit::kBitsPerSecond},
          flow_rate<&FlowRates::median>},
    Taken{{"flow_rate_slowest_percent_bps", "flow rate, slowest 1 %", Unit::kBitsPerSecond},
          flow_rate<&FlowRates::slowest_percent>},
    Taken{{"flow_rate_slowest_bps", "flow rate, slowest", Unit::kBitsPerSecond},
          flow_rate<&FlowRates::slowest>},
    Taken{{"step_median_ps", "step time, median", Unit::kPicoseconds}, step<&Spread::median>},
    Taken{{"step_p99_ps", "step time, p99", Unit::kPicoseconds}, step<&Spread::p99>},
    Taken{{"step_max_ps", "step time, worst", Unit::kPicoseconds}, step<&Spread::max>},
    Taken{{"goodput_bps", "goodput", Unit::kBitsPerSecond},
          [](const Side& side) -> Value { return side.figures.goodput; }},
    Taken{{"share_of_line_rate_ppm", "share of line rate", Unit::kPartsPerMillion},
          share_of_line_rate},
    Taken{{"message_bytes_completed", "message bytes completed", Unit::kBytes},
          total<&Totals::message_bytes_completed>},
    Taken{{"data_packets_sent", "data packets sent", Unit::kCount},
          total<&Totals::data_packets_sent>},
    Taken{{"retransmissions", "retransmits", Unit::kCount}, total<&Totals::retransmissions>},
    Taken{{"packets_marked", "packets marked (ECN)", Unit::kCount}, total<&Totals::packets_marked>},
    Taken{{"packets_trimmed", "packets trimmed", Unit::kCount}, total<&Totals::packets_trimmed>},
    Taken{{"pauses", "pauses (PFC)", Unit::kCount}, total<&Totals::pauses>},
    Taken{{"packets_lost", "packets lost", Unit::kCount},
          [](const Side& side) -> Value { return number(side.figures.packets_lost); }},
    Taken{{"evs_lost", "EVs disabled", Unit::kCount}, ev_total<&Totals::evs_lost>},
    Taken{{"evs_readmitted", "EVs restored", Unit::kCount}, ev_total<&Totals::evs_readmitted>},
};

constexpr auto kMeasures = [] {
  std::array<Measure, kTaken.size()> all{};
  std::ranges::transform(kTaken, all.begin(), &Taken::measure);
  return all;
}();

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

Measured measure(const RunResult& result) {
  const Side side{result, figures_of(result)};
  Measured values;
  for (const Taken& taken : kTaken) values.push_back(taken.value(side));
  return values;
}

std::optional<std::size_t> find_measure(std::string_view key) {
  const auto* const found = std::ranges::find(kMeasures, key, &Measure::key);
  if (found == kMeasures.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kMeasures.begin());
}

}  // namespace openmrc::sim
