// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc lab`: a network of planes on one machine, built, broken and removed. `exit_code` is set when
// the command ran: 0, or 1 if something was wrong; that of the program for `exec`.
void add_lab_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
