// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// A random permutation of [0, count) in which no element stays in its group of `group` neighbours
// (with groups of one: a derangement). There must be at least two groups, all full.
std::vector<std::uint32_t> permutation_across(std::uint32_t count, std::uint32_t group, Rng rng);

std::string problem_with(const Permutation& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const Permutation& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
