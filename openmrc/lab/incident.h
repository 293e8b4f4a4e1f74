// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/journal.h"
#include "openmrc/lab/spec.h"

// What happened in a lab, as a scenario for the simulator.
namespace openmrc::lab {

// One host writes messages to another, so many at a time, as `mrc perf write-bw` does.
struct IncidentFlow {
  fabric::HostIndex from{};
  fabric::HostIndex to{};
  std::uint64_t bytes = 0;
};
inline constexpr std::uint64_t kIncidentMessageBytes = 256 * 1024;
inline constexpr std::uint32_t kIncidentDepth = 16;

struct Incident {
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC: when the traffic began
  std::vector<IncidentFlow> flows{};
};

// TOML. The lab's fabric, its queues, wires as long as the round trip of its hosts says, the faults
// of the journal at their times. The error says why it cannot be simulated.
Result<std::string, std::string> scenario_of(const Spec& spec,
                                             std::span<const JournalEntry> journal,
                                             const Incident& incident);

}  // namespace openmrc::lab
