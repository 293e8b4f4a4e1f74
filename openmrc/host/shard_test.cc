// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/datapath/decorator.h"
#include "openmrc/datapath/loopback.h"

namespace openmrc::host {
namespace {

constexpr std::size_t kPlanes = 2;
constexpr std::size_t kEvsPerPlane = 4;
constexpr std::uint32_t kMtu = 1024;

std::vector<wire::Ipv6Address> addresses_of(std::uint16_t host) {
  return {wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, host}),
          wire::Ipv6Address::of({0xfd00, 0, 0, 1, 0, 0, 0, host})};
}

// A kernel that takes its time: send() returns when it is let go.
class SlowDatapath : public datapath::Decorator {
 public:
  struct Gate {
    std::atomic<bool> is_closed = false;
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> let_go{0};
    // Of SACKs and acknowledgements that leave side by side on one path: which is first.
    int sacks_first = 0;
    int acknowledgements_first = 0;
  };
  SlowDatapath(std::unique_ptr<Datapath> inner, Gate& gate)
      : Decorator(std::move(inner)), gate_(gate) {}

  void send(std::span<const datapath::Outgoing> burst) override {
    if (gate_.is_closed) {
      gate_.entered.release();
      gate_.let_go.acquire();
    }
    for (std::size_t i = 1; i < burst.size(); ++i) note(*burst[i - 1].packet, *burst[i].packet);
    Decorator::send(burst);
  }

 private:
  template <class First, class Second>
  static bool are(const wire::Packet& first, const wire::Packet& second) {
    return std::holds_alternative<First>(first.transport.body) &&
           std::holds_alternative<Second>(second.transport.body) &&
           wire::ev_of(first) == wire::ev_of(second);
  }
  void note(const wire::Packet& first, const wire::Packet& second) {
    if (are<wire::Sack, wire::Acknowledge>(first, second)) ++gate_.sacks_first;
    if (are<wire::Acknowledge, wire::Sack>(first, second)) ++gate_.acknowledgements_first;
  }

  Gate& gate_;
};

// A shard that works only when it is told to, with one queue pair.
struct End {
  End(datapath::LoopbackNetwork& network, std::uint16_t host, std::uint8_t ev_burst = 1)
      : addresses(addresses_of(host)), memory(64 * kMtu, std::byte{0}) {
    auto datapath = std::make_unique<SlowDatapath>(network.add(addresses), gate);
    core::EndpointSettings settings{.addresses = addresses};
    settings.ev_burst = ev_burst;
    settings.request_ids = core::RequestIds::of_slot(datapath->slot().raw());
    shard =
        std::move(*Shard::open({.endpoint = settings, .seed = host, .progress = Progress::kCaller},
                               std::move(datapath), std::nullopt, [](const auto&) {}));
    shard->run([&](core::Endpoint& endpoint, Instant) {
      const auto evs = endpoint.add_ev_profile(
          core::EvProfile::simple({.planes = kPlanes, .evs_per_plane = kEvsPerPlane, .seed = 1}));
      const auto window = endpoint.add_cc_profile(
          core::FixedWindowSettings{.window = ByteCount(1 << 20), .base_rtt = milliseconds(20)});
      const auto domain = endpoint.create_protection_domain();
      rkey = *endpoint.register_memory({.domain = domain,
                                        .address = 0,
                                        .length = memory.size(),
                                        .bytes = memory.data(),
                                        .remote_write = true});
      qpn = *endpoint.create_queue_pair();
      EXPECT_TRUE(
          endpoint.to_init(qpn, {.domain = domain, .ev_profile = evs, .cc_profile = window}));
    });
    shard->attach(qpn, nullptr, nullptr);
  }
  void connect(const End& other) {
    shard->run([&](core::Endpoint& endpoint, Instant now) {
      EXPECT_TRUE(endpoint.to_ready_to_recv(
          qpn, now, {.remote_qpn = other.qpn, .remote_addresses = other.addresses, .mtu = kMtu}));
      EXPECT_TRUE(endpoint.to_ready_to_send(qpn, now, {.timeout = 24}));
    });
  }
  // How many paths of the plane are in that state.
  [[nodiscard]] std::size_t paths(Plane plane, core::EvState state) const {
    return shard->look([&](const core::Endpoint& endpoint) {
      const core::PathSet& all = endpoint.peer_of(qpn)->paths;
      std::size_t count = 0;
      for (std::uint8_t i = 0; i < all.profile().size(); ++i) {
        const core::EvIndex ev(i);
        if (all.profile().entry(ev).plane == plane && all.state(ev) == state) ++count;
      }
      return count;
    });
  }

  // Writes all of its memory.
  Result<void, core::PostError> post(const End& to) {
    return shard->post([&](core::Endpoint& endpoint, Instant now) {
      return endpoint.post_write(qpn, now,
                                 {.data = wire::Payload::of_bytes(memory), .rkey = to.rkey});
    });
  }

  std::vector<wire::Ipv6Address> addresses;
  std::vector<std::byte> memory;
  SlowDatapath::Gate gate;
  std::unique_ptr<Shard> shard;
  RKey rkey{};
  Qpn qpn{};
};

template <class Condition>
bool comes_true(End& a, End& b, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    (void)a.shard->progress();
    (void)b.shard->progress();
  }
  return condition();
}

// MRC 7.4.8, 9.3.1: what was on its way when the port was disabled is taken, and its paths are
// left.
TEST(Shard, APortThatIsDisabledTellsPeersToLeaveItsPathsUntilItIsEnabled) {
  datapath::LoopbackNetwork network;
  End from(network, 1);
  End to(network, 2);
  from.connect(to);
  to.connect(from);
  std::fill(from.memory.begin(), from.memory.end(), std::byte{7});
  from.shard->run([&](core::Endpoint& endpoint, Instant now) {
    EXPECT_TRUE(endpoint.post_write(
        from.qpn, now, {.data = wire::Payload::of_bytes(from.memory), .rkey = to.rkey}));
  });
  constexpr Plane kDisabled(1);
  to.shard->set_port_enabled(kDisabled, false);
  EXPECT_TRUE(comes_true(
      from, to, [&] { return from.paths(kDisabled, core::EvState::kAssumedBad) == kEvsPerPlane; }));
  EXPECT_EQ(from.paths(Plane(0), core::EvState::kGood), kEvsPerPlane);
  EXPECT_TRUE(comes_true(from, to, [&] { return to.memory == from.memory; }));
  to.shard->set_port_enabled(kDisabled, true);
  EXPECT_TRUE(comes_true(
      from, to, [&] { return from.paths(kDisabled, core::EvState::kGood) == kEvsPerPlane; }));
}

// The kernel takes a packet that is shorter than those before it into one message with them, but
// no longer one.
TEST(Shard, AcknowledgementsLeaveBehindTheSacksOnTheirPath) {
  datapath::LoopbackNetwork network;
  End a(network, 1, 8);
  End b(network, 2, 8);
  a.connect(b);
  b.connect(a);
  EXPECT_TRUE(comes_true(a, b, [&] {
    // There is not always room.
    (void)a.post(b);
    (void)b.post(a);
    return a.gate.sacks_first > 0 && b.gate.sacks_first > 0;
  }));
  EXPECT_EQ(a.gate.acknowledgements_first + b.gate.acknowledgements_first, 0);
}

// A thread is in the midst of sending, and stays there for as long as this lives.
class StuckInSend {
 public:
  StuckInSend(End& from, const End& to) : gate_(from.gate) {
    gate_.is_closed = true;
    sender_ = std::jthread([&from, &to] { EXPECT_TRUE(from.post(to)); });
    gate_.entered.acquire();
    gate_.is_closed = false;
  }
  ~StuckInSend() { gate_.let_go.release(); }

 private:
  SlowDatapath::Gate& gate_;
  std::jthread sender_;
};

TEST(Shard, WhoPostsDoesNotWaitForPacketsThatAreBeingSent) {
  datapath::LoopbackNetwork network;
  End from(network, 1);
  End to(network, 2);
  from.connect(to);
  to.connect(from);
  std::fill(from.memory.begin(), from.memory.end(), std::byte{7});
  {
    const StuckInSend stuck(from, to);
    EXPECT_TRUE(from.post(to));
  }
  // The thread that was stuck has sent what was posted meanwhile.
  EXPECT_GT(from.shard->look([](const core::Endpoint& endpoint) {
    return endpoint.counters().of(core::Count::kDataSent);
  }),
            from.memory.size() / kMtu);
  EXPECT_TRUE(comes_true(from, to, [&] { return to.memory == from.memory; }));
}

TEST(Shard, WhatEndsWaitsForPacketsThatAreBeingSent) {
  datapath::LoopbackNetwork network;
  End from(network, 1);
  End to(network, 2);
  from.connect(to);
  to.connect(from);
  std::future<void> ended;
  {
    const StuckInSend stuck(from, to);
    ended = std::async(std::launch::async, [&] {
      from.shard->run(
          [&](core::Endpoint& endpoint, Instant) { endpoint.destroy_queue_pair(from.qpn); });
    });
    EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  }
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

// Nothing that was posted is left behind, whoever posts and whoever drives the shard.
TEST(Shard, ManyThreadsPostAndAllOfItIsWritten) {
  constexpr int kThreads = 4;
  constexpr int kWrites = 500;
  datapath::LoopbackNetwork network;
  End from(network, 1);
  End to(network, 2);
  from.connect(to);
  to.connect(from);
  CompletionQueue completions(nullptr);
  from.shard->attach(from.qpn, &completions, nullptr);
  std::atomic<int> posted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kWrites; ++n) {
          while (!from.shard->post([&](core::Endpoint& endpoint, Instant now) {
            const auto data = std::span<const std::byte>(from.memory).first(8);
            return endpoint.post_write(from.qpn, now,
                                       {.data = wire::Payload::of_bytes(data), .rkey = to.rkey});
          })) {
            std::this_thread::yield();
          }
          ++posted;
        }
      });
    }
    std::size_t completed = 0;
    std::array<Completion, 64> done;
    EXPECT_TRUE(comes_true(from, to, [&] {
      completed += completions.poll(done);
      return completed == std::size_t{kThreads} * kWrites;
    }));
  }
  EXPECT_EQ(posted, kThreads * kWrites);
}

}  // namespace
}  // namespace openmrc::host
