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

void print_bandwidth(const PerfPlan& plan, const PerfOptions& options,
                     const BandwidthResult& result);
void print_latency(const PerfPlan& plan, const PerfOptions& options, const LatencyResult& result);

std::string bandwidth_json(PerfSession& session, const PerfOptions& options,
                           const BandwidthResult& result);
std::string latency_json(PerfSession& session, const LatencyResult& result);

}  // namespace openmrc::tools
