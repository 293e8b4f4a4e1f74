// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/result/result.h"
#include "openmrc/sim/simulation.h"

namespace openmrc::tools {

// Why a run ended before its workload was done.
enum class Stop { kInterrupted, kTimeLimit, kNothingLeft };

// What is wrong with a run: what did not finish and why, and inconsistent packet accounting. Whole
// lines; empty if all is well. `last` is how far the run came.
std::string problems_of(const sim::RunResult& result, const sim::Progress& last, Stop stop);

}  // namespace openmrc::tools
