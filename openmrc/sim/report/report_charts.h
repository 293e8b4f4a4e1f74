// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/sim/report/chart.h"
#include "openmrc/sim/result/result.h"

// The charts of a report: what is drawn, and a sentence on what to see.
namespace openmrc::sim {

// A chart is as wide as the page, or as half of it.
inline constexpr int kFullWidth = 1060;
inline constexpr int kHalfWidth = 520;

struct ReportChart {
  Chart chart{};
  std::string note{};
};

// Those that the result has data for. The baseline, if there is one, is drawn into the charts of
// goodput, completion times and steps.
std::vector<ReportChart> report_charts(const RunResult& result, const RunResult* baseline);

}  // namespace openmrc::sim
