// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/chakra/trace.h"
#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// The traces of all ranks, and what they leave open.
struct TraceJob {
  std::vector<RankTrace> ranks{};
  TraceGroups groups{};
  // For computations that have operations and bytes instead of a duration: the longer of the two
  // times. 0: not known.
  std::uint64_t operations_per_second = 0;
  std::uint64_t memory_bytes_per_second = 0;
};

// How long a node of this kind keeps its rank busy; nothing for what is communication.
Picoseconds compute_time(const TraceJob& job, const TraceNode& node);

// How long a step takes by the trace alone: from the first start to the last end if it was
// recorded, else the longest chain of computations of a rank, with messages that take no time.
struct TraceTime {
  Picoseconds time{};
  bool recorded = false;
};
TraceTime own_time(const TraceJob& job);

Graph trace_graph(const TraceReplay& settings, std::uint32_t rank);

std::string problem_with(const TraceReplay& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const TraceReplay& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
