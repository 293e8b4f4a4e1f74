// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/loopback.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "openmrc/datapath/test_packets.h"

namespace openmrc::datapath {
namespace {

using wire::Ipv6Address;

constexpr Ipv6Address kA0 = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xa});
constexpr Ipv6Address kA1 = Ipv6Address::of({0xfd01, 0, 0, 0, 0, 0, 0, 0xa});
constexpr Ipv6Address kB0 = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xb});
constexpr Ipv6Address kB1 = Ipv6Address::of({0xfd01, 0, 0, 0, 0, 0, 0, 0xb});

void send_one(Datapath& from, const wire::Packet& packet, Plane plane = Plane(0)) {
  from.send(std::array{Outgoing{.packet = &packet, .plane = plane}});
}

TEST(Loopback, CarriesPacketsToTheirAddressInTheirPlane) {
  LoopbackNetwork network;
  const auto a = network.add({kA0, kA1});
  const auto b = network.add({kB0, kB1});
  const auto data = test_data(300);
  send_one(*a, test_write({.source = kA1, .destination = kB1, .ev = Ev(9)}, data, 1), Plane(1));
  const Collected got = collect(*b, 1);
  ASSERT_EQ(got.incoming.size(), 1u);
  EXPECT_EQ(got.data[0], data);
  EXPECT_EQ(got.incoming[0].plane, Plane(1));
  EXPECT_EQ(route_of(got.incoming[0]).ev, Ev(9));
  EXPECT_EQ(collect(*a, 1, 0).incoming.size(), 0u);
}

TEST(Loopback, TakesTheEncapsulationOff) {
  LoopbackNetwork network;
  const auto a = network.add({kA0});
  const auto b = network.add({kB0});
  const auto data = test_data(30);
  wire::Ipv6Route route{.source = kA0, .destination = kB0};
  route.encapsulation = wire::SrEncapsulation{.source = kA0, .destination = kA1};
  send_one(*a, test_write(route, data));
  const Collected got = collect(*b, 1);
  ASSERT_EQ(got.incoming.size(), 1u);
  EXPECT_FALSE(route_of(got.incoming[0]).encapsulation);
}

TEST(Loopback, CountsWhatNobodyTakes) {
  LoopbackNetwork network({}, 2);
  const auto a = network.add({kA0});
  const auto b = network.add({kB0});
  const auto data = test_data(30);
  send_one(*a, test_write({.source = kA0, .destination = kA1}, data));
  EXPECT_EQ(a->counters().of(Count::kSendNoRoute), 1u);
  for (int i = 0; i < 3; ++i) send_one(*a, test_write({.source = kA0, .destination = kB0}, data));
  EXPECT_EQ(a->counters().of(Count::kSendNoMemory), 1u);
  EXPECT_EQ(collect(*b, 3, 0).incoming.size(), 2u);
}

TEST(Loopback, SharesAHostByQueuePairs) {
  LoopbackNetwork network;
  const auto a = network.add({kA0});
  const auto first = network.add({kB0});
  const auto second = network.add({kB0});
  ASSERT_EQ(second->slot(), Slot(1));
  const auto data = test_data(30);
  send_one(*a, test_write({.source = kA0, .destination = kB0}, data, 0, first_qpn(Slot(1))));
  EXPECT_EQ(collect(*second, 1).incoming.size(), 1u);
  EXPECT_EQ(collect(*first, 1, 0).incoming.size(), 0u);
}

TEST(Loopback, WorksBetweenThreads) {
  LoopbackNetwork network({}, 100'000);
  const auto a = network.add({kA0});
  const auto b = network.add({kB0});
  const auto data = test_data(30);
  std::jthread sending([&] {
    for (std::uint32_t i = 0; i < 5000; ++i) {
      send_one(*a, test_write({.source = kA0, .destination = kB0}, data, i));
    }
  });
  const Collected got = collect(*b, 5000);
  ASSERT_EQ(got.incoming.size(), 5000u);
  for (std::uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(write_of(got.incoming[i]).psn, Psn(i));
}

}  // namespace
}  // namespace openmrc::datapath
