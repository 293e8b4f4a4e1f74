// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

inline constexpr std::uint32_t kBackgroundPeersMax = 1024;

// Messages begin whether those before have arrived or not. Nobody waits for them: the workload is
// done when `duration` has passed and what was begun has arrived; without one it always is.
std::string problem_with(const Background& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const Background& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
