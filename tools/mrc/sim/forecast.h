// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::tools {

// About how many hops a scenario takes if nothing is sent twice, to say how long a run will last.
double expected_hops(const sim::Scenario& scenario);

}  // namespace openmrc::tools
