// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/agent/agent_protocol.h"
#include "openmrc/agent/publishers.h"
#include "openmrc/host/metrics.h"

// What the agent tells monitoring about its host. docs/guide/operate.md has every name.
namespace openmrc::libmrc {

// What it knows besides the counters of processes.
struct AgentFacts {
  std::string host{};
  std::string version{};
  std::vector<PortInfo> ports{};
  std::uint64_t clients = 0;
  std::uint64_t refused_messages = 0;
};

// `processes_max`: with more processes, only the busiest have series of their own.
std::vector<host::Sample> agent_samples(const AgentFacts& facts, Publishers& publishers,
                                        std::size_t processes_max);

// rdma_counters.h: the names of one port.
std::vector<RdmaCounter> rdma_counters(Publishers& publishers, PortNumber port);

}  // namespace openmrc::libmrc
