// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc fabric`: what a fabric takes, where its paths go, what it looks like, and whether its
// addresses hold. `exit_code` is set when the command ran: 0, or 1 if something was wrong.
void add_fabric_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
