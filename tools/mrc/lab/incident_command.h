// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc lab incident`: what happened in a lab, as a scenario for `mrc sim run`.
void add_incident_command(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
