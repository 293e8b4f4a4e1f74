// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc top`: what a host's planes, paths and processes do now.
void add_top_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
