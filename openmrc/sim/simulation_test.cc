// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/simulation.h"

#include <gtest/gtest.h>

#include "openmrc/sim/network/packet_size.h"

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
  EXPECT_EQ(run(scenario, {.threads = 3}), paused);

  scenario.switches.pfc = false;
  const RunResult unpaused = run(scenario, {});
  EXPECT_GT(unpaused.totals.packets_lost[static_cast<std::size_t>(Loss::kDataFull)], 0U);
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

}  // namespace
}  // namespace openmrc::sim
