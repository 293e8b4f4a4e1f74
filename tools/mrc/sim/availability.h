// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// Adds `mrc sim availability`: what is to be expected of a fabric whose parts fail.
void add_availability(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
