// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "openmrc/sim/rc/rc_packet.h"
#include "openmrc/sim/simulation.h"

// RoCEv2 in small fabrics, whole runs.
namespace openmrc::sim {
namespace {

using fabric::HostIndex;
using fabric::LinkId;

constexpr Picoseconds kMicrosecond{1'000'000};
constexpr Picoseconds kMillisecond{1'000'000'000};
constexpr std::uint32_t kMtu = 4096;

// Gigabits of payload in a second.
double speed(const FlowRecord& flow) {
  return static_cast<double>(flow.bytes) * 8'000 /
         static_cast<double>((flow.end - flow.start).raw());
}

std::uint64_t lost(const RunResult& result, Loss why) {
  return result.totals.packets_lost[static_cast<std::size_t>(why)];
}

// Four racks of eight hosts with 100 Gb/s and as many uplinks. The thresholds are those of a switch
// for RoCE: some round trips deep.
Scenario two_tiers() {
  Scenario scenario;
  scenario.shape = {.planes = 1, .racks = 4, .hosts_per_rack = 8, .uplinks = 8};
  scenario.transport = RcTransport{};
  scenario.switches = {.trimming = false,
                       .ecn_min_bytes = 100'000,
                       .ecn_max_bytes = 400'000,
                       .queue_bytes = 1'000'000,
                       .ecn_on_last_hop = true};
  return scenario;
}

// Two hosts at one switch, 10 Gb/s: a packet takes long against the wire's delay.
Scenario two_hosts(std::uint64_t bytes) {
  Scenario scenario;
  scenario.shape = {.hosts_per_rack = 2, .host_link_bits_per_second = 10'000'000'000};
  scenario.transport = RcTransport{};
  scenario.workload = FlowList{{{.from = 0, .to = 1, .bytes = bytes}}};
  return scenario;
}

// What the NIC of host 0 sends gets lost.
LinkFault cut_of_sender(Picoseconds from, Picoseconds to) {
  return {.link = {.kind = LinkId::Kind::kHost},
          .direction = Direction::kUpward,
          .from = from,
          .to = to,
          .down = true};
}

// Runs it and checks what holds for every run.
RunResult run_checked(const Scenario& scenario) {
  RunResult result = run(scenario, {});
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  return result;
}

TEST(RcHost, OneFlowHasTheWholeLine) {
  Scenario scenario = two_tiers();
  scenario.workload = FlowList{{{.from = 0, .to = 9, .bytes = 20'000'000}}};
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.transport, "rc");
  ASSERT_EQ(result.flows.size(), 1u);
  const double share = 100.0 * kMtu / rc_data_size(wire::MessagePart::middle(), kMtu);
  EXPECT_GT(speed(result.flows[0]), 0.99 * share);
  EXPECT_LT(speed(result.flows[0]), share);
  EXPECT_EQ(result.totals.data_packets_sent, (20'000'000 + kMtu - 1) / kMtu);
  EXPECT_EQ(result.totals.retransmissions, 0u);
  EXPECT_EQ(result.totals.packets_marked, 0u);
}

TEST(RcHost, DoesNotDependOnThreads) {
  Scenario scenario = two_tiers();
  scenario.shape.planes = 2;
  scenario.transport = RcTransport{.queue_pairs = 3};
  scenario.workload = Permutation{.bytes = 200'000};
  for (const Plane plane : {Plane(0), Plane(1)}) {
    scenario.faults.push_back(
        {.link = {.kind = LinkId::Kind::kHost, .plane = plane}, .loss_per_billion = 100'000'000});
  }
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_GT(result.totals.retransmissions, 0u);
  EXPECT_EQ(run(scenario, {.threads = 2}), result);
}

TEST(RcHost, QueuePairsOfAHostTakeTurns) {
  Scenario scenario = two_tiers();
  FlowList flows;
  for (const std::uint32_t to : {1u, 2u, 3u, 4u}) {
    flows.flows.push_back({.from = 0, .to = to, .bytes = 5'000'000});
  }
  scenario.workload = flows;
  const RunResult result = run_checked(scenario);
  ASSERT_EQ(result.flows.size(), 4u);
  for (const FlowRecord& flow : result.flows) EXPECT_NEAR(speed(flow), 97.5 / 4, 0.2);
}

// DCQCN is slow to be fair, so all but the beginning of a long run counts.
TEST(RcHost, TwoFlowsShareAPortFairly) {
  constexpr std::uint32_t kMessages = 400;
  constexpr std::uint64_t kBytes = 2'000'000;
  constexpr Picoseconds kUnfair = kMillisecond * 20;
  Scenario scenario = two_tiers();
  scenario.time_limit = kMillisecond * 100;
  FlowList flows;
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    flows.flows.push_back({.from = 0, .to = 31, .bytes = kBytes});
    flows.flows.push_back({.from = 8, .to = 31, .bytes = kBytes, .start = kMillisecond});
  }
  scenario.workload = flows;
  const RunResult result = run_checked(scenario);
  std::array<double, 2> bytes{};
  for (const FlowRecord& flow : result.flows) {
    const bool counts = flow.end != kNoTime && flow.end > kUnfair;
    if (counts) bytes[flow.tag % 2] += static_cast<double>(flow.bytes);
  }
  const double whole = bytes[0] + bytes[1];
  EXPECT_GT(whole * 8'000 / static_cast<double>((scenario.time_limit - kUnfair).raw()), 95);
  EXPECT_NEAR(bytes[0], whole / 2, 0.1 * whole / 2);
  EXPECT_GT(result.totals.packets_marked, 100u);
  EXPECT_EQ(lost(result, Loss::kDataFull), 0u);
}

TEST(RcHost, WithoutDcqcnQueuesFillUp) {
  Scenario scenario = two_tiers();
  scenario.transport = RcTransport{.dcqcn = false};
  scenario.workload = FlowList{
      {{.from = 0, .to = 31, .bytes = 20'000'000}, {.from = 8, .to = 31, .bytes = 20'000'000}}};
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.totals.packets_marked, 0u);
  EXPECT_GT(lost(result, Loss::kDataFull), 100u);
  EXPECT_GT(result.totals.retransmissions, lost(result, Loss::kDataFull));
}

TEST(RcHost, ALostPacketIsAskedForAndAllAfterItRetransmitted) {
  Scenario scenario = two_hosts(400'000);
  scenario.faults.push_back(cut_of_sender(kMicrosecond * 20, kMicrosecond * 20 + Picoseconds(1)));
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(lost(result, Loss::kLinkDown), 1u);
  // What had left before the sender was told.
  EXPECT_GE(result.totals.retransmissions, 2u);
  EXPECT_LE(result.totals.retransmissions, 4u);
  const std::uint64_t packets = (400'000 + kMtu - 1) / kMtu;
  EXPECT_EQ(result.totals.data_packets_sent, packets + result.totals.retransmissions);
  EXPECT_LT(result.end, kMicrosecond * 400) << "there was no timeout";
}

// An acknowledgement finds the port busy, and nothing else happens there afterwards.
TEST(RcHost, AnAcknowledgementLeavesWhenThePortIsFree) {
  Scenario scenario = two_hosts(kMtu);
  const Picoseconds start = kMicrosecond * 6;
  std::get<FlowList>(scenario.workload)
      .flows.push_back({.from = 1, .to = 0, .bytes = kMtu, .start = start});
  const RunResult result = run_checked(scenario);
  ASSERT_EQ(result.flows.size(), 2u);
  const Network network(scenario);
  const Line& line = network.host_line();
  const auto data = line.serialisation(rc_data_size(wire::MessagePart::only({}), kMtu));
  ASSERT_LT(data + line.delay, start);
  ASSERT_LT((data + line.delay) * 2, start + data) << "the data arrives while the port is busy";
  // It follows that port's data, at the switch, too.
  EXPECT_EQ(result.flows[0].end, start + (data + line.delay) * 2 + line.serialisation(kRcAckSize));
}

TEST(RcHost, NothingTellsOfALostTailButTime) {
  Scenario scenario = two_hosts(1'000);
  scenario.faults.push_back(cut_of_sender(Picoseconds{}, kMicrosecond));
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.totals.retransmissions, 1u);
  const Picoseconds timeout = std::get<RcTransport>(scenario.transport).timeout;
  EXPECT_GT(result.end, timeout);
  EXPECT_LT(result.end, timeout + kMicrosecond * 5);
}

TEST(RcHost, AQueuePairBreaksAfterItsRetries) {
  Scenario scenario = two_hosts(1'000);
  scenario.transport = RcTransport{.timeout = kMicrosecond * 100, .retries = 3};
  scenario.faults.push_back(cut_of_sender(Picoseconds{}, kNoTime));
  const RunResult result = run_checked(scenario);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.totals.data_packets_sent, 4u);
  EXPECT_EQ(result.totals.messages_failed, 1u);
  ASSERT_EQ(result.flows.size(), 1u);
  EXPECT_TRUE(result.flows[0].failed);
}

// Each step of a collective needs all messages before it, in order.
TEST(RcHost, RandomLossDelaysAndBreaksNothing) {
  Scenario scenario = two_tiers();
  scenario.workload = AllReduce{.hosts = 16, .bytes = 2'000'000, .placement = Placement::kSpread};
  for (std::uint32_t rack = 0; rack < 4; ++rack) {
    for (std::uint32_t port = 0; port < 8; ++port) {
      scenario.faults.push_back(
          {.link = {.kind = LinkId::Kind::kUplink, .rack = rack, .port = port},
           .loss_per_billion = 5'000'000});
    }
  }
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  EXPECT_GT(lost(result, Loss::kLinkError), 50u);
  EXPECT_EQ(result.totals.message_bytes_completed, result.totals.message_bytes_posted);
}

// A flow and the uplink of its rack that it hashes to.
class CutPathTest : public testing::Test {
 protected:
  static constexpr Picoseconds kCut = kMicrosecond * 100;

  CutPathTest() {
    scenario_.workload = FlowList{{{.from = 0, .to = 9, .bytes = 10'000'000}}};
    const Network network(scenario_);
    const EcmpFlow flow{.from = HostIndex(0), .to = HostIndex(9), .qpn = kFirstUsableQpn};
    const std::uint32_t uplink = Ecmp(network, kMillisecond).path(flow, Plane(0), Picoseconds{});
    scenario_.faults.push_back({.link = {.kind = LinkId::Kind::kUplink, .rack = 0, .port = uplink},
                                .from = kCut,
                                .down = true});
  }

  Scenario scenario_ = two_tiers();
};

TEST_F(CutPathTest, AFlowStallsUntilRoutingLeavesTheDeadLink) {
  const RunResult whole = [&] {
    Scenario scenario = scenario_;
    scenario.faults.clear();
    return run_checked(scenario);
  }();
  for (const Picoseconds reroute_after : {kMillisecond, kMillisecond * 3}) {
    scenario_.transport = RcTransport{.reroute_after = reroute_after};
    const RunResult result = run_checked(scenario_);
    EXPECT_TRUE(result.finished);
    EXPECT_GT(lost(result, Loss::kLinkDown), 0u);
    const Picoseconds timeout = std::get<RcTransport>(scenario_.transport).timeout;
    EXPECT_GT(result.end, whole.end + reroute_after);
    EXPECT_LT(result.end, whole.end + reroute_after + timeout + kMicrosecond * 50);
  }
}

TEST_F(CutPathTest, WithoutReroutingItFails) {
  scenario_.transport = RcTransport{.reroute_after = kMillisecond * 100};
  const RunResult result = run_checked(scenario_);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.totals.messages_failed, 1u);
}

// Flows that hash to one uplink share it: half of the rate, or a third, while uplinks stand idle.
TEST(RcHost, FlowsOfAPermutationCollide) {
  Scenario scenario = two_tiers();
  scenario.workload = Permutation{.bytes = 10'000'000, .across_racks = true};
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  std::vector<double> speeds;
  for (const FlowRecord& flow : result.flows) speeds.push_back(speed(flow));
  std::sort(speeds.begin(), speeds.end());
  ASSERT_EQ(speeds.size(), 32u);
  EXPECT_LT(speeds.front(), 35);
  EXPECT_GT(speeds.front(), 15);
  EXPECT_NEAR(speeds[speeds.size() / 2], 48, 10);
  EXPECT_GT(speeds.back(), 95);
}

TEST(RcHost, ManyQueuePairsSpreadALoadOverThePlanes) {
  Scenario scenario = two_tiers();
  scenario.shape.planes = 4;
  scenario.transport = RcTransport{.queue_pairs = 16};
  scenario.workload = FlowList{{{.from = 0, .to = 9, .bytes = 16'000'000}}};
  const RunResult result = run_checked(scenario);
  EXPECT_TRUE(result.finished);
  for (std::size_t plane = 0; plane < 4; ++plane) {
    const std::uint64_t bytes = std::accumulate(
        result.buckets.begin(), result.buckets.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const Bucket& bucket) { return sum + bucket.payload_bytes[plane]; });
    EXPECT_GE(bytes, 1'000'000u) << plane;
    EXPECT_EQ(bytes % 1'000'000, 0u) << "a queue pair keeps to its plane";
  }
}

TEST(RcHost, BothEndsOfAQueuePairUseOnePlane) {
  Scenario scenario = two_tiers();
  scenario.shape.planes = 2;
  for (const std::uint32_t to : {8u, 9u, 10u, 11u, 12u}) {
    scenario.workload = FlowList{{{.from = 0, .to = to, .bytes = 1'000}}};
    scenario.faults.clear();
    const EcmpFlow flow{.from = HostIndex(0), .to = HostIndex(to), .qpn = kFirstUsableQpn};
    const Plane used = Ecmp(Network(scenario), kMillisecond).plane(flow);
    const Plane other(static_cast<std::uint8_t>(1 - used.raw()));
    scenario.faults.push_back(
        {.link = {.kind = LinkId::Kind::kHost, .plane = other}, .down = true});
    const RunResult result = run_checked(scenario);
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.totals.retransmissions, 0u);
  }
}

// A host by itself, with what a switch would send it.
TEST(RcHost, APausedPortSendsNothing) {
  const Scenario scenario = two_hosts(1'000'000);
  const Network network(scenario);
  const auto workload = make_workload(scenario.workload, network.fabric(), scenario.seed);
  const Connections connections(*workload, network.fabric().hosts());
  const RcWorld world =
      make_rc_world(network, connections, std::get<RcTransport>(scenario.transport));
  RcHost host(world, HostIndex(0), workload->program(HostIndex(0)));
  Worker worker(network, 0, 1);
  const auto run_window = [&](std::int64_t index, std::span<const Packet> arrivals) {
    const Picoseconds length = network.window();
    host.run({.index = index, .begin = length * index, .end = length * (index + 1)}, arrivals,
             worker);
    return worker.stats.totals.data_packets_sent;
  };

  const ArrivalKey at(0, Picoseconds(1), kPauseIngress);
  const Packet pause{.key = at, .kind = PacketKind::kPause};
  EXPECT_EQ(run_window(0, std::array{pause}), 1u);
  EXPECT_EQ(run_window(100, {}), 1u);
  EXPECT_EQ(host.wake_at(), kNoTime);
  const Packet resume{.key = at, .kind = PacketKind::kResume};
  EXPECT_EQ(run_window(200, std::array{resume}), 2u);
  EXPECT_LT(host.wake_at(), kNoTime);
  EXPECT_EQ(worker.stats.totals.control_packets_arrived, 0u);
}

}  // namespace
}  // namespace openmrc::sim
