// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "tools/mrc/perf/bandwidth.h"
#include "tools/mrc/perf/latency.h"
#include "tools/mrc/perf/session.h"

// What a test prints: lines and JSON that scripts written for perftest read as well.
namespace openmrc::tools {

void print_perf_header(PerfSession& session, const PerfOptions& options);
void print_perf_rule();

// Of one side, in the unit that the options ask for.
struct BandwidthFigures {
  double peak = 0;
  double average = 0;
  double million_messages = 0;
};
BandwidthFigures figures(const PerfOptions& options, const BandwidthResult& result);

// A table of one row for each size. With PerfOptions::output one number for each size instead.
void print_bandwidth_head(const PerfOptions& options);
void print_bandwidth_row(const PerfPlan& plan, const PerfOptions& options,
                         const BandwidthResult& result);
void print_latency_head(const PerfPlan& plan, const PerfOptions& options);
void print_latency_row(const PerfPlan& plan, const PerfOptions& options,
                       const LatencyResult& result);
void print_table_end(const PerfOptions& options);
// If the options ask for them: every sample, in order; how many there are between powers of the
// square root of two.
void print_latency_samples(const PerfOptions& options, const LatencyResult& result);
void print_latency_histogram(const PerfOptions& options, const LatencyResult& result);

std::string bandwidth_json(PerfSession& session, const PerfOptions& options,
                           const BandwidthResult& result);
std::string latency_json(PerfSession& session, const LatencyResult& result);

}  // namespace openmrc::tools
