// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// mrc fabric verify
void add_verify_command(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
