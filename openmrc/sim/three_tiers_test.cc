// SPDX-License-Identifier: BSD-3-Clause
// Fabrics of three tiers, whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "openmrc/fabric/names.h"
#include "openmrc/fabric/path.h"
#include "openmrc/sim/network/packet_size.h"
#include "openmrc/sim/scenario/scenario_faults.h"
#include "openmrc/sim/simulation.h"

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::HostIndex;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }

// Two pods of two racks of four hosts; two T1s in each pod, four T2s in each plane.
constexpr fabric::Shape kShape{
    .planes = 2, .racks = 4, .hosts_per_rack = 4, .uplinks = 2, .pods = 2, .t1_uplinks = 2};
constexpr std::uint32_t kHosts = 16;

Scenario three_tiers() {
  Scenario scenario;
  scenario.shape = kShape;
  MrcTransport transport;
  transport.profile.paths.evs = 8;
  scenario.transport = transport;
  scenario.time_limit = us(20'000);
  return scenario;
}

FlowList one_flow(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  return {.flows = {{.from = from, .to = to, .bytes = bytes}}};
}

// Each host sends to the one in its place in the other pod.
FlowList to_the_other_pod(std::uint64_t bytes) {
  FlowList list;
  for (std::uint32_t i = 0; i < kHosts; ++i) {
    list.flows.push_back({.from = i, .to = (i + kHosts / 2) % kHosts, .bytes = bytes});
  }
  return list;
}

RunResult run_checked(const Scenario& scenario, const RunOptions& options = {}) {
  RunResult result = run(scenario, options);
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  return result;
}

void break_all(const std::vector<Element>& elements, Scenario& scenario) {
  std::vector<BrokenElement> broken;
  for (const Element& element : elements) broken.push_back({.element = element});
  ASSERT_TRUE(expand_fault(broken, {.down = true, .seen_by_nic = false},
                           *Fabric::make(scenario.shape), scenario.faults, scenario.fault_notes));
}

// The time of one packet over `links` links.
Picoseconds one_way(std::uint32_t size, int links) {
  return (Picoseconds(std::int64_t{size} * 80) + picoseconds(nanoseconds(500))) * links;
}

TEST(ThreeTiers, APacketTakesTheTimeOfItsWires) {
  for (const auto& [to, links] : {std::pair{1U, 2}, {7U, 4}, {15U, 6}}) {
    Scenario scenario = three_tiers();
    scenario.workload = one_flow(0, to, 4096);
    const RunResult result = run_checked(scenario);
    ASSERT_TRUE(result.finished);
    const std::uint32_t answer = kOutside + static_cast<std::uint32_t>(wire::kAethSize);
    const Picoseconds least = one_way(write_size(4096, true), links) + one_way(answer, links);
    const Picoseconds took = result.flows.at(0).end - result.flows[0].start;
    EXPECT_GE(took, least) << to;
    EXPECT_LE(took, least + one_way(kSackSize, 1)) << to << ": a packet time more at most";
  }
}

TEST(ThreeTiers, AFlowToAnotherPodRunsAtLineRate) {
  Scenario scenario = three_tiers();
  constexpr std::uint64_t kBytes = 8 << 20;
  scenario.workload = one_flow(0, 15, kBytes);
  const RunResult result = run_checked(scenario);
  ASSERT_TRUE(result.finished);
  const double on_wire = static_cast<double>(kBytes / 4096 * write_size(4096, false));
  const double ideal = on_wire * 8e12 / 200e9;
  EXPECT_LT(static_cast<double>(result.end.raw()), ideal * 1.03);
  EXPECT_GT(static_cast<double>(result.end.raw()), ideal) << "no faster than the wires";
}

// What a path is made of is what its packets pass, and nothing else.
TEST(ThreeTiers, PacketsTakeThePathThatTheirEvNames) {
  const Fabric fabric = *Fabric::make(
      {.planes = 1, .racks = 4, .hosts_per_rack = 4, .uplinks = 2, .pods = 2, .t1_uplinks = 2});
  for (const std::uint32_t to : {5U, 15U}) {  // of the pod, and of the other
    for (std::uint16_t number = 0; number < fabric.evs_per_plane(); ++number) {
      Scenario scenario = three_tiers();
      scenario.shape = fabric.shape();
      scenario.workload = one_flow(0, to, 1 << 16);
      scenario.time_limit = us(200);
      MrcTransport transport;
      transport.fixed_paths = {{.host = 0, .uplinks = {number}}};
      scenario.transport = transport;
      const fabric::Path path =
          path_between(fabric, HostIndex(0), HostIndex(to), {Plane(0), number});
      const std::set<fabric::LinkId> passed(path.links.begin(), path.links.end());
      std::vector<Element> others;
      for (const fabric::LinkId& link : links_of(Plane(0), fabric)) {
        if (!passed.contains(link)) others.push_back(link);
      }
      Scenario without_others = scenario;
      break_all(others, without_others);
      // Answers come back by any path; what was sent arrives.
      const Totals kept = run_checked(without_others).totals;
      EXPECT_GT(kept.data_packets_arrived, 0U);
      EXPECT_EQ(kept.data_packets_arrived, kept.data_packets_sent) << to << " by " << number;
      for (const fabric::LinkId& link : passed) {
        Scenario cut = scenario;
        break_all({link}, cut);
        EXPECT_EQ(run_checked(cut).totals.data_packets_arrived, 0U) << name_of(link);
      }
      for (const fabric::SwitchId& id : path.switches) {
        Scenario dead = scenario;
        break_all({id}, dead);
        EXPECT_EQ(run_checked(dead).totals.data_packets_arrived, 0U) << name_of(id);
      }
    }
  }
}

TEST(ThreeTiers, MrcLeavesADeadT2) {
  Scenario scenario = three_tiers();
  scenario.workload = to_the_other_pod(4 << 20);
  const RunResult whole = run_checked(scenario);
  const fabric::SwitchId t2{Plane(1), fabric::Tier::kT2, 3};
  ASSERT_TRUE(expand_fault({{.element = t2, .from = us(50)}}, {.down = true},
                           *Fabric::make(scenario.shape), scenario.faults, scenario.fault_notes));
  const RunResult broken = run_checked(scenario);
  ASSERT_TRUE(whole.finished && broken.finished);
  EXPECT_GT(broken.totals.packets_lost[static_cast<std::size_t>(Loss::kLinkDown)], 0U);
  EXPECT_EQ(broken.totals.messages_failed, 0U);
  EXPECT_GT(broken.totals.evs_lost, 0U);
  // An eighth of what leads between the pods is gone.
  EXPECT_LT(number(broken.end), number(whole.end) * 1.4);
}

TEST(ThreeTiers, AnyNumberOfThreadsGivesTheSameResult) {
  Scenario scenario = three_tiers();
  scenario.workload = to_the_other_pod(1 << 18);
  const fabric::LinkId link{fabric::LinkId::Kind::kT1Uplink, Plane(0), 1, 1};
  scenario.faults.push_back({.link = link, .from = us(5), .loss_per_billion = 50'000'000});
  const RunResult one = run_checked(scenario, {.threads = 1});
  ASSERT_TRUE(one.finished);
  EXPECT_GT(one.totals.packets_lost[static_cast<std::size_t>(Loss::kLinkError)], 0U);
  for (const std::size_t threads : {2U, 3U}) {
    const RunResult several = run_checked(scenario, {.threads = threads});
    EXPECT_EQ(several.totals, one.totals);
    EXPECT_EQ(several.end, one.end);
    EXPECT_EQ(several.buckets, one.buckets);
  }
}

// RoCEv2 by a hash, and over switches that choose, with a link to a T2 that is cut.
Scenario rc(Balancing balancing) {
  Scenario scenario = three_tiers();
  scenario.transport = RcTransport{.reroute_after = us(20), .recovery = Recovery::kSelective};
  // With PFC nothing is lost but on the dead link.
  scenario.switches = {.trimming = false,
                       .pfc = true,
                       .ecn_min_bytes = 100'000,
                       .ecn_max_bytes = 400'000,
                       .ecn_on_last_hop = true,
                       .balancing = balancing};
  scenario.workload = to_the_other_pod(4 << 20);
  scenario.bucket_width = us(10);
  const fabric::LinkId link{fabric::LinkId::Kind::kT1Uplink, Plane(0), 2, 1};
  scenario.faults.push_back({.link = link, .from = us(50), .down = true});
  return scenario;
}

TEST(ThreeTiers, SwitchesLeaveADeadLinkToAT2WhenRoutingDoes) {
  for (const Balancing balancing : {Balancing::kEcmp, Balancing::kAdaptive, Balancing::kSpray}) {
    const RunResult result = run_checked(rc(balancing));
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.totals.messages_failed, 0U);
    // 70 us, and what waited in a T0 for a path that a hash had named.
    constexpr std::size_t kDrained = 20;
    EXPECT_GT(result.buckets.size(), kDrained + 10);
    std::uint64_t at_first = 0;
    std::uint64_t later = 0;
    for (std::size_t i = 0; i < result.buckets.size(); ++i) {
      (i < kDrained ? at_first : later) += result.buckets[i].lost;
    }
    EXPECT_GT(at_first, 0U) << static_cast<int>(balancing);
    EXPECT_EQ(later, 0U) << static_cast<int>(balancing);
  }
}

TEST(ThreeTiers, SprayingUsesAllT2s) {
  Scenario scenario = rc(Balancing::kSpray);
  scenario.shape.planes = 1;  // a queue pair has one
  scenario.faults.clear();
  const SampledRun sampled = run_sampled(scenario, {}, {.every = us(1'000), .busiest = 1'000});
  ASSERT_TRUE(sampled.result.finished);
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  std::size_t links = 0;
  for (const auto& link : sampled.series.links) {
    if (link.key.link.kind != fabric::LinkId::Kind::kT1Uplink || !link.key.upward) continue;
    ++links;
    least = std::min(least, link.samples.back().sent_bytes);
    most = std::max(most, link.samples.back().sent_bytes);
  }
  EXPECT_EQ(links, 4U * 2) << "T1s, uplinks";
  EXPECT_GT(least * 10, most * 8);
}

// PFC goes back from a T2 to T1s, to T0s, to hosts: nothing is lost.
TEST(ThreeTiers, PausesReachTheSenders) {
  Scenario scenario = three_tiers();
  scenario.transport = RcTransport{};
  scenario.switches = {.trimming = false, .ecn = false, .pfc = true};
  FlowList incast;
  for (std::uint32_t from = 0; from < kHosts / 2; ++from) {
    incast.flows.push_back({.from = from, .to = kHosts - 1, .bytes = 1 << 20});
  }
  scenario.workload = incast;
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_GT(result.totals.pauses, 0U);
  EXPECT_EQ(result.totals.packets_lost, decltype(result.totals.packets_lost){});
}

}  // namespace
}  // namespace openmrc::sim
