// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "openmrc/core/paths/ev_state.h"
#include "openmrc/sim/report/chart_data.h"
#include "openmrc/sim/report/chart_style.h"
#include "openmrc/sim/result/figures.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::human_rate;
using text::Unit;

constexpr std::size_t kBucketsMax = 600;  // a wide chart has not many more pixels; others half
constexpr std::size_t kCurvePointsMax = 500;
constexpr std::size_t kBarsMax = 80;
constexpr std::size_t kStepPointsMax = 500;
constexpr const char* kBaselineColor = "var(--strong)";

bool has_buckets(const RunResult& result) {
  return !result.buckets.empty() && result.bucket_width > Picoseconds(0);
}

double end_of_buckets(const RunResult& result) {
  return has_buckets(result)
             ? number(result.bucket_width) * static_cast<double>(result.buckets.size())
             : 0;
}

// A value of each slice of time, as steps; the last one is repeated at the end of the last slice.
template <class Value>
std::vector<Point> over_time(const RunResult& result, Value value) {
  std::vector<Point> points;
  points.reserve(result.buckets.size() + 1);
  for (std::size_t i = 0; i < result.buckets.size(); ++i) {
    points.push_back({number(result.bucket_width) * static_cast<double>(i),
                      static_cast<double>(value(result.buckets[i]))});
  }
  if (!points.empty()) points.push_back({end_of_buckets(result), points.back().y});
  return points;
}

bool is_flat_zero(const std::vector<Point>& points) {
  return std::all_of(points.begin(), points.end(), [](const Point& point) { return point.y == 0; });
}

Chart time_chart(const RunResult& result, std::string title, Axis y, double end) {
  Chart chart{.title = std::move(title),
              .x = {.name = "time", .unit = Unit::kPicoseconds, .to = end},
              .y = std::move(y)};
  chart.spans = fault_spans(result, end);
  return chart;
}

double per_second(const RunResult& result, double bytes) {
  return bytes * 8 * static_cast<double>(kPicosecondsPerSecond) / number(result.bucket_width);
}

// A slice in which nothing arrived may have no numbers at all.
double bytes_of(const Bucket& bucket, std::size_t plane) {
  return plane < bucket.payload_bytes.size() ? static_cast<double>(bucket.payload_bytes[plane]) : 0;
}

std::vector<Point> total_goodput(const RunResult& result) {
  return over_time(result, [&](const Bucket& bucket) {
    double bytes = 0;
    for (const std::uint64_t more : bucket.payload_bytes) bytes += static_cast<double>(more);
    return per_second(result, bytes);
  });
}

std::string fault_hint(const RunResult& result) {
  const std::size_t reached = reached_faults(result).size();
  if (reached == 0) return {};
  return reached == 1 ? " The fault is marked in red." : " Faults are marked in red.";
}

double largest(const std::vector<Point>& points) {
  double most = 0;
  for (const Point& point : points) most = std::max(most, point.y);
  return most;
}

void add_planes(Chart& chart, const RunResult& result) {
  for (std::size_t plane = 0; plane < result.planes; ++plane) {
    chart.series.push_back({.name = fmt::format("plane {}", plane),
                            .drawn = Drawn::kArea,
                            .color = shade_color(plane, result.planes),
                            .points = over_time(result, [&](const Bucket& bucket) {
                              return per_second(result, bytes_of(bucket, plane));
                            })});
  }
}

Chart goodput_chart(const RunResult& result, std::string title, double end) {
  Chart chart = time_chart(result, std::move(title),
                           {.name = "payload that arrived", .unit = Unit::kBitsPerSecond}, end);
  chart.width = kFullWidth;
  chart.height = 320;
  chart.total = "all planes";
  add_planes(chart, result);
  const double line_rate = figures_of(result).line_rate;
  if (line_rate > 0 && line_rate < 2 * largest(total_goodput(result))) {
    chart.references.push_back({line_rate, "line rate " + human_rate(line_rate)});
  }
  return chart;
}

// Steady traffic is laid over each other. A job that computes between its messages is not: two
// rows of spikes that drift apart are easier to read one below the other.
void add_goodput_charts(std::vector<ReportChart>& charts, const RunResult& result,
                        const RunResult* baseline) {
  const bool both = baseline != nullptr && has_buckets(*baseline);
  const double end = std::max(end_of_buckets(result), both ? end_of_buckets(*baseline) : 0);
  ReportChart first{
      goodput_chart(result, "Goodput of each plane over time", end),
      fmt::format("All hosts together, in slices of {}.{}{}", human(result.bucket_width),
                  result.planes < 2 ? ""
                                    : " The planes stand on each other, so that the upper edge is "
                                      "the sum and a plane that fails leaves a dent.",
                  fault_hint(result))};
  if (!both) return charts.push_back(std::move(first));
  const std::string label = labels_of(result, *baseline).second;
  if (result.steps.size() < 2) {
    first.chart.series.push_back({.name = fmt::format("{}, all planes", label),
                                  .drawn = Drawn::kSteps,
                                  .color = kBaselineColor,
                                  .points = total_goodput(*baseline)});
    first.note += fmt::format(" The line is the sum of {}.", label);
    return charts.push_back(std::move(first));
  }
  ReportChart second{goodput_chart(*baseline, fmt::format("The same with {}", label), end),
                     "To the same scales."};
  const double top = std::max(y_end(first.chart), y_end(second.chart));
  first.chart.y.to = top;
  second.chart.y.to = top;
  charts.push_back(std::move(first));
  charts.push_back(std::move(second));
}

ChartSeries completion_curve(const std::vector<Picoseconds>& times, const RunResult& result) {
  return {.name = transport_name(result),
          .drawn = Drawn::kSteps,
          .color = series_color(0),
          .points = cumulative(times, result.flows.size(), kCurvePointsMax)};
}

// From where the first flow is done; with magnitudes where the slowest takes many times as long as
// most.
void choose_time_axis(Axis& axis, const std::vector<ChartSeries>& curves) {
  double first = curves.front().points.front().x;
  double last = 0;
  double middle = curves.front().points.back().x;
  for (const ChartSeries& curve : curves) {
    first = std::min(first, curve.points.front().x);
    last = std::max(last, curve.points.back().x);
    middle = std::min(middle, curve.points[curve.points.size() / 2].x);
  }
  const double room = std::max((last - first) * 0.04, last * 0.001);
  axis.to = last + room;
  axis.from = first < last * 0.3 ? 0 : first - room;
  if (first > 0 && last > 10 * middle) {
    axis.logarithmic = true;
    axis.from = first * 0.9;
    axis.to = last * 1.1;
  }
}

ReportChart completion_chart(const RunResult& result, const RunResult* baseline) {
  const std::vector<Picoseconds> times = completion_times(result);
  Chart chart{.title = "Flow completion time (CDF)",
              .x = {.name = "flow completion time", .unit = Unit::kPicoseconds},
              .y = {.name = "flows completed", .unit = Unit::kPartsPerMillion, .to = 1e6}};
  chart.series.push_back(completion_curve(times, result));
  std::string note =
      "The share of flows that completed within this time of their start. A steep curve means that "
      "flows were treated alike; a long tail, that some were left behind.";
  if (baseline != nullptr) {
    const std::vector<Picoseconds> others = completion_times(*baseline);
    const Labels labels = labels_of(result, *baseline);
    if (!others.empty()) {
      ChartSeries curve = completion_curve(others, *baseline);
      chart.series.front().name = labels.first;
      curve.name = labels.second;
      curve.color = kBaselineColor;
      curve.dashed = true;
      chart.series.push_back(std::move(curve));
    }
  }
  choose_time_axis(chart.x, chart.series);
  const Spread spread = *figures_of(result).completion;
  const char* of = times.size() < result.flows.size() ? " of those done" : "";
  const auto mark = [&](const char* name, Picoseconds at) {
    chart.references.push_back({number(at), fmt::format("{}{} {}", name, of, human(at)), true});
  };
  mark("median", spread.median);
  mark("p99", spread.p99);
  if (chart.x.from > 0) note += " Mind the axis: it does not start at 0.";
  if (chart.x.logarithmic) note += " Its steps are magnitudes.";
  if (times.size() < result.flows.size()) {
    note += fmt::format(" {} of {} flows did not finish: the curve ends below 100 %.",
                        grouped(result.flows.size() - times.size()), grouped(result.flows.size()));
  }
  return {std::move(chart), std::move(note)};
}

// EVs in each state at the end of each slice.
std::array<std::vector<Point>, kEvStates> ev_counts(const RunResult& result) {
  std::array<std::vector<Point>, kEvStates> counts;
  for (std::size_t state = 0; state < kEvStates; ++state) {
    double now = state == 0 ? static_cast<double>(result.evs) : 0;
    counts[state] = over_time(result, [&](const Bucket& bucket) {
      now += static_cast<double>(bucket.ev_changes[state]);
      return std::max(now, 0.0);
    });
  }
  return counts;
}

ReportChart ev_chart(const RunResult& result) {
  auto counts = ev_counts(result);
  auto least_good = static_cast<double>(result.evs);
  for (const Point& point : counts[0]) least_good = std::min(least_good, point.y);
  // Where nearly all are good, the others would not be seen below them.
  const bool show_good = least_good < 0.7 * static_cast<double>(result.evs);
  Chart chart = time_chart(result, show_good ? "Paths by state" : "Paths that were not GOOD",
                           {.name = "EVs (paths of all connections)", .unit = Unit::kCount},
                           end_of_buckets(result));
  const std::array<std::string, kEvStates> colors{series_color(2), series_color(1), series_color(5),
                                                  series_color(3), series_color(4)};
  // The worst stand at the bottom, where their number can be read.
  for (std::size_t i = kEvStates; i > (show_good ? 0 : 1); --i) {
    const std::size_t state = i - 1;
    if (is_flat_zero(counts[state])) continue;
    chart.series.push_back({.name = std::string(core::name(static_cast<core::EvState>(state))),
                            .drawn = Drawn::kArea,
                            .color = colors[state],
                            .points = std::move(counts[state])});
  }
  return {
      std::move(chart),
      fmt::format("Of {} in all{}. SKIP: met congestion, skipped once. ASSUMED_BAD: lost a packet, "
                  "disabled until probes succeed. DENIED: disabled by the administrator.",
                  grouped(result.evs), show_good ? "" : "; the others were GOOD")};
}

ReportChart queue_chart(const RunResult& result) {
  Chart chart = time_chart(result, "Deepest queue", {.name = "queue", .unit = Unit::kBytes},
                           end_of_buckets(result));
  constexpr std::array<const char*, kPortKinds> kNames{"T0 to T1", "T1 to T0", "T0 to host",
                                                       "T1 to T2", "T2 to T1"};
  for (std::size_t kind = 0; kind < kPortKinds; ++kind) {
    std::vector<Point> points =
        over_time(result, [&](const Bucket& bucket) { return bucket.queue_max_bytes[kind]; });
    if (is_flat_zero(points)) continue;
    chart.series.push_back({.name = kNames[kind],
                            .drawn = Drawn::kSteps,
                            .color = series_color(kind),
                            .points = std::move(points)});
  }
  return {std::move(chart),
          "The largest queue of any switch port of its kind, in each slice of time. Queues towards "
          "hosts grow when several send to one; queues between switches when paths collide."};
}

using BucketCount = std::uint64_t Bucket::*;

bool any(const RunResult& result, BucketCount count) {
  return std::any_of(result.buckets.begin(), result.buckets.end(),
                     [&](const Bucket& bucket) { return bucket.*count > 0; });
}

ChartSeries count_series(const RunResult& result, const char* name, BucketCount count,
                         std::size_t color) {
  return {.name = name,
          .drawn = Drawn::kSteps,
          .color = series_color(color),
          .points = over_time(result, [&](const Bucket& bucket) { return bucket.*count; })};
}

ReportChart marks_chart(const RunResult& result) {
  Chart chart = time_chart(
      result, "Congestion marks",
      {.name = fmt::format("packets in {}", human(result.bucket_width)), .unit = Unit::kCount},
      end_of_buckets(result));
  chart.series.push_back(count_series(result, "marked (ECN)", &Bucket::marked, 1));
  return {std::move(chart),
          "Packets that a switch marked because its queue grew. The sender is notified, skips "
          "the path once and slows down if all paths are marked."};
}

ReportChart losses_chart(const RunResult& result) {
  Chart chart = time_chart(
      result, "Losses and retransmits",
      {.name = fmt::format("packets in {}", human(result.bucket_width)), .unit = Unit::kCount},
      end_of_buckets(result));
  chart.series.push_back(count_series(result, "trimmed", &Bucket::trimmed, 4));
  chart.series.push_back(count_series(result, "lost, data and control", &Bucket::lost, 3));
  chart.series.push_back(count_series(result, "retransmitted", &Bucket::retransmissions, 0));
  return {
      std::move(chart),
      "Trimmed packets lost their payload in a full queue, lost ones are gone. Data packets are "
      "retransmitted: the closer that line follows, the sooner the repair. Control packets, such "
      "as acknowledgements, are not."};
}

bool has_fault(const RunResult& result, const StepRecord& step) {
  return std::any_of(result.faults.begin(), result.faults.end(), [&](const FaultNote& fault) {
    return fault.from < step.end && fault.to > step.begin;
  });
}

void add_steps(Chart& chart, const RunResult& result, const std::string& name, std::size_t group) {
  ChartSeries whole{.name = name, .color = series_color(0)};
  ChartSeries hit{.name = name + ", with a fault in the step", .color = series_color(3)};
  for (const Point& point : step_points(result.steps, group)) {
    const bool fault = has_fault(result, result.steps[static_cast<std::size_t>(point.x)]);
    (fault ? hit : whole).points.push_back(point);
  }
  for (ChartSeries* series : {&whole, &hit}) {
    series->drawn = result.steps.size() <= kBarsMax ? Drawn::kBars : Drawn::kDots;
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  }
}

ReportChart step_chart(const RunResult& result, const RunResult* baseline) {
  const std::size_t longest =
      std::max(result.steps.size(), baseline == nullptr ? 0 : baseline->steps.size());
  const std::size_t group = (longest + kStepPointsMax - 1) / kStepPointsMax;
  Chart chart{.title = "Time of each step",
              .x = {.name = "step",
                    .unit = Unit::kCount,
                    .from = -0.7,
                    .to = static_cast<double>(longest) - 0.3},
              .y = {.name = "time of a step", .unit = Unit::kPicoseconds}};
  chart.width = kFullWidth;
  add_steps(chart, result,
            baseline == nullptr ? transport_name(result) : labels_of(result, *baseline).first,
            group);
  if (baseline != nullptr && !baseline->steps.empty()) {
    chart.series.push_back({.name = labels_of(result, *baseline).second,
                            .drawn = Drawn::kDots,
                            .color = kBaselineColor,
                            .points = step_points(baseline->steps, group)});
  }
  const Picoseconds median = figures_of(result).step->median;
  chart.references.push_back({number(median), "median " + human(median)});
  std::string note =
      "From the first host's begin to the last host's end, compute time included. A job runs at "
      "the pace of its slowest flow, so steps of even length are what counts.";
  if (group > 1) note += fmt::format(" Each point is the slowest of {} steps.", group);
  return {std::move(chart), std::move(note)};
}

void add_bucket_charts(std::vector<ReportChart>& charts, const RunResult& result) {
  if (ReportChart evs = ev_chart(result); !evs.chart.series.empty()) {
    charts.push_back(std::move(evs));
  }
  if (ReportChart queues = queue_chart(result); !queues.chart.series.empty()) {
    charts.push_back(std::move(queues));
  }
  if (any(result, &Bucket::marked)) charts.push_back(marks_chart(result));
  if (any(result, &Bucket::trimmed) || any(result, &Bucket::lost) ||
      any(result, &Bucket::retransmissions)) {
    charts.push_back(losses_chart(result));
  }
}

// Half charts stand in pairs; one that is left over takes the whole row.
void fill_the_last_row(std::vector<ReportChart>& charts) {
  const auto halves = std::count_if(charts.begin(), charts.end(), [](const ReportChart& item) {
    return item.chart.width == kHalfWidth;
  });
  if (halves % 2 != 0) charts.back().chart.width = kFullWidth;
}

}  // namespace

std::vector<ReportChart> report_charts(const RunResult& result, const RunResult* baseline) {
  const RunResult wide = coarsened(result, kBucketsMax);
  RunResult other;
  if (baseline != nullptr) {
    other = coarsened(*baseline, kBucketsMax);
    baseline = &other;
  }
  std::vector<ReportChart> charts;
  if (has_buckets(wide)) add_goodput_charts(charts, wide, baseline);
  if (result.steps.size() > 1) charts.push_back(step_chart(result, baseline));
  if (completion_times(result).size() > 1) charts.push_back(completion_chart(result, baseline));
  if (has_buckets(result)) add_bucket_charts(charts, coarsened(result, kBucketsMax / 2));
  fill_the_last_row(charts);
  return charts;
}

}  // namespace openmrc::sim
