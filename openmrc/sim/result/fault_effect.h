// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/sim/result/result.h"

namespace openmrc::sim {

// What happened to the goodput of all hosts together once the first fault began.
struct FaultEffect {
  Picoseconds from{};      // of the first fault
  std::size_t faults = 0;  // how many began then or later
  bool at_once = false;    // all of them began then
  double tolerance = 0;    // a share; what is lost counts as an effect beyond this
  double lost_share = 0;   // of what was carried before, on average while it lasted; 0: no effect
  Picoseconds lasted{};    // from the fault until goodput was back
  bool recovered = true;   // it was back while the flows still ran
};

// Empty where the result does not tell: no fault that the run came to, traffic that was not steady
// before it, or that ended soon after. The effect is looked for as long as nearly all of the flows
// still run that did when the fault began, because flows that end take their goodput with them.
std::optional<FaultEffect> fault_effect(const RunResult& result);

}  // namespace openmrc::sim
