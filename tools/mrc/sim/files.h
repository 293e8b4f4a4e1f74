// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/scenario.h"

// The files of `mrc sim`. Every error names its file and says what to do.
namespace openmrc::tools {

// What would keep us from writing the file; empty if nothing is known to. A run is long, so this is
// asked before it.
std::string problem_with_output(const std::string& path);

// What went wrong; empty if all is written.
std::string write_text(const std::string& path, const std::string& text);

struct LoadedScenario {
  sim::Scenario scenario;
  std::string text;  // of the file, and behind it the settings that replace parts of it
};

// Files that the scenario names are looked for beside it.
Result<LoadedScenario, std::string> load_scenario(const std::string& path,
                                                  const sim::ScenarioOverrides& overrides = {});

Result<sim::RunResult, std::string> load_result(const std::string& path);

}  // namespace openmrc::tools
