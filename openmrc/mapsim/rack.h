// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "openmrc/mapper/merge.h"
#include "openmrc/mapsim/agent.h"
#include "openmrc/mapsim/faults.h"

namespace openmrc::mapsim {

// How often somebody asks the agents.
inline constexpr Duration kLookInterval = milliseconds(250);

// What was said of a link that has a fault.
struct Naming {
  Instant at{};
  bool by_rack = false;                                       // at first
  mapper::Direction direction = mapper::Direction::kUnknown;  // in the end
  bool is_named = false;                                      // in the end
};

struct RackResult {
  std::map<fabric::LinkId, Naming> named{};
  std::set<std::string> false_names{};      // by mrc map
  std::set<std::string> false_by_agents{};  // host and link: by an agent for itself
  std::uint64_t agents = 0;
  std::uint64_t rounds_judged = 0;
  std::uint64_t rounds_left_out = 0;
  std::uint64_t probes_lost = 0;
};

// The agents of a rack from the beginning to the end. Racks have nothing in common but the faults.
RackResult run_rack(const Settings& settings, const FaultTable& faults, std::uint32_t rack);

}  // namespace openmrc::mapsim
