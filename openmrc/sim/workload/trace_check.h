// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/sim/workload/trace_replay.h"

namespace openmrc::sim {

// The ranks that take part in a collective: all if it names no group.
std::vector<std::uint32_t> ranks_of_group(const TraceJob& job, const std::string& group);
std::uint32_t size_of_group(const TraceJob& job, const std::string& group);

// Why the ranks of a trace cannot work together, for people: what a node needs is missing, ranks
// disagree about a collective, messages have no counterpart, or nodes wait for themselves. Empty if
// they can.
std::string problem_with_trace(const TraceJob& job);

}  // namespace openmrc::sim
