// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc lab demo`: a lab, traffic, a plane cut and healed, what that cost, and nothing left behind.
void add_demo_command(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
