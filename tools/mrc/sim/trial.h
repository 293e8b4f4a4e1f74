// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/search/fault_schedule.h"
#include "openmrc/sim/search/search_file.h"

// Runs of schedules in processes of their own.
namespace openmrc::tools {

struct TrialSettings {
  sim::RunInputs inputs{};  // of the scenario without faults
  sim::SearchFile file{};
  sim::SearchSpace space;
  std::size_t processes = 1;
};

struct TrialOutcome {
  std::vector<double> harms{};          // of each schedule; more is worse
  std::vector<std::string> failures{};  // of runs, and what was run
  bool interrupted = false;
};

TrialOutcome try_schedules(std::span<const sim::Schedule> schedules, const TrialSettings& settings);

// The figure that stands for a harm, as people read it.
std::string figure_text(double harm, const sim::SearchFile& file);
// How many times as bad the first is. 0 if that cannot be said.
double times_as_bad(double harm, double than, const sim::SearchFile& file);

}  // namespace openmrc::tools
