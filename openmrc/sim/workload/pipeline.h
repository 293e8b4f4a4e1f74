// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

inline constexpr std::uint32_t kMicroBatchesMax = 4096;

// Stage s is on ranks s x width to s x width + width - 1; a rank exchanges activations with those
// that have its place in the stages before and behind it. One forward, one backward: a stage
// begins with as many micro-batches as there are stages from it to the last, then processes one
// backward and one forward in turn.
Graph pipeline_graph(const Pipeline& settings, std::uint32_t rank);

std::string problem_with(const Pipeline& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const Pipeline& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
