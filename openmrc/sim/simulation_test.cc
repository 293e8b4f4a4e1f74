// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "openmrc/fabric/names.h"
#include "openmrc/sim/network/packet_size.h"
#include "openmrc/sim/scenario/scenario_faults.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }

Scenario small_fabric() {
  Scenario scenario;
  scenario.name = "test";
  scenario.shape = {.planes = 4, .racks = 4, .hosts_per_rack = 4, .uplinks = 4};
  MrcTransport transport;
  transport.profile.paths.evs = 32;
  scenario.transport = transport;
  scenario.time_limit = us(20'000);
  return scenario;
}

FlowList one_flow(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  return {.flows = {{.from = from, .to = to, .bytes = bytes}}};
}

// The time of one packet over `links` links, and of the SACK and the acknowledgement back.
Picoseconds one_way(std::uint32_t size, int links, std::int64_t picoseconds_per_byte) {
  return (Picoseconds(size * picoseconds_per_byte) + picoseconds(nanoseconds(500))) * links;
}

TEST(Simulation, GivesOnePacketExactlyTheTimeThatTheWiresTake) {
  for (const bool same_rack : {true, false}) {
    Scenario scenario = small_fabric();
    scenario.workload = one_flow(0, same_rack ? 1 : 15, 4096);
    const RunResult result = run(scenario, {});
    ASSERT_TRUE(result.finished);
    const int links = same_rack ? 2 : 4;
    // The acknowledgement of the message leaves behind the SACK, on another plane at once.
    const std::uint32_t answer = kOutside + static_cast<std::uint32_t>(wire::kAethSize);
    const Picoseconds least =
        one_way(write_size(4096, true), links, 80) + one_way(answer, links, 80);
    const Picoseconds took = result.flows.at(0).end - result.flows[0].start;
    EXPECT_GE(took, least) << same_rack;
    EXPECT_LE(took, least + one_way(kSackSize, 1, 80))
        << same_rack << ": a packet time more at most";
  }
}

TEST(Simulation, CarriesALongFlowAtLineRate) {
  Scenario scenario = small_fabric();
  constexpr std::uint64_t kBytes = 16 << 20;
  scenario.workload = one_flow(0, 15, kBytes);
  const RunResult result = run(scenario, {});
  ASSERT_TRUE(result.finished);
  const std::int64_t line_rate = 4 * 100'000'000'000;
  const std::uint64_t on_wire = kBytes / 4096 * write_size(4096, false);
  const double ideal = static_cast<double>(on_wire) * 8e12 / static_cast<double>(line_rate);
  EXPECT_LT(static_cast<double>(result.end.raw()), ideal * 1.03);
  EXPECT_GT(static_cast<double>(result.end.raw()), ideal) << "no faster than the wires";
  EXPECT_EQ(result.totals.retransmissions, 0U);
}

// Each host sends to the one a rack further.
FlowList to_next_rack(const fabric::Shape& shape, std::uint64_t bytes) {
  FlowList list;
  const std::uint32_t hosts = shape.racks * shape.hosts_per_rack;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    list.flows.push_back({.from = i, .to = (i + shape.hosts_per_rack) % hosts, .bytes = bytes});
  }
  return list;
}

// A T1 with the links of four is four T1s in one case, as long as they share nothing.
TEST(Simulation, SeveralLinksToAT1CarryAsMuchAsT1sOfTheirOwn) {
  Scenario scenario = small_fabric();
  scenario.workload = to_next_rack(scenario.shape, 1 << 20);
  scenario.switches.ecn = false;  // by chance, and that of each port
  const RunResult single = run(scenario, {});
  scenario.shape.links_per_t1 = 4;
  const RunResult several = run(scenario, {});
  ASSERT_TRUE(single.finished);
  EXPECT_EQ(several.totals, single.totals);
  EXPECT_EQ(several.end, single.end);
}

TEST(Simulation, AT1TakesAllItsLinksWithIt) {
  for (const std::uint32_t dead : {0U, 1U}) {
    Scenario scenario = small_fabric();
    scenario.shape.planes = 1;
    scenario.shape.links_per_t1 = 2;
    scenario.workload = one_flow(0, 15, 1 << 20);
    MrcTransport transport;
    transport.fixed_paths = {{.host = 0, .uplinks = {2, 3}}};
    scenario.transport = transport;
    const auto fabric = *fabric::Fabric::make(scenario.shape);
    const fabric::SwitchId t1{Plane(0), fabric::Tier::kT1, dead};
    ASSERT_TRUE(expand_fault({{.element = t1}}, {.down = true}, fabric, scenario.faults,
                             scenario.fault_notes));
    EXPECT_EQ(scenario.faults.size(), 8U) << "two links of each of four racks";
    const Totals totals = run(scenario, {}).totals;
    if (dead == 1) {
      EXPECT_EQ(totals.data_packets_arrived, 0U);
    } else {
      EXPECT_EQ(totals.data_packets_arrived, totals.data_packets_sent);
    }
  }
}

// PFC stops whoever sent by the link over which too much has come.
TEST(Simulation, PausesTheRightOneOfSeveralLinks) {
  Scenario scenario = small_fabric();
  scenario.switches.pfc = true;
  scenario.switches.trimming = false;
  scenario.switches.ecn = false;
  FlowList incast;
  for (std::uint32_t from = 0; from < 12; ++from) {
    incast.flows.push_back({.from = from, .to = 15, .bytes = 1 << 20});
  }
  scenario.workload = incast;
  const RunResult single = run(scenario, {});
  scenario.shape.links_per_t1 = 2;
  const RunResult several = run(scenario, {});
  ASSERT_TRUE(single.finished);
  EXPECT_GT(single.totals.pauses, 0U);
  EXPECT_EQ(several.totals, single.totals);
}

Scenario slow_devices() {
  Scenario scenario = small_fabric();
  scenario.switches.latency = us(1);
  scenario.nics = {.send_latency = us(2), .receive_latency = us(3), .pcie_latency = us(4)};
  return scenario;
}

Picoseconds first_flow(Scenario scenario, bool same_rack, std::uint64_t bytes) {
  scenario.workload = one_flow(0, same_rack ? 1 : 15, bytes);
  const RunResult result = run(scenario, {});
  EXPECT_TRUE(result.finished);
  return result.flows.at(0).end - result.flows[0].start;
}

// The message and its acknowledgement pass all devices; the program posts and is told.
TEST(Simulation, AddsTheLatencyOfEveryDevice) {
  for (const bool same_rack : {true, false}) {
    const Picoseconds without = first_flow(small_fabric(), same_rack, 4096);
    const Picoseconds with = first_flow(slow_devices(), same_rack, 4096);
    const int switches = same_rack ? 1 : 3;
    EXPECT_EQ(with - without, us(2 * (4 + 2 + 3 + switches))) << same_rack;
  }
}

// Only the first 128 bytes of a packet are waited for in a switch.
TEST(Simulation, PassesPacketsThroughWhileTheyArrive) {
  for (const bool same_rack : {true, false}) {
    Scenario scenario = small_fabric();
    const Picoseconds stored = first_flow(scenario, same_rack, 4096);
    scenario.switches.cut_through = true;
    const Picoseconds passed = first_flow(scenario, same_rack, 4096);
    const std::uint32_t answer = kOutside + static_cast<std::uint32_t>(wire::kAethSize);
    const std::int64_t spared = (write_size(4096, true) - 128 + answer - 128) * 80;
    EXPECT_EQ((stored - passed).raw(), spared * (same_rack ? 1 : 3)) << same_rack;
  }
}

// Bytes that come more slowly than they are to leave cannot pass through.
TEST(Simulation, StoresPacketsThatGoOnFaster) {
  Scenario scenario = small_fabric();
  scenario.shape.uplink_bits_per_second = 2 * scenario.shape.host_link_bits_per_second;
  const Picoseconds stored = first_flow(scenario, false, 4096);
  scenario.switches.cut_through = true;
  const Picoseconds passed = first_flow(scenario, false, 4096);
  const std::uint32_t answer = kOutside + static_cast<std::uint32_t>(wire::kAethSize);
  // The first switch has the whole packet; those behind it pass it on at 40 ps a byte.
  EXPECT_EQ((stored - passed).raw(), (write_size(4096, true) - 128 + answer - 128) * 40 * 2);
}

// Fifteen hosts send to one, on switches with one buffer for all ports.
Scenario shared_buffer_incast() {
  Scenario scenario = small_fabric();
  scenario.shape.planes = 1;
  scenario.transport = RcTransport{};
  scenario.switches = {.trimming = false, .pfc = true, .ecn_on_last_hop = true};
  scenario.switches.buffer_bytes = 600'000;
  Incast incast{.target = 0, .bytes = 300'000};
  for (std::uint32_t host = 1; host < 16; ++host) incast.senders.push_back(host);
  scenario.workload = incast;
  return scenario;
}

TEST(Simulation, LosesNothingWithHeadroomForWhatIsOnItsWay) {
  const RunResult result = run(shared_buffer_incast(), {});
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  EXPECT_EQ(result.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
  EXPECT_EQ(result.totals.retransmissions, 0U);
}

TEST(Simulation, LosesPacketsWithoutHeadroomOrPauses) {
  Scenario scenario = shared_buffer_incast();
  scenario.switches.headroom_bytes = 1;
  const RunResult tight = run(scenario, {});
  EXPECT_GT(tight.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
  EXPECT_EQ(check_packet_accounting(tight.totals), "");
  scenario = shared_buffer_incast();
  scenario.switches.pfc = false;
  const RunResult lossy = run(scenario, {});
  EXPECT_GT(lossy.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
  EXPECT_EQ(check_packet_accounting(lossy.totals), "");
}

// Queues grow to what alpha leaves them, and trimming begins there.
TEST(Simulation, LetsAQueueHaveItsPartOfASharedBuffer) {
  const auto longest = [](std::uint32_t alpha_percent) {
    Scenario scenario = shared_buffer_incast();
    scenario.transport = small_fabric().transport;
    scenario.switches = {.buffer_bytes = 1'000'000, .alpha_percent = alpha_percent};
    const RunResult result = run(scenario, {});
    EXPECT_TRUE(result.finished);
    EXPECT_GT(result.totals.packets_trimmed, 0U);
    std::uint64_t most = 0;
    for (const Bucket& bucket : result.buckets) {
      most = std::max(most, bucket.queue_max_bytes[static_cast<std::size_t>(PortKind::kT0Down)]);
    }
    return most;
  };
  EXPECT_NEAR(static_cast<double>(longest(25)), 200'000, 5'000) << "a fifth: alpha / (1 + alpha)";
  EXPECT_NEAR(static_cast<double>(longest(10)), 90'909, 5'000);
}

// Programs wait for room, as those that get ENOMEM do.
TEST(Simulation, GoesOnWithAsFewPostedWritesAsOne) {
  for (const std::uint32_t sends : {1U, 3U}) {
    Scenario scenario = small_fabric();
    auto& mrc = std::get<MrcTransport>(scenario.transport);
    mrc.queue_pairs = 2;
    mrc.profile.limits.sends_outstanding = sends;
    scenario.workload = AllToAll{.hosts = 8, .bytes = 70'000};
    const RunResult result = run(scenario, {});
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.totals.messages_failed, 0U);
    EXPECT_EQ(result.totals.message_bytes_completed, 8U * 70'000);
  }
}

Scenario troubled_fabric() {
  Scenario scenario = small_fabric();
  scenario.workload = Permutation{.bytes = 1 << 20, .messages = 2};
  const fabric::LinkId uplink{.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(1)};
  const fabric::LinkId slow{.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(2), .rack = 1};
  const fabric::LinkId host{.kind = fabric::LinkId::Kind::kHost, .plane = Plane(3), .rack = 2};
  scenario.faults = {
      {.link = uplink, .from = us(20), .to = us(60), .down = true},
      {.link = slow, .speed_percent = 30},
      {.link = {.plane = Plane(0)},
       .direction = Direction::kDownward,
       .loss_per_billion = 20'000'000},
      {.link = host, .from = us(30), .to = us(70), .down = true, .seen_by_nic = true}};
  return scenario;
}

TEST(Simulation, AccountsForEveryPacketAndByteInSpiteOfFaults) {
  const RunResult result = run(troubled_fabric(), {});
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  EXPECT_GT(result.totals.packets_lost[static_cast<std::size_t>(Loss::kLinkDown)], 0U);
  EXPECT_GT(result.totals.packets_lost[static_cast<std::size_t>(Loss::kLinkError)], 0U);
  EXPECT_GT(result.totals.retransmissions, 0U);
  EXPECT_EQ(result.totals.message_bytes_completed, result.totals.message_bytes_posted);
  EXPECT_EQ(result.totals.message_bytes_completed, 16U * 2 * (1 << 20));
  EXPECT_EQ(result.flows.size(), 32U);
}

TEST(Simulation, AccountsForWhatIsOnItsWayWhenTimeIsUp) {
  Scenario scenario = troubled_fabric();
  scenario.time_limit = us(25);
  const RunResult result = run(scenario, {});
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  EXPECT_GT(result.totals.packets_lost[static_cast<std::size_t>(Loss::kInFlight)], 0U);
  EXPECT_GE(result.flows.size(), 16U) << "those that had not ended are there, too";
}

TEST(Simulation, GivesTheSameResultForAnyNumberOfThreads) {
  const Scenario scenario = troubled_fabric();
  const RunResult one = run(scenario, {.threads = 1});
  for (const std::size_t threads : {2U, 3U, 4U, 7U}) {
    EXPECT_EQ(run(scenario, {.threads = threads}), one) << threads << " threads";
  }
}

TEST(Simulation, GivesAnotherResultForAnotherSeed) {
  Scenario scenario = troubled_fabric();
  const RunResult one = run(scenario, {});
  ++scenario.seed;
  EXPECT_NE(run(scenario, {}), one);
}

TEST(Simulation, StopsWhenItIsToldTo) {
  const RunOptions options{
      .on_progress = [](void*, const Progress& progress) { return progress.time < us(10); }};
  const RunResult result = run(troubled_fabric(), options);
  EXPECT_FALSE(result.finished);
  EXPECT_LT(result.end, us(12));
  EXPECT_EQ(check_packet_accounting(result.totals), "");
}

// 12 hosts of other racks to one: what pauses hold back is not lost, and control passes by.
TEST(Simulation, LosesNothingWithPauses) {
  Scenario scenario = small_fabric();
  scenario.shape.planes = 1;
  scenario.transport = RcTransport{.dcqcn = false};
  scenario.switches = {.trimming = false, .ecn = false, .pfc = true};
  Incast incast{.target = 0, .bytes = 1 << 20};
  for (std::uint32_t host = 4; host < 16; ++host) incast.senders.push_back(host);
  scenario.workload = incast;
  const RunResult paused = run(scenario, {});
  EXPECT_TRUE(paused.finished);
  EXPECT_EQ(check_packet_accounting(paused.totals), "");
  EXPECT_EQ(paused.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
  EXPECT_EQ(paused.totals.retransmissions, 0U);
  EXPECT_GT(paused.totals.pauses, 0U);
  EXPECT_EQ(run(scenario, {.threads = 3}), paused);

  scenario.switches.pfc = false;
  const RunResult unpaused = run(scenario, {});
  EXPECT_GT(unpaused.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
  EXPECT_EQ(unpaused.totals.pauses, 0U);
}

// A host with MRC sends nothing while it is paused, and takes pauses for nothing else.
TEST(Simulation, PausesHostsOfEveryTransport) {
  Scenario scenario = small_fabric();
  scenario.switches = {.trimming = false, .ecn = false, .pfc = true};
  Incast incast{.target = 0, .bytes = 1 << 20};
  for (std::uint32_t host = 1; host < 16; ++host) incast.senders.push_back(host);
  scenario.workload = incast;
  const RunResult paused = run(scenario, {});
  EXPECT_TRUE(paused.finished);
  EXPECT_EQ(check_packet_accounting(paused.totals), "");
  EXPECT_EQ(paused.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
}

TEST(Simulation, LeavesALostPlaneAndComesBackToIt) {
  Scenario scenario = small_fabric();
  scenario.workload = one_flow(0, 15, 64 << 20);
  scenario.bucket_width = us(10);
  const fabric::LinkId port{.kind = fabric::LinkId::Kind::kHost, .plane = Plane(2)};
  scenario.faults = {
      {.link = port, .from = us(200), .to = us(600), .down = true, .seen_by_nic = true}};
  const RunResult result = run(scenario, {});
  ASSERT_TRUE(result.finished);
  const auto bytes = [&](std::int64_t at, std::size_t plane) {
    return result.buckets.at(static_cast<std::size_t>(us(at).raw() / result.bucket_width.raw()))
        .payload_bytes[plane];
  };
  EXPECT_GT(bytes(150, 2), 0U);
  EXPECT_EQ(bytes(400, 2), 0U);
  EXPECT_GT(bytes(900, 2), bytes(150, 2) / 2);
  EXPECT_GT(bytes(400, 1), bytes(150, 1) * 9 / 10) << "the other planes go on";
}

// Two hosts of other racks send to one; one of its links is cut on the way.
Scenario sampled_scenario() {
  Scenario scenario = small_fabric();
  scenario.workload = FlowList{
      .flows = {{.from = 0, .to = 15, .bytes = 4 << 20}, {.from = 4, .to = 15, .bytes = 4 << 20}}};
  scenario.faults.push_back({.link = {.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(1)},
                             .from = us(40),
                             .down = true});
  return scenario;
}

const SeriesSettings kSampled{
    .every = us(10), .hosts = {fabric::HostIndex(0), fabric::HostIndex(15)}, .busiest = 12};

TEST(Simulation, IsTheSameWithASeriesAndWithout) {
  const Scenario scenario = sampled_scenario();
  const SampledRun sampled = run_sampled(scenario, {}, kSampled);
  EXPECT_EQ(sampled.result, run(scenario, {}));
  EXPECT_EQ(run_sampled(scenario, {.threads = 3}, kSampled).series, sampled.series);
}

TEST(Simulation, SamplesWhatTheResultSays) {
  const SampledRun sampled = run_sampled(sampled_scenario(), {}, kSampled);
  const Series& series = sampled.series;
  const Totals& totals = sampled.result.totals;
  ASSERT_GT(series.times.size(), 15U);
  EXPECT_EQ(series.times[0], us(10));
  EXPECT_GE(series.times.back(), sampled.result.end);
  const FabricSample& end = series.fabric.back();
  EXPECT_EQ(end.payload_bytes, totals.payload_bytes_arrived);
  EXPECT_EQ(end.retransmissions, totals.retransmissions);
  EXPECT_EQ(end.marked, totals.packets_marked);
  EXPECT_GT(end.retransmissions, 0U) << "of what was on the link";
  // Long before its end, the connections are at full speed.
  const FabricSample& middle = series.fabric[series.times.size() / 2];
  EXPECT_EQ(middle.transport.connections, 2U);
  EXPECT_GE(middle.transport.rtt_max_ns, 4'000U);
  EXPECT_GE(middle.transport.window_min_bytes, 4'096U);
}

TEST(Simulation, SamplesHostsConnectionsAndLinks) {
  const SampledRun sampled = run_sampled(sampled_scenario(), {}, kSampled);
  const Series& series = sampled.series;
  ASSERT_EQ(series.hosts.size(), 2U);
  EXPECT_EQ(series.hosts[0].samples.back().payload_bytes, 0U) << "it only sends";
  EXPECT_EQ(series.hosts[1].samples.back().payload_bytes, 8U << 20);
  ASSERT_EQ(series.connections.size(), 1U);
  EXPECT_EQ(series.connections[0].key, (Connection{fabric::HostIndex(0), fabric::HostIndex(15)}));
  const auto& evs = series.connections[0].samples.back().evs;
  EXPECT_EQ(std::accumulate(evs.begin(), evs.end(), std::uint64_t{0}), 32U);
  EXPECT_LT(evs[0], 32U) << "those of the link that was cut";
  // Twelve are busy: the receiver's four links, and those of the two senders.
  ASSERT_EQ(series.links.size(), 12U);
  std::uint64_t received = 0;
  for (const auto& link : series.links) {
    EXPECT_GT(link.samples.back().sent_bytes, 1U << 20) << fabric::name_of(link.key.link);
    if (link.key.upward || link.key.link.kind != fabric::LinkId::Kind::kHost) continue;
    received += link.samples.back().sent_bytes;
  }
  EXPECT_GT(received, 8U << 20) << "with headers";
}

TEST(Simulation, SamplesAtWholeWindows) {
  SeriesSettings settings{.every = Picoseconds(10'000'001)};
  const Series series = run_sampled(sampled_scenario(), {}, settings).series;
  EXPECT_EQ(series.every, Picoseconds(10'500'000)) << "the wire takes 500 ns";
}

}  // namespace
}  // namespace openmrc::sim
