// SPDX-License-Identifier: BSD-3-Clause
// Clocks that no machine should have: two shards on a network inside this process, each with a
// clock that the test sets.
#include "openmrc/host/clock.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/datapath/fault.h"
#include "openmrc/datapath/loopback.h"
#include "openmrc/host/shard.h"

namespace openmrc::host {
namespace {

constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kMessageBytes = 16 * 1024;
constexpr std::size_t kMessages = 64;
constexpr Duration kStep = microseconds(10);
constexpr Duration kHour = seconds(3600);

wire::Ipv6Address address_of(std::uint16_t host) {
  return wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, host});
}

// A shard that moves only when the test says so.
class Node {
 public:
  Node(datapath::LoopbackNetwork& network, std::uint16_t host) : memory(kMessages * kMessageBytes) {
    auto datapath =
        datapath::with_faults(network.add({address_of(host)}), {.drop = 0.01, .seed = host});
    core::EndpointSettings settings;
    settings.addresses = {address_of(host)};
    settings.first_qpn = datapath::first_qpn(datapath->slot());
    shard = std::move(*Shard::open({.endpoint = settings,
                                    .seed = host,
                                    .progress = Progress::kCaller,
                                    .clock = [this] { return time; }},
                                   std::move(datapath), std::nullopt, [](const core::Event&) {}));
    shard->run([&](core::Endpoint& endpoint, Instant) {
      evs = endpoint.add_ev_profile(
          core::EvProfile::simple({.planes = 1, .evs_per_plane = 4, .seed = host}));
      congestion =
          endpoint.add_cc_profile(core::nscc_defaults({.mtu = core::nominal_size(kMtu, false),
                                                       .base_rtt = microseconds(50),
                                                       .link_bits_per_second = 10'000'000'000,
                                                       .trimming = false}));
      domain = endpoint.create_protection_domain();
      key = *endpoint.register_memory(
          {.domain = domain, .address = 0, .length = memory.size(), .bytes = memory.data()});
      qpn = *endpoint.create_queue_pair();
    });
    shard->attach(qpn, &completions, &completions);
  }

  void connect_to(const Node& peer, std::uint16_t host) {
    shard->run([&](core::Endpoint& endpoint, Instant now) {
      ASSERT_TRUE(
          endpoint.to_init(qpn, {.domain = domain, .ev_profile = evs, .cc_profile = congestion}));
      ASSERT_TRUE(endpoint.to_ready_to_recv(qpn, now,
                                            {.remote_qpn = peer.qpn,
                                             .remote_psn = Psn(1),
                                             .remote_addresses = {address_of(host)},
                                             .mtu = kMtu,
                                             .mpr_dest = 8,
                                             .max_wimm_dest = 128}));
      ASSERT_TRUE(endpoint.to_ready_to_send(qpn, now,
                                            {.first_psn = Psn(1),
                                             .mpr = 8,
                                             .max_wimm = 128,
                                             .timeout = 12,
                                             .linear_retries = 3,
                                             .exponential_retries = 2}));
    });
  }

  Instant time{seconds(1).raw()};
  std::vector<std::byte> memory;
  std::unique_ptr<Shard> shard;
  CompletionQueue completions{nullptr};
  core::EvProfileId evs{};
  core::CcProfileId congestion{};
  core::ProtectionDomain domain{};
  RKey key{};
  Qpn qpn{};
};

class ClockTest : public testing::Test {
 protected:
  ClockTest() {
    for (std::size_t i = 0; i < from.memory.size(); ++i) {
      from.memory[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    from.connect_to(to, 2);
    to.connect_to(from, 1);
    from.shard->run([&](core::Endpoint& endpoint, Instant now) {
      for (std::size_t i = 0; i < kMessages; ++i) {
        const std::span data = std::span(from.memory).subspan(i * kMessageBytes, kMessageBytes);
        ASSERT_TRUE(endpoint.post_write(from.qpn, now,
                                        {.id = i,
                                         .data = wire::Payload::of_bytes(data),
                                         .remote_address = i * kMessageBytes,
                                         .rkey = to.key}));
      }
    });
  }

  // Steps until so many messages are complete; false if that takes too many.
  bool run_until(std::size_t messages, int steps_max = 100'000) {
    for (int i = 0; i < steps_max && completed < messages; ++i) {
      if (!stands_still) from.time = from.time + kStep;
      to.time = to.time + kStep;
      from.shard->progress();
      to.shard->progress();
      std::array<Completion, 16> some;
      for (const Completion& one : std::span(some).first(from.completions.poll(some))) {
        EXPECT_EQ(one.status, core::WorkStatus::kSuccess);
        ++completed;
      }
    }
    return completed >= messages;
  }
  void expect_all() {
    EXPECT_TRUE(run_until(kMessages)) << completed;
    EXPECT_TRUE(to.memory == from.memory);
  }

  datapath::LoopbackNetwork network{};
  Node from{network, 1};
  Node to{network, 2};
  bool stands_still = false;
  std::size_t completed = 0;
};

TEST_F(ClockTest, ATransferWithLossIsComplete) { expect_all(); }

TEST_F(ClockTest, AJumpAheadCostsARetryAtMost) {
  for (const Duration jump : {seconds(1), kHour}) {
    ASSERT_TRUE(run_until(completed + 8));
    from.time = from.time + jump;
    ASSERT_TRUE(run_until(completed + 8));
    to.time = to.time + jump;
  }
  expect_all();
}

TEST_F(ClockTest, JumpsAheadAllTheTimeAreHarmless) {
  while (completed < kMessages) {
    from.time = from.time + kHour;
    to.time = to.time + seconds(1);
    ASSERT_TRUE(run_until(completed + 1));
  }
  expect_all();
}

TEST_F(ClockTest, AClockThatStandsStillDelaysWhatIsLost) {
  ASSERT_TRUE(run_until(8));
  stands_still = true;
  (void)run_until(kMessages, 5000);
  stands_still = false;
  expect_all();
}

// CLOCK_MONOTONIC never does.
TEST_F(ClockTest, AClockThatGoesBackDelaysWhatIsLostUntilItHasCaughtUp) {
  ASSERT_TRUE(run_until(8));
  from.time = from.time - milliseconds(100);
  ASSERT_TRUE(run_until(16));
  to.time = to.time - milliseconds(100);
  expect_all();
}

TEST_F(ClockTest, AClockThatGoesBackAnHourHarmsNoData) {
  ASSERT_TRUE(run_until(8));
  from.time = from.time - kHour;
  (void)run_until(kMessages, 5000);
  from.time = from.time + kHour;
  expect_all();
}

}  // namespace
}  // namespace openmrc::host
