// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/series/series.h"

namespace openmrc::tools {

struct Run {
  sim::RunResult result{};
  std::string problems{};  // empty: it finished, and packet accounting is consistent
  std::string cost{};      // what the run itself took
  sim::Series series{};    // if there was one
};

struct RunSettings {
  std::size_t threads = 0;                      // 0: by the processors and the size of the fabric
  bool quiet = false;                           // no progress
  const sim::SeriesSettings* series = nullptr;  // null: none
};

// Runs a scenario, reports progress and ends early on Ctrl-C.
Run run_one(const sim::Scenario& scenario, RunSettings settings);

// As many as help with a fabric of this size, and no more than there are.
std::size_t threads_for(const sim::Scenario& scenario, std::size_t most);

}  // namespace openmrc::tools
