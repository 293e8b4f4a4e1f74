// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "openmrc/sim/availability/fabric_states.h"
#include "openmrc/sim/availability/weighted_mean.h"
#include "openmrc/sim/result/measures.h"

// What is to be expected of a fabric whose parts fail, for people and for programs.
namespace openmrc::sim {

struct StateRuns {
  FabricState state{};
  std::vector<Measured> runs{};
  std::size_t unfinished = 0;  // of them
};

struct Availability {
  std::string title{};
  std::vector<UnreliableParts> parts{};
  std::vector<StateRuns> states{};
};

// Of all states that were run.
double mass_of(const Availability& availability);

// A figure that is expected; empty if some run has none.
std::optional<WeightedMean> expected(const Availability& availability, std::size_t measure);

// A table of the states with the figures `shown` (by measures()), and what is expected of these.
std::string availability_text(const Availability& availability,
                              const std::vector<std::size_t>& shown);
// All figures. docs/experiments.md has the fields.
std::string availability_json(const Availability& availability);

}  // namespace openmrc::sim
