// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// The tag of a flow's messages is its place in the list.
std::string problem_with(const FlowList& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const FlowList& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
