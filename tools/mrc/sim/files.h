// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/scenario.h"

// The files of `mrc sim`. Every error names its file and says what to do.
namespace openmrc::tools {

// What would keep us from writing the file; empty if nothing is known to. A run is long, so this is
// asked before it.
std::string problem_with_output(const std::string& path);

// What went wrong; empty if all is written.
std::string write_text(const std::string& path, const std::string& text);

// The same, so that whoever looks sees the whole file or none.
std::string write_whole(const std::string& path, const std::string& text);

struct LoadedScenario {
  sim::Scenario scenario;  // as its file and its settings say
  sim::RunInputs inputs;   // a transport and a host's configuration are not in the scenario yet
};

// Of a scenario's file, or of what a result (*.json) was made from. Files that the scenario names
// are looked for beside it.
Result<LoadedScenario, std::string> load_scenario(const std::string& path,
                                                  const sim::ScenarioOverrides& overrides = {});

// Of inputs that were loaded: reads no file.
Result<sim::Scenario, std::string> parse_inputs(const sim::RunInputs& inputs);

bool is_result_file(const std::string& path);  // by its name

Result<sim::RunResult, std::string> load_result(const std::string& path);

}  // namespace openmrc::tools
