// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

inline constexpr std::size_t kJobsMax = 256;

// Which job a message belongs to, by its tag.
std::uint32_t job_of(MessageTag tag);

// Jobs are told apart by the tags of their messages and by the numbers of their steps: those of the
// first job come first, then one that stands for the whole job, then those of the next one.
struct JobSteps {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // without that of the whole job, which is number first + count
};
std::vector<JobSteps> steps_of_jobs(const JobList& list);
// Why a job cannot have so many hosts; empty if it can.
std::string problem_with_host_count(std::size_t hosts);
// The fabric that a job sees: its own hosts.
fabric::Fabric own_fabric(const Job& job);
// What job number `job` draws from.
std::uint64_t seed_of_job(std::uint64_t seed, std::size_t job);
// How many hosts of a job have a program: so many end it.
std::uint32_t active_hosts(const Job& job, std::uint64_t seed);

std::string problem_with(const JobList& settings, const fabric::Fabric& fabric);
std::unique_ptr<Workload> workload_of(const JobList& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed);

}  // namespace openmrc::sim
