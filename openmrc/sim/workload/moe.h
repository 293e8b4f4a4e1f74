// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

inline constexpr std::uint32_t kLayersMax = 1024;

// What share of all tokens each rank's expert gets in a layer, in parts of their sum. Which expert
// is wanted how much is drawn anew for each layer, the same for all ranks and steps.
std::vector<std::uint64_t> expert_weights(const MixtureOfExperts& settings, std::uint32_t layer,
                                          std::uint64_t seed);
Graph moe_graph(const MixtureOfExperts& settings, std::uint64_t seed, std::uint32_t rank);

std::string problem_with(const MixtureOfExperts& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const MixtureOfExperts& settings,
                                      const fabric::Fabric& fabric, std::uint64_t seed);

}  // namespace openmrc::sim
