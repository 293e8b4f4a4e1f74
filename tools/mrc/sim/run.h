// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/scenario/scenario.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/series_options.h"

namespace openmrc::tools {

struct SimRunOptions {
  std::string file{};                  // the scenario
  std::size_t threads = 0;             // 0: by the processors and the size of the fabric
  sim::ScenarioOverrides overrides{};  // instead of what the scenario has
  std::string transport{};             // "mrc" or "rc" instead of the scenario's; empty: as it is
  std::string host_config{};           // an openmrc.toml whose [transport] the hosts have
  std::string json{};                  // file for the result; - for standard output
  std::string report{};                // file for the page
  SeriesOptions series{};
  std::size_t seeds = 0;     // run it with so many; 0: once
  std::size_t jobs = 0;      // of them at a time; 0: by the processors
  bool baseline = false;     // run it with RC as well
  bool faults_only = false;  // run nothing, print what breaks and when
  bool quiet = false;
};

// What the options ask to be run.
Result<PreparedRun, std::string> prepare(const SimRunOptions& options);

// Runs a scenario and reports it. The exit code: 0 if the workload finished and packet accounting
// is consistent, 1 if not or if a file could not be written, 2 if nothing was run.
int run_scenario(const SimRunOptions& options);

}  // namespace openmrc::tools
