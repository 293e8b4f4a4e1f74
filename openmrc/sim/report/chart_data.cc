// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

constexpr std::size_t kFaultsNamedMax = 3;  // in a chart; more are numbered
constexpr std::size_t kSpansMax = 200;      // more would be one red surface

Bucket merged(Bucket sum, const Bucket& more) {
  sum.payload_bytes.resize(std::max(sum.payload_bytes.size(), more.payload_bytes.size()));
  for (std::size_t plane = 0; plane < more.payload_bytes.size(); ++plane) {
    sum.payload_bytes[plane] += more.payload_bytes[plane];
  }
  for (std::size_t i = 0; i < kEvStates; ++i) sum.ev_changes[i] += more.ev_changes[i];
  for (std::size_t i = 0; i < kPortKinds; ++i) {
    sum.queue_max_bytes[i] = std::max(sum.queue_max_bytes[i], more.queue_max_bytes[i]);
  }
  sum.marked += more.marked;
  sum.trimmed += more.trimmed;
  sum.lost += more.lost;
  sum.retransmissions += more.retransmissions;
  return sum;
}

}  // namespace

std::vector<Point> cumulative(const std::vector<Picoseconds>& sorted, std::size_t total,
                              std::size_t points_max) {
  OPENMRC_CHECK(points_max >= 2 && total >= sorted.size(), "a share of something");
  std::vector<Point> points;
  if (sorted.empty()) return points;
  const std::size_t count = std::min(sorted.size(), points_max - 1);  // and where it starts
  points.push_back({static_cast<double>(sorted.front().raw()), 0});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rank = count == 1 ? 0 : i * (sorted.size() - 1) / (count - 1);
    points.push_back({static_cast<double>(sorted[rank].raw()),
                      static_cast<double>(rank + 1) * 1e6 / static_cast<double>(total)});
  }
  return points;
}

std::vector<Point> step_points(const std::vector<StepRecord>& steps, std::size_t group) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double time = number(steps[i].end - steps[i].begin);
    if (i % group == 0) {
      points.push_back({static_cast<double>(i), time});
    } else {
      points.back().y = std::max(points.back().y, time);
    }
  }
  return points;
}

RunResult coarsened(const RunResult& result, std::size_t buckets_max) {
  RunResult coarse = result;
  const std::size_t group = (result.buckets.size() + buckets_max - 1) / buckets_max;
  if (group <= 1) return coarse;
  coarse.bucket_width = result.bucket_width * static_cast<std::int64_t>(group);
  coarse.buckets.clear();
  for (std::size_t i = 0; i < result.buckets.size(); ++i) {
    if (i % group == 0) {
      coarse.buckets.push_back(result.buckets[i]);
    } else {
      coarse.buckets.back() = merged(std::move(coarse.buckets.back()), result.buckets[i]);
    }
  }
  return coarse;
}

std::vector<Span> fault_spans(const RunResult& result, double end) {
  std::map<std::pair<Picoseconds, Picoseconds>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < result.faults.size(); ++i) {
    groups[{result.faults[i].from, result.faults[i].to}].push_back(i);
  }
  std::vector<Span> spans;
  for (const auto& [times, faults] : groups) {
    if (number(times.first) > end || spans.size() == kSpansMax) break;
    std::string label = fmt::format("#{}", faults.front() + 1);
    if (faults.size() > 1) label += fmt::format(" and {} more", faults.size() - 1);
    if (faults.size() == 1 && groups.size() <= kFaultsNamedMax) {
      label = result.faults[faults.front()].text;
    }
    const double to = times.second == kNoTime ? end : std::min(end, number(times.second));
    spans.push_back({number(times.first), to, std::move(label)});
  }
  return spans;
}

}  // namespace openmrc::sim
