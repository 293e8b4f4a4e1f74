// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc map`: bad links, from the pages of agents.
void add_map_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
