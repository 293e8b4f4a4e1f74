// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/fault_effect.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace openmrc::sim {
namespace {

constexpr std::size_t kBucketsBeforeMin = 5;   // less tells nothing about what is usual
constexpr std::size_t kBucketsBeforeMax = 20;  // more may reach back to how the run began
constexpr std::size_t kBucketsAfterMin = 3;
constexpr double kUnsteady = 0.2;       // a bucket so far below the mean: the traffic itself varies
constexpr double kToleranceMin = 0.02;  // less than this is not worth a claim
constexpr double kDeviations = 3;
constexpr double kStillRunning = 0.95;  // of the flows

std::vector<double> bytes_by_bucket(const RunResult& result) {
  std::vector<double> bytes;
  bytes.reserve(result.buckets.size());
  for (const Bucket& bucket : result.buckets) {
    bytes.push_back(std::accumulate(
        bucket.payload_bytes.begin(), bucket.payload_bytes.end(), 0.0,
        [](double sum, std::uint64_t more) { return sum + static_cast<double>(more); }));
  }
  return bytes;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// How many flows run in the middle of each bucket.
std::vector<std::int64_t> flows_running(const RunResult& result) {
  const std::int64_t width = result.bucket_width.raw();
  const auto count = static_cast<std::int64_t>(result.buckets.size());
  // The first bucket whose middle is not before `when`.
  const auto bucket_from = [&](Picoseconds when) {
    const std::int64_t half = width / 2;
    const std::int64_t bucket = when.raw() <= half ? 0 : (when.raw() - half - 1) / width + 1;
    return static_cast<std::size_t>(std::min(bucket, count));
  };
  std::vector<std::int64_t> running(result.buckets.size() + 1);
  for (const FlowRecord& flow : result.flows) {
    ++running[bucket_from(flow.start)];
    --running[bucket_from(flow.end)];
  }
  std::partial_sum(running.begin(), running.end(), running.begin());
  return running;
}

// The first bucket in which too few flows run. Where others follow those that end, the count stays
// up, and so does the goodput.
std::size_t end_of_view(const RunResult& result, std::size_t first) {
  const std::vector<std::int64_t> running = flows_running(result);
  const double enough = static_cast<double>(running[first]) * kStillRunning;
  std::size_t at = first;
  while (at < result.buckets.size() && static_cast<double>(running[at]) >= enough) ++at;
  return running[first] == 0 ? first : at;
}

void judge(std::span<const double> after, double usual, Picoseconds width, FaultEffect& effect) {
  const double enough = usual * (1 - effect.tolerance);
  const auto last_low =
      std::find_if(after.rbegin(), after.rend(), [&](double bytes) { return bytes < enough; });
  if (last_low == after.rend()) return;
  const auto count = static_cast<std::size_t>(after.rend() - last_low);
  effect.lost_share = 1 - mean(after.first(count)) / usual;
  effect.lasted = width * static_cast<std::int64_t>(count);
  effect.recovered = count < after.size();
}

}  // namespace

std::optional<FaultEffect> fault_effect(const RunResult& result) {
  const std::vector<FaultNote> faults = reached_faults(result);
  if (faults.empty() || result.bucket_width <= Picoseconds(0)) return std::nullopt;
  const auto earlier = [](const FaultNote& a, const FaultNote& b) { return a.from < b.from; };
  const auto [first, last] = std::minmax_element(faults.begin(), faults.end(), earlier);
  const auto begin = static_cast<std::size_t>(first->from.raw() / result.bucket_width.raw());
  if (begin < kBucketsBeforeMin || begin >= result.buckets.size()) return std::nullopt;

  const std::vector<double> bytes = bytes_by_bucket(result);
  const std::size_t count = std::min(begin, kBucketsBeforeMax);
  const std::span before = std::span(bytes).subspan(begin - count, count);
  const double usual = mean(before);
  if (*std::min_element(before.begin(), before.end()) <= usual * (1 - kUnsteady)) {
    return std::nullopt;
  }
  const std::size_t end = end_of_view(result, begin);
  if (end < begin + kBucketsAfterMin) return std::nullopt;

  FaultEffect effect{.from = first->from,
                     .faults = faults.size(),
                     .at_once = first->from == last->from,
                     .tolerance = std::max(kToleranceMin, kDeviations * deviation(before) / usual)};
  judge(std::span(bytes).subspan(begin, end - begin), usual, result.bucket_width, effect);
  return effect;
}

}  // namespace openmrc::sim
