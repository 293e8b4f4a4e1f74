// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/base/result.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/profile/path_plan.h"

namespace openmrc::host {

// The paths of this host's connections.
[[nodiscard]] Result<profile::PathPlan, Error> plan_paths(const Config& config);

}  // namespace openmrc::host
