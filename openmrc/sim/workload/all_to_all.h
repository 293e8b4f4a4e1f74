// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// How many messages of a host are in flight at a time: enough to keep its links busy while some
// of its peers are slow, few enough not to hit all hosts at once.
inline constexpr std::uint32_t kAllToAllOutstanding = 8;

// Each host begins with the host after it, so that no host is the first of all others. The job is
// one step: its mark says how long each host took.
std::string problem_with(const AllToAll& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const AllToAll& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
