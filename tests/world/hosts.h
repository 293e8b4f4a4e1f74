// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/wire/field/ip_address.h"
#include "tests/world/world_options.h"

// What the hosts of all worlds have in common.
namespace openmrc::test {

core::EndpointLimits small_limits();
std::vector<wire::Ipv6Address> addresses_of(const WorldOptions& options, Side side);
core::EvProfile profile_of(const WorldOptions& options);
// Where an EV leaves the rest of the path to the connection.
wire::Ipv6Address path_overlay();

// Whether the faults are so bad that a connection may fail: without them it must not.
bool excuses_failure(const WorldOptions& options);

}  // namespace openmrc::test
