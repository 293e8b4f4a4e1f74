// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/job_records.h"

#include <gtest/gtest.h>

#include <utility>

#include "openmrc/sim/simulation.h"

namespace openmrc::sim {
namespace {

std::vector<fabric::HostIndex> one_of_each_rack(std::uint32_t first) {
  std::vector<fabric::HostIndex> hosts;
  for (std::uint32_t rack = 0; rack < 4; ++rack) hosts.emplace_back(rack * 4 + first);
  return hosts;
}

// An all-to-all on one host of each rack; half as many uplinks as hosts.
Job busy_job(std::string name, std::uint32_t first) {
  return {.name = std::move(name),
          .workload = AllToAll{.hosts = 4, .bytes = 3'000'000},
          .hosts = one_of_each_rack(first)};
}

Scenario with_jobs(JobList list) {
  Scenario scenario;
  scenario.shape = {.planes = 2, .racks = 4, .hosts_per_rack = 4, .uplinks = 1};
  MrcTransport transport;
  transport.profile.paths.evs = 16;
  scenario.transport = transport;
  scenario.time_limit = Picoseconds(50'000'000'000);
  scenario.workload = std::move(list);
  return scenario;
}

// Two jobs on different hosts have one uplink between them: each takes nearly twice as long.
TEST(JobRecords, JobsThatShareUplinksSlowEachOtherDown) {
  const RunResult alone = run(with_jobs({.jobs = {busy_job("a", 0)}}), {});
  const RunResult both = run(with_jobs({.jobs = {busy_job("a", 0), busy_job("b", 1)}}), {});
  ASSERT_EQ(alone.jobs.size(), 1U);
  ASSERT_EQ(both.jobs.size(), 2U);
  for (const JobRecord& job : both.jobs) {
    const double slowdown = number(job.end) / number(alone.jobs[0].end);
    EXPECT_GT(slowdown, 1.5) << job.name;
    EXPECT_LT(slowdown, 2.5) << job.name;
    EXPECT_EQ(job.hosts, 4U);
    EXPECT_EQ(job.messages, 12U);
    EXPECT_EQ(job.messages_done, 12U);
    EXPECT_EQ(job.bytes_done, 12'000'000U);
    ASSERT_EQ(job.steps.size(), 1U);
    EXPECT_EQ(job.steps[0].end, job.end);
  }
  EXPECT_TRUE(both.steps.empty()) << "they belong to the jobs";
  EXPECT_EQ(check_packet_accounting(both.totals), "");
}

TEST(JobRecords, DoNotDependOnThreads) {
  JobList list{.jobs = {busy_job("a", 0), busy_job("b", 1)}};
  list.jobs.push_back({.name = "noise",
                       .workload = Background{.hosts = 4,
                                              .sizes = {{.bytes = 20'000, .weight = 1}},
                                              .bits_per_second = 10'000'000'000,
                                              .peers = 2},
                       .hosts = one_of_each_rack(0)});
  const Scenario scenario = with_jobs(std::move(list));
  const RunResult one = run(scenario, {.threads = 1});
  EXPECT_EQ(one, run(scenario, {.threads = 2}));
  EXPECT_TRUE(one.jobs[2].endless);
  EXPECT_EQ(one.jobs[2].end, kNoTime);
  EXPECT_GT(one.jobs[2].messages_done, 0U);
  EXPECT_TRUE(one.finished) << "nobody waits for background traffic";
}

TEST(JobRecords, SayWhatWasNotDone) {
  JobList list{.jobs = {busy_job("a", 0)}};
  list.jobs[0].workload = TrainingSteps{
      .hosts = 4, .steps = 3, .compute = Picoseconds(400'000'000), .all_reduce_bytes = {1'000}};
  Scenario scenario = with_jobs(std::move(list));
  scenario.time_limit = Picoseconds(1'000'000'000);
  const RunResult result = run(scenario, {});
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.jobs[0].end, kNoTime);
  EXPECT_EQ(result.jobs[0].steps.size(), 2U);
}

}  // namespace
}  // namespace openmrc::sim
