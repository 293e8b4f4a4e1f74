// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// Every host goes through the steps on its own; only the messages that it waits for hold it back.
// The tag of a message is the number of its round, counted over the whole job.
std::string problem_with(const TrainingSteps& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const TrainingSteps& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

// One all-reduce is a job of one step that computes nothing.
std::string problem_with(const AllReduce& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const AllReduce& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
