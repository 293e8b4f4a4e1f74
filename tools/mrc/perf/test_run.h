// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/mrc/perf/options.h"
#include "tools/mrc/perf/session.h"

namespace openmrc::tools {

// With --json - the result has standard output for itself: what else is printed there goes to
// standard error from then on.
bool keep_output_for_result();

// Runs the test and prints what came of it. Returns whether all went well.
bool run_session(PerfSession& session, const PerfOptions& options);

}  // namespace openmrc::tools
