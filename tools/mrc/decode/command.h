// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc decode`: prints the packets of a capture, or one given as hex, the way a person reads them.
// `exit_code` is set when the command ran: 0, or 1 if something could not be read.
void add_decode_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
