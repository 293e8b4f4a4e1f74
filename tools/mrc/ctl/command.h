// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc ctl`: ports, profiles and EVs of this node's device, as its agent mrcd holds them.
void add_ctl_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
