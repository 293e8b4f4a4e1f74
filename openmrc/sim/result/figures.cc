// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_set>
#include <vector>

#include "openmrc/core/paths/ev_state.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

double per_second(std::uint64_t bytes, Picoseconds time) {
  if (time <= Picoseconds(0)) return 0;
  return static_cast<double>(bytes) * 8 * static_cast<double>(kPicosecondsPerSecond) /
         static_cast<double>(time.raw());
}

std::optional<Spread> spread_of(const std::vector<Picoseconds>& sorted) {
  if (sorted.empty()) return std::nullopt;
  return Spread{percentile(sorted, 500), percentile(sorted, 990), sorted.back()};
}

// Each flow at its own pace: who waited long for little shows here.
std::optional<FlowRates> rates_of(const RunResult& result) {
  std::vector<double> rates;
  for (const FlowRecord& flow : result.flows) {
    if (!flow.failed && flow.end != kNoTime && flow.end > flow.start) {
      rates.push_back(per_second(flow.bytes, flow.end - flow.start));
    }
  }
  if (rates.empty()) return std::nullopt;
  std::sort(rates.begin(), rates.end());
  return FlowRates{rates[(rates.size() - 1) / 2], rates[rates.size() / 100], rates.front()};
}

double line_rate_of(const RunResult& result) {
  std::unordered_set<std::uint32_t> senders;
  std::unordered_set<std::uint32_t> receivers;
  for (const FlowRecord& flow : result.flows) {
    senders.insert(flow.from);
    receivers.insert(flow.to);
  }
  return static_cast<double>(std::min(senders.size(), receivers.size())) *
         static_cast<double>(result.host_bits_per_second);
}

void count_flows(const RunResult& result, Figures& figures) {
  for (const FlowRecord& flow : result.flows) {
    if (flow.failed) {
      ++figures.flows_failed;
    } else if (flow.end == kNoTime) {
      ++figures.flows_open;
    } else {
      ++figures.flows_done;
      figures.last_done = std::max(figures.last_done, flow.end);
    }
  }
}

void take_steps(const RunResult& result, Figures& figures) {
  std::vector<Picoseconds> times;
  for (const StepRecord& step : result.steps) {
    times.push_back(step.end - step.begin);
    if (times.back() > times[figures.worst_step]) figures.worst_step = times.size() - 1;
  }
  std::sort(times.begin(), times.end());
  figures.step = spread_of(times);
}

void follow_evs(const RunResult& result, Figures& figures) {
  std::int64_t out = 0;
  for (const Bucket& bucket : result.buckets) {
    for (std::size_t state = 0; state < kEvStates; ++state) {
      if (!core::is_usable(static_cast<core::EvState>(state))) out += bucket.ev_changes[state];
    }
    figures.evs_out_at_end = static_cast<std::uint64_t>(std::max<std::int64_t>(out, 0));
    figures.evs_out_most = std::max(figures.evs_out_most, figures.evs_out_at_end);
  }
}

// Sent and not arrived. More arrived than sent only if the accounting is inconsistent.
void count_missing(const Totals& totals, Figures& figures) {
  const auto missing = [](std::uint64_t sent, std::uint64_t arrived) {
    return sent > arrived ? sent - arrived : 0;
  };
  figures.data_packets_missing = missing(
      totals.data_packets_sent, totals.data_packets_arrived + totals.trimmed_packets_arrived);
  figures.control_packets_missing =
      missing(totals.control_packets_sent, totals.control_packets_arrived);
}

}  // namespace

std::optional<Spread> step_times(const std::vector<StepRecord>& steps) {
  std::vector<Picoseconds> times;
  times.reserve(steps.size());
  for (const StepRecord& step : steps) times.push_back(step.end - step.begin);
  std::sort(times.begin(), times.end());
  return spread_of(times);
}

Figures figures_of(const RunResult& result) {
  Figures figures;
  count_flows(result, figures);
  figures.completion = spread_of(completion_times(result));
  figures.flow_rates = rates_of(result);
  figures.goodput = per_second(result.totals.message_bytes_completed, result.end);
  figures.line_rate = line_rate_of(result);
  take_steps(result, figures);
  for (std::size_t loss = 0; loss < kLosses; ++loss) {
    if (static_cast<Loss>(loss) != Loss::kInFlight) {
      figures.packets_lost += result.totals.packets_lost[loss];
    }
  }
  count_missing(result.totals, figures);
  follow_evs(result, figures);
  return figures;
}

std::string time_of(const JobRecord& job) {
  if (job.endless) return "to the end";
  return job.end == kNoTime ? "not done" : text::human(job.end - job.begin);
}

std::string_view name(Loss loss) {
  constexpr std::array<std::string_view, kLosses> kNames{
      "link down", "link error", "data queue full", "control queue full", "in flight at the end"};
  return kNames[static_cast<std::size_t>(loss)];
}

std::string transport_name(const RunResult& result) {
  std::string name = result.transport;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

Labels labels_of(const RunResult& first, const RunResult& second) {
  if (first.transport != second.transport) return {transport_name(first), transport_name(second)};
  if (first.scenario != second.scenario) return {first.scenario, second.scenario};
  if (first.seed != second.seed) {
    return {fmt::format("seed {}", first.seed), fmt::format("seed {}", second.seed)};
  }
  return {"first", "second"};
}

}  // namespace openmrc::sim
