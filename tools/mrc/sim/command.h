// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc sim`: runs scenarios of whole fabrics, compares their results and lists what there is to
// run. `exit_code` is set when the command ran: 0, 1 if a run did not finish, or 2 if nothing was
// run.
void add_sim_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
