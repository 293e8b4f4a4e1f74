// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// The verbs of `mrc lab` that break and repair: cut, heal, flap, chaos.
void add_fault_commands(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
