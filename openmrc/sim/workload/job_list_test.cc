// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/job_list.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <vector>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

std::vector<fabric::HostIndex> host_list(std::initializer_list<std::uint32_t> numbers) {
  std::vector<fabric::HostIndex> result;
  for (const std::uint32_t number : numbers) result.emplace_back(number);
  return result;
}

constexpr Picoseconds kLater{50'000'000};

// Two jobs that share two hosts, and one of messages.
JobList three_jobs() {
  return {.jobs = {{.name = "a",
                    .workload = TrainingSteps{.hosts = 4, .steps = 3, .all_reduce_bytes = {64}},
                    .hosts = host_list({0, 2, 4, 6})},
                   {.name = "b",
                    .workload = AllReduce{.hosts = 3, .bytes = 300},
                    .hosts = host_list({6, 4, 1}),
                    .at = kLater},
                   {.name = "c",
                    .workload = FlowList{{{.from = 1, .to = 0, .bytes = 77}}},
                    .hosts = host_list({5, 7})}}};
}

IdealNetwork run_jobs(const JobList& list) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  EXPECT_EQ(check_workload(list, fabric), "");
  IdealNetwork network(*make_workload(list, fabric, 1), 8, 1);
  network.run();
  EXPECT_TRUE(network.all_done());
  EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
  return network;
}

TEST(JobList, EachJobHasItsHostsAndItsMessages) {
  const auto network = run_jobs(three_jobs());
  std::array<std::uint64_t, 3> bytes{};
  for (const auto& message : network.messages()) {
    const std::uint32_t job = job_of(message.tag);
    ASSERT_LT(job, 3U);
    bytes[job] += message.bytes;
    if (job == 1) {
      EXPECT_GE(message.sent, kLater);
      EXPECT_TRUE(message.from == 6 || message.from == 4 || message.from == 1);
    }
    if (job == 2) {
      EXPECT_EQ(std::pair(message.from, message.to), std::pair(7U, 5U));
    }
  }
  EXPECT_EQ(bytes, (std::array<std::uint64_t, 3>{3 * 2 * 64 * 3, 2 * 300 * 2, 77}));
}

TEST(JobList, StepsAreNumberedJobByJob) {
  const JobList list = three_jobs();
  const auto steps = steps_of_jobs(list);
  EXPECT_EQ(steps[0].count, 3U);
  EXPECT_EQ(steps[1].first, 4U) << "three steps, and the whole job";
  EXPECT_EQ(steps[2].first, 6U);
  std::map<std::uint32_t, std::uint32_t> marks;
  const auto network = run_jobs(list);
  for (const auto& [host, mark] : network.marks()) {
    ++marks[mark.step];
    if (mark.step == 5) {
      EXPECT_EQ(mark.begin, kLater);
    }
  }
  EXPECT_EQ(marks, (std::map<std::uint32_t, std::uint32_t>{
                       {0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 3}, {5, 3}, {6, 1}}));
  EXPECT_EQ(active_hosts(list.jobs[2], 1), 1U);
}

// A job does not see the others: alone it does the same.
TEST(JobList, AJobAloneDoesTheSame) {
  JobList alone;
  alone.jobs.push_back(three_jobs().jobs[1]);
  const auto network = run_jobs(alone);
  for (const auto& message : network.messages()) EXPECT_EQ(job_of(message.tag), 0U);
  EXPECT_EQ(network.messages().size(), 12U);
}

TEST(JobList, IsChecked) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  const auto problem = [&](auto&& change) {
    JobList list = three_jobs();
    change(list);
    return check_workload(list, fabric);
  };
  EXPECT_EQ(problem([](JobList& list) { list.jobs.clear(); }), "there are no jobs");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[2].name = "a"; }), "two jobs are called a");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[0].hosts = host_list({0, 2, 4, 8}); }),
            "job a: is on host 8, and there is none");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[0].hosts = host_list({0, 2, 4, 4}); }),
            "job a: has host 4 twice");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[0].hosts = host_list({0, 2}); }),
            "job a: 4 hosts are asked for, and the fabric has 2");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[1].workload = JobList{}; }),
            "job b: a job is not a list of jobs");
  EXPECT_EQ(problem([](JobList& list) { list.jobs[1].at = Picoseconds(-1); }),
            "job b: begins before time 0");
}

TEST(JobList, MakesRacksOfManyHosts) {
  EXPECT_EQ(problem_with_host_count(512), "");
  EXPECT_EQ(problem_with_host_count(1024), "");
  EXPECT_NE(problem_with_host_count(1031), "") << "a prime above what a rack has is 1031 racks";
}

}  // namespace
}  // namespace openmrc::sim
