// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/fabric/parts.h"
#include "openmrc/fabric/plan.h"
#include "openmrc/sim/experiment/summary.h"

// What the fabrics of an experiment are made of, beside what they do.
namespace openmrc::sim {

// With the parts that a fabric is bought from. Simulated fabrics are small samples of those that
// are built, so of a switch what counts is the share of its ports that is in use, and every cable
// is the first optical one.
struct PartsCost {
  double watts_per_host = 0;
  double price_per_host = 0;
  std::uint64_t hosts_max = 0;  // as many as such switches reach with so many tiers, non-blocking
};

struct FabricCost {
  std::string runs{};  // which have it: what they have of the axes that it depends on
  fabric::Design design{};
  std::optional<PartsCost> parts{};
};

// One for each fabric, in the order of the runs. Empty if a run does not say what it ran on.
std::vector<FabricCost> fabric_costs(const Experiment& experiment,
                                     const std::optional<fabric::Parts>& parts);

// A table, the head first: the first column is a name, the others are figures.
std::vector<std::vector<std::string>> cost_table(const std::vector<FabricCost>& costs,
                                                 const std::optional<fabric::Parts>& parts);
// What is counted, and where prices come from.
std::string cost_note(const std::optional<fabric::Parts>& parts);

}  // namespace openmrc::sim
