// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/sim/engine/run_options.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// Runs a scenario to its end. The result does not depend on the options. With several processes the
// first has the whole result, the others their part.
RunResult run(const Scenario& scenario, const RunOptions& options, RunCost* cost = nullptr);

// The same run, and what it shows while it goes on. Complete in the first process.
struct SampledRun {
  RunResult result{};
  Series series{};
};
SampledRun run_sampled(const Scenario& scenario, const RunOptions& options,
                       const SeriesSettings& settings);

}  // namespace openmrc::sim
