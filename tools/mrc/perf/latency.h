// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "tools/mrc/perf/session.h"

namespace openmrc::tools {

struct LatencyResult {
  std::vector<std::int64_t> half_round_trips;  // ns, in order of time
  Duration time{};
};

// One small write there, one back, each with an immediate so that it counts only when it is
// complete. Half the time from post to post is the latency. `is_first`: of this session.
Result<LatencyResult, host::Error> run_latency(PerfSession& session, bool is_first);

}  // namespace openmrc::tools
