// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_jobs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/sim/scenario/test_scenario.h"

namespace openmrc::sim {
namespace {

// 4 racks of 8 hosts.
std::string with_jobs(std::string_view jobs) { return std::string(kFabric) + std::string(jobs); }

std::vector<Job> jobs_of(std::string_view jobs) {
  const Scenario scenario = scenario_of(with_jobs(jobs));
  const auto* list = std::get_if<JobList>(&scenario.workload);
  EXPECT_NE(list, nullptr);
  return list == nullptr ? std::vector<Job>{} : list->jobs;
}

std::vector<std::uint32_t> numbers(const Job& job) {
  std::vector<std::uint32_t> result;
  for (const fabric::HostIndex host : job.hosts) result.push_back(host.raw());
  return result;
}

TEST(ScenarioJobs, HaveNamesHostsAndTimes) {
  const auto jobs = jobs_of(R"(
[[job]]
name = "first"
kind = "all-reduce"
hosts = 3
bytes = "1 MiB"
[[job]]
kind = "all-to-all"
hosts = 2
bytes = 1000
at = "5 us"
)");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].name, "first");
  EXPECT_EQ(numbers(jobs[0]), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(std::get<AllReduce>(jobs[0].workload).hosts, 3U);
  EXPECT_EQ(jobs[1].name, "job 1");
  EXPECT_EQ(numbers(jobs[1]), (std::vector<std::uint32_t>{3, 4})) << "the first has the others";
  EXPECT_EQ(jobs[1].at, Picoseconds(5'000'000));
}

TEST(ScenarioJobs, ArePackedSpreadOrDrawn) {
  const auto place = [](std::string_view rest) {
    return numbers(
        jobs_of("[[job]]\nkind = \"all-reduce\"\nbytes = 1000\nhosts = 6\n" + std::string(rest))
            .at(0));
  };
  EXPECT_EQ(place("placement = \"packed\""), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(place("placement = \"spread\""), (std::vector<std::uint32_t>{0, 8, 16, 24, 1, 9}));
  const auto drawn = place("placement = \"random\"");
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 6U);
  EXPECT_EQ(place("placement = \"random\""), drawn) << "by the seed";
  const auto jobs = jobs_of(
      "[[job]]\nkind = \"all-reduce\"\nbytes = 1000\nhosts = [\"h9\", 3]\n"
      "[[job]]\nkind = \"all-reduce\"\nbytes = 1000\nhosts = [3, 4]\nshared_hosts = true\n");
  EXPECT_EQ(numbers(jobs.at(0)), (std::vector<std::uint32_t>{9, 3}));
  EXPECT_EQ(numbers(jobs.at(1)), (std::vector<std::uint32_t>{3, 4}));
}

TEST(ScenarioJobs, ComeAgainAndCanBeLeftOut) {
  constexpr std::string_view kTwo =
      "[[job]]\nname = \"a\"\nkind = \"all-reduce\"\nbytes = 1000\nhosts = 4\nenabled = false\n"
      "[[job]]\nname = \"b\"\nkind = \"all-reduce\"\nbytes = 1000\nhosts = 4\n"
      "at = \"1 us\"\nrepeat = 3\nevery = \"1 ms\"\n";
  const auto jobs = jobs_of(kTwo);
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2].name, "b #3");
  EXPECT_EQ(jobs[2].at, Picoseconds(2'001'000'000));
  EXPECT_EQ(numbers(jobs[2]).front(), 4U) << "where it is beside the other";
}

TEST(ScenarioJobs, TakeWhatWorkloadsTake) {
  const auto jobs = jobs_of(R"(
[[job]]
kind = "training"
hosts = 8
steps = 2
compute = "10 us"
all_reduce_bytes = ["1 MiB", "2 MiB"]
overlap = true
algorithm = "hierarchical"
group = 4
group_gbps = 900
chunk = "64 KiB"
[[job]]
kind = "pipeline"
hosts = 8
stages = 4
micro_batches = 6
bytes = "1 MiB"
forward = "10 us"
backward = "20 us"
[[job]]
kind = "moe"
hosts = 4
bytes = "1 MiB"
skew = "25 %"
[[job]]
kind = "reduce-scatter"
hosts = 4
bytes = "1 MiB"
[[job]]
kind = "background"
hosts = 4
load = "25 %"
sizes = [{ bytes = 100, share = 0.5 }, { bytes = 200, share = 0.5 }]
for = "1 ms"
)");
  ASSERT_EQ(jobs.size(), 5U);
  const auto& training = std::get<OverlappedTraining>(jobs[0].workload);
  EXPECT_TRUE(training.overlap);
  EXPECT_EQ(training.options.kind, AllReduceKind::kHierarchical);
  EXPECT_EQ(training.options.group_bits_per_second, 900'000'000'000U);
  EXPECT_EQ(training.options.chunk, 65'536U);
  EXPECT_EQ(std::get<Pipeline>(jobs[1].workload).backward, Picoseconds(20'000'000));
  EXPECT_EQ(std::get<MixtureOfExperts>(jobs[2].workload).skew_billionths, 250'000'000U);
  EXPECT_FALSE(std::get<RingHalf>(jobs[3].workload).gather);
  const auto& background = std::get<Background>(jobs[4].workload);
  EXPECT_EQ(background.bits_per_second, 100'000'000'000U) << "a quarter of 4 x 100 Gb/s";
  EXPECT_EQ(background.sizes.size(), 2U);
}

TEST(ScenarioJobs, APlainRingStaysWhatItWas) {
  const Scenario scenario = scenario_of(std::string(kFabric) +
                                        "[workload]\nkind = \"training\"\nsteps = 1\n"
                                        "all_reduce_bytes = 1000\nalgorithm = \"ring\"\n");
  EXPECT_TRUE(std::holds_alternative<TrainingSteps>(scenario.workload));
}

TEST(ScenarioJobs, SayWhatIsWrong) {
  const auto error = [](std::string_view jobs) { return error_of(with_jobs(jobs)); };
  constexpr std::string_view kReduce = "[[job]]\nkind = \"all-reduce\"\nbytes = 1000\n";
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error(std::string(kReduce) + std::string(kReduce)),
                  "0 hosts are left by the jobs above; shared_hosts = true"));
  EXPECT_TRUE(has(
      error(std::string(kReduce) + "hosts = [1, 2]\n" + std::string(kReduce) + "hosts = [2, 3]\n"),
      "h2 belongs to a job above"));
  EXPECT_TRUE(has(error(std::string(kReduce) + "enabled = false\n"), "no job is enabled"));
  EXPECT_TRUE(has(error(std::string(kReduce) + "repeat = 2\n"), "every"));
  EXPECT_TRUE(has(error(std::string(kReduce) + "hosts = 1\n"), "needs two hosts"));
  EXPECT_TRUE(has(error(std::string(kReduce) + "group = 4\n"), "needs algorithm"));
  EXPECT_TRUE(
      has(error(std::string(kReduce) + std::string(kWorkload)), "one of [workload] and [[job]]"));
  constexpr std::string_view kBackground =
      "[[job]]\nkind = \"background\"\nload = \"1 %\"\nbytes = 100\nshared_hosts = true\n";
  EXPECT_TRUE(has(error(kBackground), "needs 'for', so that the run ends"));
  EXPECT_TRUE(has(error(std::string(kReduce) + std::string(kBackground)), "needs a time_limit"));
  EXPECT_EQ(error_of("time_limit = \"1 ms\"\n" +
                     with_jobs(std::string(kReduce) + std::string(kBackground))),
            "");
}

}  // namespace
}  // namespace openmrc::sim
