// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/sim/result/result.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// What each of several jobs came to, from the steps and flows of all of them. The steps then belong
// to the jobs.
void split_jobs(const JobList& list, std::uint64_t seed, RunResult& result);

}  // namespace openmrc::sim
