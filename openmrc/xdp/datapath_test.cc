// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/datapath.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/xdp/frame_socket.h"
#include "openmrc/xdp/open.h"
#include "openmrc/xdp/test_hosts.h"

namespace openmrc::xdp {
namespace {

using datapath::Count;
using datapath::to_string;

// What is collected if one packet has arrived.
std::vector<std::vector<std::byte>> one(const std::vector<std::byte>& data) { return {data}; }

class Xdp : public TwoHosts {
 protected:
  struct Three {
    std::unique_ptr<datapath::Datapath> from, first, second;
  };
  [[nodiscard]] Three one_to_two_shards() const {
    know_neighbour();
    return {.from = opened(a_, settings("a0", kA)),
            .first = opened(b_, settings("b0", kB)),
            .second = opened(b_, settings("b0", kB))};
  }
};

TEST_F(Xdp, CarriesPacketsOfEverySize) {
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  std::uint32_t psn = 0;
  for (const std::size_t size : {1u, 8u, 1000u, 3700u, 3800u, 3840u, 4000u, 4095u, 4096u}) {
    const auto data = datapath::test_data(size);
    const auto sent = packet(data, to->slot(), ++psn);
    from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
    const auto got = datapath::collect(*to, 1);
    ASSERT_EQ(got.incoming.size(), 1u) << size;
    EXPECT_EQ(got.data[0], data) << size;
    EXPECT_EQ(datapath::write_of(got.incoming[0]).psn, Psn(psn));
  }
  EXPECT_EQ(from->counters().of(Count::kFramesSent), psn);
  EXPECT_EQ(to->counters().of(Count::kFramesReceived), psn);
}

// The first packets go by the kernel, which asks who has the address.
TEST_F(Xdp, FindsItsNeighbour) {
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  const auto data = datapath::test_data(1000);
  const auto sent = packet(data, to->slot());
  std::array<datapath::Incoming, 1> none;
  for (int i = 1; i <= 100 && from->counters().of(Count::kFramesSent) == 0; ++i) {
    // It looks at the network only now and then.
    EXPECT_EQ(a_.in([&] { return from->receive(Instant(i * 20'000'000), none); }), 0u);
    from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
    EXPECT_EQ(datapath::collect(*to, 1).data, one(data));
  }
  EXPECT_GT(from->counters().of(Count::kFramesSent), 0u);
  EXPECT_GT(from->counters().of(Count::kPacketsSent), from->counters().of(Count::kFramesSent));
}

// More than there are frames, and more than the kernel takes at once.
TEST_F(Xdp, SendsBurstsWithoutLoss) {
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  const auto data = datapath::test_data(4096);
  const std::vector<wire::Packet> packets(32, packet(data, to->slot()));
  const auto burst = datapath::burst_of(packets);
  std::size_t received = 0;
  for (int i = 0; i < 200; ++i) {
    from->send(burst);
    received += datapath::collect(*to, burst.size()).data.size();
  }
  EXPECT_EQ(received, 200 * burst.size());
  // None of them by another way for want of memory: all of it comes back.
  EXPECT_EQ(from->counters().of(Count::kFramesSent), received);
}

// They arrive on whichever queue the sending kernel's hash chooses.
TEST_F(Xdp, TakesFramesOfEveryQueue) {
  constexpr std::uint32_t kPackets = 64;
  disconnect();
  connect(4);
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA, datapath::Mode::kSrv6));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  const auto data = datapath::test_data(100);
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    auto sent = packet(data, to->slot(), i);
    std::get<wire::Ipv6Route>(sent.route).ev = wire::join_ev(i * 7919, 0xc001);
    from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
  }
  EXPECT_EQ(datapath::collect(*to, kPackets).data.size(), kPackets);
  EXPECT_EQ(to->counters().of(Count::kFramesReceived), kPackets);
}

// Frames of a port whose packets fit into one chunk of memory.
TEST_F(Xdp, CarriesPacketsOfAShortMtu) {
  know_neighbour();
  a_.ip("link set a0 mtu 1500");
  b_.ip("link set b0 mtu 1500");
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  for (const std::size_t size : {8u, 1024u, 1360u}) {
    const auto data = datapath::test_data(size);
    const auto sent = packet(data, to->slot());
    from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
    EXPECT_EQ(datapath::collect(*to, 1).data, one(data));
  }
  const auto data = datapath::test_data(1500);
  const auto sent = packet(data, to->slot());
  from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
  EXPECT_EQ(from->counters().of(Count::kSendTooLong), 1u);
}

// Somebody who does not listen for a while knows afterwards what he has missed.
TEST_F(Xdp, CountsWhatTheKernelHadNoRoomFor) {
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  const auto data = datapath::test_data(64);
  const std::vector<wire::Packet> packets(32, packet(data, to->slot()));
  constexpr std::size_t kBursts = FrameSocket::kReceiveFrames / 32 + 10;
  for (std::size_t i = 0; i < kBursts; ++i) from->send(datapath::burst_of(packets));
  std::vector<datapath::Incoming> some(32);
  std::size_t received = 0;
  const auto drain = [&](Instant now) {
    for (;;) {
      const std::size_t got = to->receive(now, some);
      if (got == 0) return;
      received += got;
    }
  };
  b_.in([&] { drain(Instant(1)); });
  EXPECT_EQ(received, FrameSocket::kReceiveFrames);
  b_.in([&] { drain(Instant(2'000'000'000)); });  // it looks now and then
  EXPECT_EQ(to->counters().of(Count::kFramesDropped), kBursts * 32 - received);
}

TEST_F(Xdp, ASecondShardGetsItsPacketsToo) {
  const auto [from, first, second] = one_to_two_shards();
  ASSERT_TRUE(from && first && second);
  const auto data = datapath::test_data(500);
  for (const auto* to : {&first, &second}) {
    const auto sent = packet(data, (*to)->slot());
    from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
    EXPECT_EQ(datapath::collect(**to, 1).data, one(data));
  }
  EXPECT_EQ(first->counters().of(Count::kFramesReceived), 1u);
  EXPECT_EQ(second->counters().of(Count::kFramesReceived), 0u);
}

// Each opens its ports while the other does, and takes what is its own.
TEST_F(Xdp, ShardsHaveThreadsOfTheirOwn) {
  constexpr std::size_t kPackets = 320;
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  ASSERT_TRUE(from);
  std::array<std::promise<std::optional<datapath::Slot>>, 2> slots;
  std::array<std::size_t, 2> received{};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const auto shard = opened(b_, settings("b0", kB));
      slots[i].set_value(shard ? std::optional(shard->slot()) : std::nullopt);
      if (shard) received[i] = datapath::collect(*shard, kPackets).data.size();
    });
  }
  const auto data = datapath::test_data(64);
  for (auto& each : slots) {
    const auto slot = each.get_future().get();
    ASSERT_TRUE(slot);
    const std::vector<wire::Packet> packets(32, packet(data, *slot));
    for (std::size_t i = 0; i < kPackets / 32; ++i) from->send(datapath::burst_of(packets));
  }
  threads.clear();
  EXPECT_EQ(received, (std::array{kPackets, kPackets}));
}

// Of a packet that a switch has marked in its outer header, the kernel would lose the mark.
TEST_F(Xdp, AMarkedPacketIsPassedOnToItsShard) {
  const auto [from, first, second] = one_to_two_shards();
  ASSERT_TRUE(from && first && second);
  const auto data = datapath::test_data(500);
  auto sent = packet(data, second->slot());
  sent.ecn = wire::Ecn::kCongested;
  from->send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
  EXPECT_TRUE(datapath::collect(*first, 1, 500).data.empty());
  const auto got = datapath::collect(*second, 1);
  ASSERT_EQ(got.data, one(data));
  EXPECT_EQ(got.incoming[0].packet.ecn, wire::Ecn::kCongested);
  EXPECT_EQ(first->counters().of(Count::kForwarded), 1u);
}

TEST_F(Xdp, SaysWhoHasTheInterface) {
  b_.shell("ip link set dev b0 mtu 1500");
  const auto first = opened(b_, settings("b0", kB));
  ASSERT_TRUE(first);
  // Another user's folder stands for another user.
  b_.in([&] {
    ASSERT_EQ(::setenv("OPENMRC_RUNTIME_DIR", "/tmp/openmrc-xdp-test", 1), 0);
    auto other = settings("b0", kB);
    other.wire.udp_port = wire::UdpPort(static_cast<std::uint16_t>(other.wire.udp_port.raw() + 1));
    const auto second = xdp::open(other);
    ::unsetenv("OPENMRC_RUNTIME_DIR");
    ASSERT_FALSE(second);
    EXPECT_NE(to_string(second.error()).find("XDP program of another program"), std::string::npos)
        << to_string(second.error());
  });
}

// The program in the kernel is that of one of them, and hears what switches say for all.
TEST_F(Xdp, SaysWhatAnotherProcessHasTheInterfaceFor) {
  const auto first = opened(b_, settings("b0", kB));
  ASSERT_TRUE(first);
  b_.in([&] {
    auto other = settings("b0", kB);
    other.wire.udp_port = wire::UdpPort(4000);
    const auto second = xdp::open(other);
    ASSERT_FALSE(second);
    const std::string text = to_string(second.error());
    EXPECT_NE(
        text.find("for address fd00::2, UDP port " + std::to_string(datapath::test_port().raw())),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("wants address fd00::2, UDP port 4000"), std::string::npos) << text;
  });
}

TEST_F(Xdp, RefusesAnInterfaceWithoutEthernet) {
  if (::access("/dev/net/tun", W_OK) != 0) GTEST_SKIP() << "no /dev/net/tun";
  b_.ip("tuntap add t0 mode tun");
  b_.in([&] {
    const auto path = xdp::open(settings("t0", kB));
    ASSERT_FALSE(path);
    EXPECT_NE(to_string(path.error()).find("the frames of t0 are not Ethernet"), std::string::npos)
        << to_string(path.error());
  });
}

TEST_F(Xdp, NamesAnInterfaceThatIsNotThere) {
  b_.in([&] {
    const auto missing = xdp::open(settings("b7", kB));
    ASSERT_FALSE(missing);
    EXPECT_NE(to_string(missing.error()).find("b7"), std::string::npos);
  });
}

}  // namespace
}  // namespace openmrc::xdp
