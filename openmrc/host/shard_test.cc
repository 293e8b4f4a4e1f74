// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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

// A shard that works only when it is told to, with one queue pair.
struct End {
  End(datapath::LoopbackNetwork& network, std::uint16_t host)
      : addresses(addresses_of(host)), memory(64 * kMtu, std::byte{0}) {
    auto datapath = network.add(addresses);
    core::EndpointSettings settings{.addresses = addresses};
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
    return shard->look([&](const core::Endpoint& endpoint, const datapath::Datapath&) {
      const core::PathSet& all = endpoint.peer_of(qpn)->paths;
      std::size_t count = 0;
      for (std::uint8_t i = 0; i < all.profile().size(); ++i) {
        const core::EvIndex ev(i);
        if (all.profile().entry(ev).plane == plane && all.state(ev) == state) ++count;
      }
      return count;
    });
  }

  std::vector<wire::Ipv6Address> addresses;
  std::vector<std::byte> memory;
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

}  // namespace
}  // namespace openmrc::host
