// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

inline constexpr std::uint32_t kJobRepeatsMax = 256;

// Reads all [[job]] of the file. Without errors they fit the fabric. Of a disabled job only the
// hosts remain: the others are where they would be beside it.
JobList read_jobs(text::TableReader& file, const fabric::Fabric& fabric, std::uint64_t seed,
                  const ReadFile& read_file);
// Where there is no fabric: only what they are.
void read_job_kinds(text::TableReader& file);

// Which workload would never end, for people; empty if none. `limited`: the run has a time limit.
std::string problem_with_end(const WorkloadSettings& workload, bool limited);

}  // namespace openmrc::sim
