// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// mrc doctor: whether this machine is as its configuration needs it, and what to do if not.
void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
