// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/ranks.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// Where the graphs of a job come from. A graph is a function of the rank: each is made when its
// program is, and no one has those of all ranks.
class GraphSource {
 public:
  virtual ~GraphSource() = default;
  [[nodiscard]] virtual Graph graph(std::uint32_t rank) const = 0;
};

// Every rank goes through its graph again and again, `iterations` times; only the messages that it
// waits for hold it back. Each iteration is a step of the job.
std::unique_ptr<Workload> graph_workload(std::shared_ptr<const GraphSource> source,
                                         const Ranks& ranks, std::uint32_t iterations);

}  // namespace openmrc::sim
