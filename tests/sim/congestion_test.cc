// SPDX-License-Identifier: BSD-3-Clause
// Published results of MRC and RoCEv2 under load, loss and incast: docs/reproductions.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tests/sim/scenario_run.h"

namespace openmrc::sim {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

double gbps(std::uint64_t bytes, Picoseconds time) {
  return static_cast<double>(bytes) * 8'000 / static_cast<double>(time.raw());
}

MrcTransport& mrc(Scenario& scenario) { return std::get<MrcTransport>(scenario.transport); }
RcTransport& rc(Scenario& scenario) { return std::get<RcTransport>(scenario.transport); }

// Of every host link, towards the host.
void set_loss(Scenario& scenario, double share) {
  for (LinkFault& fault : scenario.faults) {
    fault.loss_per_billion = static_cast<std::uint32_t>(share * 1e9);
  }
  if (share == 0) scenario.faults.clear();
}

// ---- figures 16 and 17: collectives of 64 hosts ----

// What each host sends, by the time that all take: for an all-reduce what others call bus
// bandwidth. A run that breaks a queue pair or has no end has none.
double bus_bandwidth(const Scenario& scenario) {
  const RunResult result = run(scenario, {});
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  if (!result.finished || result.totals.messages_failed > 0) return 0;
  return gbps(result.totals.message_bytes_posted / result.hosts, result.end);
}

double all_reduce(const std::string& name, std::uint64_t bytes, double loss) {
  Scenario scenario = example(name);
  std::get<AllReduce>(scenario.workload).bytes = bytes;
  set_loss(scenario, loss);
  return bus_bandwidth(scenario);
}

// `timeout` as NICs have it: 4.096 us x 2^timeout.
double all_reduce_rc(std::uint32_t queue_pairs, std::uint64_t bytes, double loss,
                     unsigned timeout) {
  Scenario scenario = example("all-reduce-with-loss-rc");
  std::get<AllReduce>(scenario.workload).bytes = bytes;
  set_loss(scenario, loss);
  rc(scenario).queue_pairs = queue_pairs;
  rc(scenario).timeout = Picoseconds(std::int64_t{4'096'000} << timeout);
  return bus_bandwidth(scenario);
}

constexpr unsigned kTimeout1ms = 8;
constexpr unsigned kTimeout67ms = 14;

// Figure 16: 1 MRC queue pair above 16 of RoCE, 1 of RoCE about half.
TEST(PublishedCongestion, InAnAllReduceOneQueuePairBeatsSixteenOfRoce) {
  const double one_mrc = all_reduce("all-reduce-with-loss", 32 * kMiB, 0);
  const double one = all_reduce_rc(1, 32 * kMiB, 0, kTimeout1ms);
  const double sixteen = all_reduce_rc(16, 32 * kMiB, 0, kTimeout1ms);
  EXPECT_GT(one_mrc, 250);
  EXPECT_GT(one_mrc, 1.2 * sixteen);
  EXPECT_GT(sixteen, 1.4 * one);
  EXPECT_LT(one, 0.5 * one_mrc);
}

// Figure 16: MRC feels 0.1 % little with large messages, and 1 % much. Here it keeps half and more.
TEST(PublishedCongestion, AnAllReduceHardlyFeelsALossInAThousand) {
  const double whole = all_reduce("all-reduce-with-loss", 32 * kMiB, 0);
  EXPECT_GT(all_reduce("all-reduce-with-loss", 32 * kMiB, 0.001), 0.9 * whole);
  const double at_one_percent = all_reduce("all-reduce-with-loss", 32 * kMiB, 0.01);
  EXPECT_GT(at_one_percent, 0.6 * whole);
  EXPECT_LT(at_one_percent, 0.85 * whole);
}

// Figure 16: the smaller the messages, the more a loss costs.
TEST(PublishedCongestion, AShortAllReduceFeelsLossMore) {
  const double whole = all_reduce("all-reduce-with-loss", 8 * kMiB, 0);
  EXPECT_LT(all_reduce("all-reduce-with-loss", 8 * kMiB, 0.001), 0.95 * whole);
  const double at_one_percent = all_reduce("all-reduce-with-loss", 8 * kMiB, 0.01);
  EXPECT_GT(at_one_percent, 0.4 * whole);
  EXPECT_LT(at_one_percent, 0.65 * whole);
}

// Figure 16: RoCE collapses at 0.1 % and is unusable at 1 %. At 0.1 % it is a matter of the
// timeout, as hardly any loss but that of a packet retransmitted needs one.
TEST(PublishedCongestion, AnAllReduceOfRoceBreaksDownWithLoss) {
  const double whole = all_reduce_rc(16, 32 * kMiB, 0, kTimeout1ms);
  EXPECT_LT(all_reduce_rc(16, 32 * kMiB, 0.001, kTimeout67ms), 0.1 * whole);
  EXPECT_LT(all_reduce_rc(16, 32 * kMiB, 0.001, kTimeout1ms), 0.9 * whole);
  EXPECT_LT(all_reduce_rc(16, 32 * kMiB, 0.01, kTimeout1ms), 0.2 * whole);
  EXPECT_LT(all_reduce_rc(1, 32 * kMiB, 0.01, kTimeout1ms), 0.2 * whole);
}

double all_to_all(const std::string& name, std::uint64_t bytes, double loss,
                  std::uint64_t seed = 1) {
  Scenario scenario = example(name);
  std::get<AllToAll>(scenario.workload).bytes = bytes;
  scenario.seed = seed;
  set_loss(scenario, loss);
  return bus_bandwidth(scenario);
}

// The mean of some seeds: between two of them are up to 5 %, and one packet whose retransmission is
// lost too delays a short all-to-all by a third.
double mean_all_to_all(std::uint64_t bytes, double loss, std::uint64_t seeds) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sum += all_to_all("all-to-all-with-loss", bytes, loss, seed);
  }
  return sum / static_cast<double>(seeds);
}

// Figure 17: MRC ahead at all sizes, and loss costs it little. Not ahead of 16 queue pairs of RoCE
// here: docs/reproductions.md.
TEST(PublishedCongestion, AnAllToAllIsFasterThanOnOneQueuePairOfRoce) {
  for (const std::uint64_t bytes : {4 * kMiB, 32 * kMiB}) {
    const double whole = mean_all_to_all(bytes, 0, 3);
    EXPECT_GT(whole, all_to_all("all-to-all-with-loss-rc", bytes, 0)) << bytes;
    EXPECT_GT(whole, bytes == 4 * kMiB ? 290 : 345);
    EXPECT_GT(all_to_all("all-to-all-with-loss", bytes, 0.001),
              (bytes == 4 * kMiB ? 0.75 : 0.95) * whole);
  }
  EXPECT_GT(mean_all_to_all(4 * kMiB, 0.01, 6),
            0.6 * all_to_all("all-to-all-with-loss", 4 * kMiB, 0));
  EXPECT_GT(all_to_all("all-to-all-with-loss", 32 * kMiB, 0.01),
            0.85 * all_to_all("all-to-all-with-loss", 32 * kMiB, 0));
}

// Figure 17: RoCE hardly feels 0.1 % at large sizes, and much at small ones.
TEST(PublishedCongestion, AnAllToAllOfRoceFeelsLossIfItIsShort) {
  const char* const name = "all-to-all-with-loss-rc";
  EXPECT_LT(all_to_all(name, 4 * kMiB, 0.001), 0.2 * all_to_all(name, 4 * kMiB, 0));
  EXPECT_GT(all_to_all(name, 64 * kMiB, 0.001), 0.9 * all_to_all(name, 64 * kMiB, 0));
}

// ---- figures 18, 20 and 21: flows that do not end ----

// By the messages that ended in the span.
double rate(const RunResult& result, std::uint32_t from, std::uint32_t to, const Span& span) {
  std::uint64_t bytes = 0;
  for (const FlowRecord& flow : result.flows) {
    const bool ended = flow.end != kNoTime && flow.end >= span.from && flow.end < span.to;
    if (flow.from == from && flow.to == to && ended) bytes += flow.bytes;
  }
  return gbps(bytes, span.to - span.from);
}

constexpr Picoseconds ms(std::int64_t n) { return us(1'000 * n); }

double victim_rate(const RunResult& result, const Span& span) { return rate(result, 13, 1, span); }

void expect_no_harm(std::uint32_t queue_pairs) {
  SCOPED_TRACE(testing::Message() << queue_pairs << " queue pairs");
  Scenario scenario = example("incast-with-victim");
  mrc(scenario).queue_pairs = queue_pairs;
  const RunResult result = run_whole(scenario);
  constexpr double kAlone = 384;  // 400 Gb/s less headers
  for (int i = 0; i < 20; ++i) {
    EXPECT_GT(victim_rate(result, {ms(i), ms(i + 1)}), 0.95 * kAlone) << i;
  }
  double all = 0;
  for (const std::uint32_t sender : {4U, 5U, 6U, 8U, 9U, 10U, 12U}) {
    for (int i = 0; i < 20; i += 5) {
      const double share = rate(result, sender, 0, {ms(i), ms(i + 5)});
      EXPECT_NEAR(share, kAlone / 7, 0.15 * kAlone / 7) << sender << " from " << i << " ms on";
      all += share / 4;
    }
  }
  EXPECT_GT(all, 0.97 * kAlone);
}

// Figures 18 and 21: equal shares, the victim untouched, with 1 and 8 queue pairs.
TEST(PublishedCongestion, AnIncastHarmsNoFlowThatPassesBy) {
  for (const std::uint32_t queue_pairs : {1U, 8U}) expect_no_harm(queue_pairs);
}

// Figure 18: 25 % less for the victim with DCQCN and 1 queue pair: two of the seven share its link.
TEST(PublishedCongestion, WithDcqcnAnIncastTakesAQuarterOfAFlowThatPassesBy) {
  const RunResult result = run_whole(example("incast-with-victim-rc"));
  EXPECT_NEAR(victim_rate(result, {ms(40), ms(60)}), 0.78 * 390, 0.08 * 390);
}

// Figures 18 and 21: dips to 100 Gb/s with DCQCN and 8 queue pairs.
TEST(PublishedCongestion, WithManyQueuePairsAnIncastStopsAFlowUntilDcqcnFindsItsRates) {
  Scenario scenario = example("incast-with-victim-rc");
  scenario.time_limit = ms(15);
  rc(scenario).queue_pairs = 8;
  const RunResult result = run_whole(scenario);
  EXPECT_LT(victim_rate(result, {ms(0), ms(2)}), 150);
  EXPECT_GT(victim_rate(result, {ms(12), ms(15)}), 370);
}

void expect_paused(std::uint32_t queue_pairs) {
  SCOPED_TRACE(testing::Message() << queue_pairs << " queue pairs");
  Scenario scenario = example("incast-with-victim-rc");
  scenario.time_limit = ms(15);
  rc(scenario).dcqcn = false;
  rc(scenario).queue_pairs = queue_pairs;
  const RunResult result = run_whole(scenario);
  for (int i = 0; i < 15; i += 3) {
    EXPECT_GT(victim_rate(result, {ms(i), ms(i + 3)}), 25) << i;
    EXPECT_LT(victim_rate(result, {ms(i), ms(i + 3)}), 130) << i;
  }
}

// Figures 18 and 21: 30 to 100 Gb/s with PFC alone.
TEST(PublishedCongestion, PauseFramesStopAFlowThatPassesBy) {
  for (const std::uint32_t queue_pairs : {1U, 8U}) expect_paused(queue_pairs);
}

// Figure 20: 390 Gb/s for every flow of MRC.
TEST(PublishedCongestion, FullUplinksAreSharedEvenly) {
  const RunResult result = run_whole(example("full-uplinks"));
  for (std::uint32_t host = 0; host < 8; ++host) {
    EXPECT_NEAR(rate(result, host, host + 8, {ms(1), ms(5)}), 384, 4) << host;
  }
}

// How many flows have which share of a link.
struct Shares {
  int thirds = 0;
  int halves = 0;
  int wholes = 0;
};
void count_shares(std::uint64_t seed, Shares& shares) {
  Scenario scenario = example("full-uplinks-rc");
  scenario.seed = seed;
  const RunResult result = run_whole(scenario);
  for (std::uint32_t host = 0; host < 8; ++host) {
    const double share = rate(result, host, host + 8, {ms(2), ms(10)}) / 390;
    if (share > 0.25 && share < 0.4) ++shares.thirds;
    if (share > 0.43 && share < 0.55) ++shares.halves;
    if (share > 0.97) ++shares.wholes;
  }
}

// Figure 20: some flows of RoCE get a half or a third.
TEST(PublishedCongestion, FullUplinksOfRoceAreNotSharedEvenly) {
  Shares shares;
  for (const std::uint64_t seed : {1U, 3U}) count_shares(seed, shares);
  EXPECT_EQ(shares.thirds + shares.halves + shares.wholes, 16);
  EXPECT_GE(shares.thirds, 3);
  EXPECT_GE(shares.halves, 2);
  EXPECT_GE(shares.wholes, 1);
}

// ---- figure 19 ----

// Figure 19 with uplinks of 100G: the rate tracks what is left.
TEST(PublishedCongestion, WhatIsLeftOfTheUplinksIsFull) {
  const RunResult result = run_whole(example("uplinks-removed-and-added"));
  for (int down = 0; down < 4; ++down) {
    const Picoseconds cut = us(500) * down;
    const double left = 96 * (4 - down);
    // In whole slices of time, which are 20 us long by the end of the run.
    EXPECT_NEAR(goodput(result, {cut + us(260), cut + us(500)}), left, 0.02 * left) << down;
  }
  // They are back after 2, 2.5 and 3 ms, and probes find out within as much as they were away.
  for (int back = 1; back <= 3; ++back) {
    const Picoseconds found = us(1500) + us(500) * back + us(1500);
    // Then the next one is found, and queues are uneven for a while.
    EXPECT_GT(goodput(result, {found - us(200), found}), 0.97 * 96 * (1 + back)) << back;
  }
}

// Figure 19 with uplinks of 400G: no effect.
TEST(PublishedCongestion, OneUplinkIsEnoughForAFlowOfItsSpeed) {
  Scenario scenario = example("uplinks-removed-and-added");
  scenario.shape.uplink_bits_per_second = scenario.shape.host_link_bits_per_second;
  const RunResult result = run_whole(scenario);
  const double before = goodput(result, {us(100), us(500)});
  EXPECT_NEAR(before, 384, 2);
  EXPECT_GT(goodput(result, {us(500), us(6000)}), 0.99 * before);
  EXPECT_GT(lowest_goodput(result, {us(500), us(6000)}, us(100)), 0.9 * before);
}

// ---- a link flaps under a training job ----

struct StepTimes {
  double median = 0;  // us
  double worst = 0;
};
StepTimes step_times(const std::string& name, std::uint64_t seed = 1) {
  Scenario scenario = example(name);
  scenario.seed = seed;
  const RunResult result = run_whole(scenario);
  EXPECT_TRUE(result.finished);
  std::vector<double> times;
  times.reserve(result.steps.size());
  for (const StepRecord& step : result.steps) {
    times.push_back(static_cast<double>((step.end - step.begin).raw()) / 1e6);
  }
  std::sort(times.begin(), times.end());
  EXPECT_EQ(times.size(), 24U);
  return {.median = times[times.size() / 2], .worst = times.back()};
}

// Figure 5: no measurable effect. Here the worst of all steps is measured. One seed's median is 360
// to 386 us, so that it is the mean of four.
TEST(PublishedCongestion, AFlappingLinkHardlyDelaysAStep) {
  constexpr std::uint64_t kSeeds = 4;
  double median = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const StepTimes steps = step_times("training-over-a-flapping-link", seed);
    EXPECT_LT(steps.worst, 1.2 * steps.median) << "seed " << seed;
    median += steps.median / kSeeds;
  }
  EXPECT_NEAR(median, 370, 15);
}

TEST(PublishedCongestion, AFlappingLinkStopsRoceUntilItsTimeout) {
  const StepTimes steps = step_times("training-over-a-flapping-link-rc");
  EXPECT_NEAR(steps.median, 290, 15);
  EXPECT_GT(steps.worst, steps.median + 1'000);
}

// ---- 127 to 1 ----

// Published of a model for ns-3: 709 Gb/s, 99 % within 93.7 us.
TEST(PublishedCongestion, AnIncastOf127KeepsTheLinksBusy) {
  const RunResult result = run_whole(example("incast-127-to-1"));
  ASSERT_TRUE(result.finished);
  EXPECT_EQ(completion_times(result).size(), 127U);
  EXPECT_LT(percentile(completion_times(result), 990), us(135));
  EXPECT_GT(gbps(result.totals.message_bytes_completed, result.end), 480);
  EXPECT_EQ(result.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
}

}  // namespace
}  // namespace openmrc::sim
