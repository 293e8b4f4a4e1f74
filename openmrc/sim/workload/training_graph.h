// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// Training jobs as graphs: what one rank does in a step.
Graph training_graph(const OverlappedTraining& settings, std::uint32_t rank);
Graph ring_half_graph(const RingHalf& settings, std::uint32_t rank);

std::string problem_with(const OverlappedTraining& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const OverlappedTraining& settings,
                                      const fabric::Fabric& fabric, std::uint64_t seed);
std::string problem_with(const RingHalf& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const RingHalf& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
