// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/mrc/sim/run.h"

namespace openmrc::tools {

// Runs a scenario with several seeds and reports the figures with their intervals. The exit code is
// that of run_scenario.
int run_seeds(const SimRunOptions& options);

}  // namespace openmrc::tools
