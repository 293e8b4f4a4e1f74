// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::sim {

// Whether the connections of every host fit the limits of its transport; the error names the key
// that is too small. To be asked before run().
[[nodiscard]] Result<void, std::string> check_host_limits(const Scenario& scenario);

}  // namespace openmrc::sim
