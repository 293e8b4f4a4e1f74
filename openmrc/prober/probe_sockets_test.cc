// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/prober/probe_sockets.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::prober {
namespace {

constexpr std::uint16_t kPort = 28517;
constexpr wire::Ipv6Address kOwn = wire::Ipv6Address::of({0xfd4d, 0x5243, 0, 2, 0, 0, 1, 3});
constexpr wire::Ipv6Address kSelf = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});
constexpr wire::Ipv6Address kCarrier =
    wire::Ipv6Address::of({0xfcbb, 0xbb00, 0x4012, 0xc022, 0, 0, 0, 0});

TEST(Encapsulated, IsAPacketFromTheHostToItself) {
  std::array<std::byte, mapper::kProbeSize> probe{};
  mapper::write_probe({.round = 7}, {1, 2}, probe);
  const ProbePacket packet =
      encapsulated(kOwn, wire::UsidCarrier(kCarrier), kPort, wire::Dscp(46), probe);
  const std::span<const std::byte> all(packet.bytes);
  const auto outer = wire::Ipv6::read(*wire::Ipv6View::over(all));
  EXPECT_EQ(outer.source, kOwn);
  EXPECT_EQ(outer.destination, kCarrier);
  EXPECT_EQ(outer.next_header, wire::IpProtocol::kIpv6);
  EXPECT_EQ(outer.dscp, wire::Dscp(46));
  EXPECT_EQ(outer.payload_length, all.size() - wire::kIpv6Size);
  const auto inner = wire::Ipv6::read(*wire::Ipv6View::over(all.subspan(wire::kIpv6Size)));
  EXPECT_EQ(inner.source, kOwn);
  EXPECT_EQ(inner.destination, kOwn);
  EXPECT_EQ(inner.next_header, wire::IpProtocol::kUdp);
  EXPECT_EQ(inner.payload_length, outer.payload_length - wire::kIpv6Size);
  const auto udp = wire::Udp::read(*wire::UdpView::over(all.subspan(2 * wire::kIpv6Size)));
  EXPECT_EQ(udp.length, inner.payload_length);
  EXPECT_EQ(udp.destination_port.raw(), kPort);
  EXPECT_TRUE(std::ranges::equal(all.last(mapper::kProbeSize), probe));
}

TEST(ProbeSockets, GiveWhateverArrivesCutToTheBuffer) {
  auto sockets =
      ProbeSockets::open(datapath::Mode::kUsid, {.address = kSelf}, kPort, wire::Dscp(46));
  ASSERT_TRUE(sockets) << sockets.error().what;
  std::array<std::byte, mapper::kProbeSize + 1> buffer{};
  EXPECT_FALSE(sockets->receive(buffer));
  const datapath::FileDescriptor other(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const datapath::SocketAddress to(kSelf, kPort);
  for (const std::size_t size : {0u, 1u, 40u, 1000u}) {
    const std::vector<std::byte> bytes(size);
    ASSERT_EQ(::sendto(other.get(), bytes.data(), size, 0, to.get(), to.size()),
              static_cast<ssize_t>(size));
    const auto received = sockets->receive(buffer);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->size(), std::min(size, buffer.size()));
  }
  EXPECT_EQ(sockets->dropped(), 0u);
}

TEST(ProbeSockets, SayThatThePortIsTaken) {
  const datapath::Port port{.address = kSelf};
  const auto first = ProbeSockets::open(datapath::Mode::kUsid, port, kPort, wire::Dscp(46));
  ASSERT_TRUE(first);
  const auto second = ProbeSockets::open(datapath::Mode::kUsid, port, kPort, wire::Dscp(46));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().remedy.find("udp_port"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::prober
