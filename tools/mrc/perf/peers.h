// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/mrc/perf/options.h"

namespace openmrc::tools {

// Both sides of a test; they return the program's exit status.
int run_client(const PerfOptions& options);
int run_server(const PerfOptions& options);

}  // namespace openmrc::tools
