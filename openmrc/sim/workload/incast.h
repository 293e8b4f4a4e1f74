// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// The senders' flows in their order, then the victims'.
FlowList flows_of(const Incast& settings);

std::string problem_with(const Incast& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const Incast& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
