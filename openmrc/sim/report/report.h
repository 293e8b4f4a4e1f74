// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/result/result.h"

namespace openmrc::sim {

// What a report shows besides the result. Each may be empty.
struct ReportExtras {
  std::string scenario_text{};  // what the scenario says to look at
  std::string scenario_file{};  // its whole text
  std::string run_note{};       // how it was run
};

// A page for people, complete in one file: it loads nothing, and needs no script. The same result
// gives the same page. A second result, such as the same scenario with another transport, is shown
// beside the first.
std::string html_report(const RunResult& result, const ReportExtras& extras = {},
                        const RunResult* baseline = nullptr);

}  // namespace openmrc::sim
