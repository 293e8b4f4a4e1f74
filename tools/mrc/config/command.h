// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc config init`: an openmrc.toml for this machine. `exit_code` is set when the command ran.
void add_config_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
