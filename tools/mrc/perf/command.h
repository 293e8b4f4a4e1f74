// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace openmrc::tools {

// `mrc perf`: bandwidth and latency of writes between two hosts, as perftest measures them.
void add_perf_command(CLI::App& app, int& exit_code);

}  // namespace openmrc::tools
