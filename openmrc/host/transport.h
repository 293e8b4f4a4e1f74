// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/base/result.h"
#include "openmrc/core/congestion/nscc.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/profile/path_plan.h"
#include "openmrc/profile/transport_profile.h"

// What a host's configuration means for the protocol.
namespace openmrc::host {

[[nodiscard]] profile::TransportProfile profile_of(const Config& config);
[[nodiscard]] profile::NetworkFigures network_figures(const Config& config);
[[nodiscard]] core::NsccSettings nscc_settings(const Config& config);
[[nodiscard]] Result<profile::PathPlan, Error> plan_paths(const Config& config);

}  // namespace openmrc::host
