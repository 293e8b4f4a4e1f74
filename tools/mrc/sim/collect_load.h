// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/sim/experiment/summary.h"

namespace openmrc::tools {

struct CollectedRuns {
  sim::Experiment experiment{};
  std::vector<std::string> remarks{};  // on files that were left out, and why
};

// The results in some folders. If there are plans of one sweep in them, its runs, wherever among
// the folders each is; otherwise all results, told apart by what differs.
Result<CollectedRuns, std::string> load_experiment(const std::vector<std::string>& folders);

}  // namespace openmrc::tools
