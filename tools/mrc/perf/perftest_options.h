// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/mrc/perf/plan.h"

namespace openmrc::tools {

// Adds the options of perftest that have no meaning here, hidden from the help. Those that are
// given are noted in `ignored`, by the name that perftest's help begins with.
void add_ignored_perftest_options(CLI::App& command, PerfTest test,
                                  std::vector<std::string>& ignored);

}  // namespace openmrc::tools
