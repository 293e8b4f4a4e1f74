// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// Adds `mrc sim search`.
void add_search(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
