// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace openmrc::tools {

// mrc run [OPTIONS] [--] PROGRAM ARGUMENTS...: options of the program are none of ours, so it is
// taken off the command line before that is parsed. Leaves other commands alone.
std::vector<std::string> take_program(std::vector<std::string>& words);

void add_run_command(CLI::App& app, int& exit_code, std::vector<std::string> program);

}  // namespace openmrc::tools
