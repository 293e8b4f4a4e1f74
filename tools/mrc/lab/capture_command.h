// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc lab capture`: what crosses a link, as a file for Wireshark and mrc decode.
void add_capture_command(CLI::App& parent, int& exit_code);

}  // namespace openmrc::tools
