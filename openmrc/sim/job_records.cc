// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/job_records.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/job_list.h"
#include "openmrc/sim/workload/trace_replay.h"

namespace openmrc::sim {
namespace {

// Steps are marked in order, so that the first one that some host has not done is the end.
void take_job_steps(const std::vector<StepRecord>& all, const JobSteps& numbers,
                    std::uint32_t hosts, JobRecord& job) {
  for (std::uint32_t i = 0; i < numbers.count; ++i) {
    const std::size_t step = numbers.first + i;
    if (step >= all.size() || all[step].hosts < hosts) break;
    job.steps.push_back(all[step]);
  }
  const std::size_t whole = numbers.first + numbers.count;
  if (whole < all.size() && all[whole].hosts == hosts) job.end = all[whole].end;
}

void count_flow(const FlowRecord& flow, JobRecord& job, std::vector<Picoseconds>& times) {
  ++job.messages;
  if (flow.failed || flow.end == kNoTime) return;
  ++job.messages_done;
  job.bytes_done += flow.bytes;
  times.push_back(flow.end - flow.start);
}

void take_completion(std::vector<Picoseconds>& times, JobRecord& job) {
  if (times.empty()) return;
  std::ranges::sort(times);
  job.completion_median = percentile(times, 500);
  job.completion_p99 = percentile(times, 990);
  job.completion_max = times.back();
}

bool lasts_as_long_as_the_run(const Job& job) {
  const auto* background = std::get_if<Background>(&job.workload);
  return background != nullptr && background->duration == Picoseconds{};
}

void take_trace_time(const Job& job, JobRecord& record) {
  const auto* trace = std::get_if<TraceReplay>(&job.workload);
  if (trace == nullptr) return;
  const TraceTime own = own_time(*trace->job);
  record.trace_step = own.time;
  record.trace_recorded = own.recorded;
}

}  // namespace

void split_jobs(const JobList& list, std::uint64_t seed, RunResult& result) {
  const std::vector<JobSteps> numbers = steps_of_jobs(list);
  std::vector<std::vector<Picoseconds>> times(list.jobs.size());
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Job& job = list.jobs[i];
    JobRecord& record = result.jobs.emplace_back();
    record = {.name = job.name,
              .hosts = static_cast<std::uint32_t>(job.hosts.size()),
              .begin = job.at,
              .endless = lasts_as_long_as_the_run(job)};
    take_job_steps(result.steps, numbers[i], active_hosts(job, seed_of_job(seed, i)), record);
    if (record.endless) record.end = kNoTime;
    take_trace_time(job, record);
  }
  for (const FlowRecord& flow : result.flows) {
    const std::uint32_t job = job_of(flow.tag);
    count_flow(flow, result.jobs[job], times[job]);
  }
  for (std::size_t i = 0; i < result.jobs.size(); ++i) take_completion(times[i], result.jobs[i]);
  result.steps.clear();
}

}  // namespace openmrc::sim
