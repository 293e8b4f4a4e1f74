// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc ping`: probes every path to a host, and names the switches on it.
void add_ping_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
