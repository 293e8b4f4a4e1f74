// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/sim/experiment/sweep_file.h"
#include "openmrc/sim/experiment/sweep_plan.h"
#include "openmrc/sim/result/origin.h"

namespace openmrc::tools {

// A sweep whose every combination was found to be right.
struct LoadedSweep {
  struct Variant {
    sim::RunInputs inputs{};  // but for the seed
    double work = 0;          // of one run, in hops
  };

  sim::SweepPlan plan{};
  std::vector<Variant> variants{};
  std::size_t seeds = 0;  // the runs of a variant follow each other in the plan

  [[nodiscard]] const Variant& variant_of(std::size_t run) const { return variants[run / seeds]; }
  [[nodiscard]] sim::RunInputs inputs_of(std::size_t run) const;
};

// All runs of a sweep, with the path of its scenario as seen from here. The error says which
// combination is wrong and why.
Result<LoadedSweep, std::string> plan_sweep(const sim::SweepFile& sweep,
                                            const std::string& scenario);

// The error names the file, or the combination that is wrong and why.
Result<LoadedSweep, std::string> load_sweep(const std::string& path);

}  // namespace openmrc::tools
