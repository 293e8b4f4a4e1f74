// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"

// What a sweep runs and where each result is, as a file beside the results: so that whoever
// collects them knows what was varied and what is missing.
namespace openmrc::sim {

struct PlannedRun {
  std::vector<std::string> values{};  // one for each axis
  std::uint64_t seed = 0;
  std::string hash{};  // inputs_hash (origin.h) of what is run

  bool operator==(const PlannedRun&) const = default;
};

struct SweepPlan {
  std::string title{};
  std::vector<std::string> axes{};
  std::vector<PlannedRun> runs{};

  bool operator==(const SweepPlan&) const = default;
};

inline constexpr std::string_view kPlanFile = "plan.json";

// "fabric.planes=8, seed 3"
std::string name_of(const SweepPlan& plan, const PlannedRun& run);
// Of its result, in the folder of the plan. By the hash, so that a changed sweep leaves the results
// of what did not change where they are.
std::string file_of(const PlannedRun& run);

std::string write_plan_json(const SweepPlan& plan);
// The error says what is wrong with the text.
Result<SweepPlan, std::string> read_plan_json(std::string_view text);

}  // namespace openmrc::sim
