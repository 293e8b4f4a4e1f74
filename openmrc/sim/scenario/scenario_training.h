// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

// What a workload is read for: a fabric, or the hosts of a [[job]] as a fabric of their own. A job
// has said already which hosts it has and where they are.
struct WorkloadPlace {
  const fabric::Fabric& fabric;
  bool in_job = false;
};

// `hosts` and `placement` of a workload that is not in a job; all hosts if the file does not say.
void read_hosts_of(text::TableReader& section, const WorkloadPlace& place, std::uint32_t& hosts,
                   Placement& placement);
// How all-reduces are done.
AllReduceOptions read_all_reduce_options(text::TableReader& section);

// Workloads in which all hosts work together. All can be told how many hosts, and where they are.
WorkloadSettings read_all_to_all(text::TableReader& section, const WorkloadPlace& place);
WorkloadSettings read_all_reduce(text::TableReader& section, const WorkloadPlace& place);
WorkloadSettings read_training(text::TableReader& section, const WorkloadPlace& place);
WorkloadSettings read_ring_half(text::TableReader& section, const WorkloadPlace& place,
                                bool gather);
WorkloadSettings read_moe(text::TableReader& section, const WorkloadPlace& place);
WorkloadSettings read_pipeline(text::TableReader& section, const WorkloadPlace& place);
// `rate` is that of a host's links together.
WorkloadSettings read_background(text::TableReader& section, const WorkloadPlace& place,
                                 std::uint64_t rate);

}  // namespace openmrc::sim
