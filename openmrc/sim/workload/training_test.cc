// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/training.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

using enum AllReduceKind;

constexpr Picoseconds kCompute{5'000'000};

TrainingSteps job(AllReduceKind kind, std::uint32_t hosts) {
  return {.hosts = hosts,
          .steps = 3,
          .compute = kCompute,
          .all_reduce_bytes = {100'003, 64, 7'777},
          .kind = kind};
}

// The marks of each host, in order.
std::map<std::uint32_t, std::vector<StepMark>> marks_by_host(const IdealNetwork& network) {
  std::map<std::uint32_t, std::vector<StepMark>> result;
  for (const auto& [host, mark] : network.marks()) result[host].push_back(mark);
  return result;
}

// Delays are random: neighbours get ahead of each other, by rounds and by collectives.
TEST(Training, RunsToItsEndWhateverTheDelays) {
  const fabric::Fabric fabric = plain_fabric(4, 4);
  for (const AllReduceKind kind : {kRing, kHalvingDoubling}) {
    for (const Placement placement : {Placement::kPacked, Placement::kSpread}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        TrainingSteps settings = job(kind, 8);
        settings.placement = placement;
        IdealNetwork network(*make_workload(settings, fabric, 1), fabric.hosts(), seed);
        network.run();
        EXPECT_TRUE(network.all_done());
        EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
        const std::size_t rounds = kind == kRing ? 14 : 6;
        EXPECT_EQ(network.messages().size(), 3 * 3 * 8 * rounds);
        std::uint64_t bytes = 0;
        for (const auto& message : network.messages()) bytes += message.bytes;
        EXPECT_EQ(bytes, 3U * 2 * 7 * (100'003 + 64 + 7'777));
      }
    }
  }
}

TEST(Training, MarksEachStepOfEachHost) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  IdealNetwork network(*make_workload(job(kRing, 8), fabric, 1), fabric.hosts(), 1);
  network.run();
  const auto marks = marks_by_host(network);
  EXPECT_EQ(marks.size(), 8U);
  for (const auto& [host, steps] : marks) {
    ASSERT_EQ(steps.size(), 3U);
    Picoseconds before{};
    for (std::uint32_t step = 0; step < 3; ++step) {
      EXPECT_EQ(steps[step].step, step);
      EXPECT_EQ(steps[step].begin, before);
      EXPECT_GT(steps[step].end, before + kCompute);
      before = steps[step].end;
    }
  }
}

TEST(Training, SendsNothingWhileItComputes) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  IdealNetwork network(*make_workload(job(kHalvingDoubling, 8), fabric, 1), fabric.hosts(), 1);
  network.run();
  const auto marks = marks_by_host(network);
  for (const auto& message : network.messages()) {
    for (const StepMark& step : marks.at(message.from)) {
      EXPECT_FALSE(message.sent >= step.begin && message.sent < step.begin + kCompute);
    }
  }
}

// The next round waits for the round before, and for no acknowledgement of one's own.
TEST(Training, RingPassesOnWhatHasCome) {
  const fabric::Fabric fabric = plain_fabric(1, 4);
  IdealNetwork network(
      *make_workload(AllReduce{.hosts = 4, .bytes = 4'000, .kind = kRing}, fabric, 1), 4, 3);
  network.run();
  std::map<std::pair<std::uint32_t, MessageTag>, IdealNetwork::Message> by_sender_and_round;
  for (const auto& message : network.messages()) {
    by_sender_and_round[{message.from, message.tag}] = message;
  }
  ASSERT_EQ(by_sender_and_round.size(), 4U * 6);
  bool overtook_acknowledgement = false;
  for (const auto& [key, message] : by_sender_and_round) {
    const auto [from, tag] = key;
    EXPECT_EQ(message.bytes, 1'000U);
    if (tag == 0) continue;
    EXPECT_EQ(message.sent, std::max(by_sender_and_round.at({(from + 3) % 4, tag - 1}).arrived,
                                     by_sender_and_round.at({from, tag - 1}).sent));
    overtook_acknowledgement |= message.sent < by_sender_and_round.at({from, tag - 1}).acknowledged;
  }
  EXPECT_TRUE(overtook_acknowledgement);
}

TEST(Training, AllReduceAloneIsOneStep) {
  const fabric::Fabric fabric = plain_fabric(1, 4);
  IdealNetwork network(
      *make_workload(AllReduce{.hosts = 4, .bytes = 64, .kind = kHalvingDoubling}, fabric, 1), 4,
      1);
  network.run();
  EXPECT_TRUE(network.all_done());
  EXPECT_EQ(network.marks().size(), 4U);
  for (const auto& [host, mark] : network.marks()) {
    EXPECT_EQ(mark.begin, Picoseconds{});
    EXPECT_EQ(mark.step, 0U);
  }
}

TEST(Training, HostsOutsideTheJobDoNothing) {
  const fabric::Fabric fabric = plain_fabric(4, 4);
  const AllReduce settings{.hosts = 6, .bytes = 64, .kind = kRing, .placement = Placement::kSpread};
  const auto workload = make_workload(settings, fabric, 1);
  std::vector<std::uint32_t> in_job;
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    const fabric::HostIndex index(host);
    EXPECT_EQ(workload->program(index) == nullptr, workload->destinations(index).empty());
    if (workload->program(index) != nullptr) in_job.push_back(host);
  }
  // Rank 4 is the second host of rack 0, rank 5 that of rack 1.
  EXPECT_EQ(in_job, (std::vector<std::uint32_t>{0, 1, 4, 5, 8, 12}));
  EXPECT_EQ(workload->destinations(fabric::HostIndex(12)),
            std::vector<fabric::HostIndex>{fabric::HostIndex(1)});
}

TEST(Training, IsCheckedAgainstTheFabric) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  EXPECT_EQ(check_workload(job(kRing, 8), fabric), "");
  EXPECT_EQ(check_workload(job(kRing, 9), fabric), "9 hosts are asked for, and the fabric has 8");
  EXPECT_EQ(check_workload(job(kRing, 1), fabric), "an all-reduce needs two hosts");
  EXPECT_EQ(check_workload(job(kHalvingDoubling, 6), fabric),
            "halving and doubling needs a power of two of hosts, not 6");
  EXPECT_EQ(check_workload(AllReduce{.hosts = 8, .bytes = 7}, fabric),
            "a vector needs a byte for each host");
  EXPECT_EQ(check_workload(AllReduce{.hosts = 8, .bytes = std::uint64_t{1} << 41}, fabric),
            "a vector has at most 1 TiB");
  TrainingSteps settings = job(kRing, 8);
  settings.steps = 0;
  EXPECT_EQ(check_workload(settings, fabric), "a job needs a step");
  settings.steps = 0xffff'ffff;
  EXPECT_EQ(check_workload(settings, fabric),
            "the job has more rounds than messages can be numbered");
  settings = job(kRing, 8);
  settings.all_reduce_bytes.clear();
  EXPECT_EQ(check_workload(settings, fabric), "a step needs an all-reduce");
  settings = job(kRing, 8);
  settings.compute = Picoseconds(-1);
  EXPECT_EQ(check_workload(settings, fabric), "a job cannot compute for less than no time");
}

}  // namespace
}  // namespace openmrc::sim
