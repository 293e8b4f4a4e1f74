// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "openmrc/sim/report/chart.h"
#include "openmrc/sim/result/result.h"

// A result as charts need it: however large the run was, so many points are enough.
namespace openmrc::sim {

// The share of `total` (in millionths) that was done by each time; at most `points_max` points, the
// first and the last time always among them.
std::vector<Point> cumulative(const std::vector<Picoseconds>& sorted, std::size_t total,
                              std::size_t points_max);

// Times of steps by number. Where several share a point because there are so many, it is the
// slowest of them.
std::vector<Point> step_points(const std::vector<StepRecord>& steps, std::size_t group);

// Faults as the charts mark them: those that begin and end together are one span. Few are named,
// many are numbered as result.faults counts them, from 1.
std::vector<Span> fault_spans(const RunResult& result, double end);

// The same with at most `buckets_max` slices of time, each as long as several were.
RunResult coarsened(const RunResult& result, std::size_t buckets_max);

}  // namespace openmrc::sim
