// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/scenario/scenario.h"
#include "tools/mrc/sim/files.h"

namespace openmrc::tools {

struct PreparedRun {
  sim::RunInputs inputs;
  sim::Scenario original;  // as the file has it
  sim::Scenario scenario;  // with the transport and the host's configuration of the inputs
};

// What follows from a scenario's inputs, and whether the machine can hold it.
Result<PreparedRun, std::string> prepare_run(LoadedScenario loaded);

std::string transport_of(const sim::Scenario& scenario);  // "mrc" or "rc"

std::string program_name();  // with its version
// The program that made a result; "another program" if its file does not say.
std::string maker_of(const std::string& result_path);

// The file of a result, with where it comes from.
std::string result_file(const sim::RunResult& result, const sim::RunInputs& inputs);

// The scenario's text, and below it what replaces parts of it.
std::string text_of(const sim::RunInputs& inputs);

}  // namespace openmrc::tools
