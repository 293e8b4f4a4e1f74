// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "openmrc/datapath/arrival.h"
#include "openmrc/datapath/test_packets.h"

namespace openmrc::datapath {
namespace {

using wire::Ipv6Address;

constexpr Ipv6Address kOwn = Ipv6Address::of({0xfcbb, 0xbb00, 0x101, 0, 0, 0, 0, 0});
constexpr Ipv6Address kPeer = Ipv6Address::of({0xfcbb, 0xbb00, 0x102, 0, 0, 0, 0, 0});
constexpr Ipv6Address kCarrier = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0});

Settings settings_for(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.ports = {{.interface = "eth0", .address = kOwn}};
  return settings;
}

wire::Packet packet_for(Mode mode, ConstBytes data) {
  wire::Ipv6Route route{.source = kOwn, .destination = kPeer, .ev = Ev(0x1234'c001)};
  if (mode != Mode::kUdp) {
    route.encapsulation = wire::SrEncapsulation{.source = kOwn, .destination = kCarrier};
  }
  return test_write(route, data);
}

TEST(Envelope, AddressesThePeerOrThePath) {
  const auto data = test_data(10);
  for (const Mode mode : {Mode::kUdp, Mode::kUsid, Mode::kSrv6}) {
    const auto packet = packet_for(mode, data);
    Envelope envelope;
    ASSERT_TRUE(fill_envelope({.packet = &packet}, settings_for(mode), envelope));
    const Envelope expected{
        .to = mode == Mode::kUdp ? kPeer : kCarrier,
        .flow_label = 0x1234,
        .udp_port = wire::kUdpPortRoce,
        .source_port = 0xc001,
        .traffic_byte = wire::traffic_byte(wire::Dscp(10), wire::Ecn::kCapable0)};
    EXPECT_TRUE(envelope == expected);
  }
}

bool is_possible(const wire::Packet& packet, Mode mode) {
  Envelope envelope;
  return fill_envelope({.packet = &packet}, settings_for(mode), envelope);
}

TEST(Envelope, IsRefusedWhenTheRouteIsOfAnotherMode) {
  const auto data = test_data(10);
  EXPECT_FALSE(is_possible(packet_for(Mode::kSrv6, data), Mode::kUdp));
  EXPECT_FALSE(is_possible(packet_for(Mode::kUdp, data), Mode::kUsid));
  EXPECT_FALSE(is_possible(packet_for(Mode::kUdp, data), Mode::kSrv6));
}

TEST(Envelope, IsRefusedWhenThereIsNoPath) {
  const auto data = test_data(10);
  auto no_path = packet_for(Mode::kUsid, data);
  std::get<wire::Ipv6Route>(no_path.route).encapsulation->destination =
      Ipv6Address::of({0xfcbb, 0xbb00, 0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(is_possible(no_path, Mode::kUsid));
  auto ipv4 = packet_for(Mode::kUdp, data);
  ipv4.route = wire::Ipv4Route{};
  EXPECT_FALSE(is_possible(ipv4, Mode::kUdp)) << "the ports have IPv6 addresses";
}

// The kernel binds to the port's address, whatever the record says.
TEST(Frame, OverIpv4HasTheIcrcOfThePortsAddress) {
  constexpr wire::Ipv4Address kOwn4(0x0a00'0001);
  constexpr wire::Ipv4Address kPeer4(0x0a00'0002);
  Settings settings = settings_for(Mode::kUdp);
  for (Port& port : settings.ports) port.address = wire::mapped(kOwn4);
  const auto data = test_data(1001);
  auto packet = packet_for(Mode::kUdp, data);
  packet.route = wire::Ipv4Route{
      .source = wire::Ipv4Address(0x01020304), .destination = kPeer4, .ev_low = 0xc001};
  Envelope envelope;
  ASSERT_TRUE(fill_envelope({.packet = &packet}, settings, envelope));
  EXPECT_EQ(envelope.to, wire::mapped(kPeer4));
  EXPECT_EQ(envelope.source_port, 0xc001);
  EXPECT_EQ(envelope.flow_label, 0u);

  Frame frame;
  write_frame({.packet = &packet}, settings, frame);
  std::vector<std::byte> buffer(kRoomInFront);
  for (const ConstBytes piece : {ConstBytes(frame.headers), frame.payload, frame.trailer.bytes()}) {
    buffer.insert(buffer.end(), piece.begin(), piece.end());
  }
  const Arrival arrival{.source = wire::mapped(kOwn4),
                        .destination = wire::mapped(kPeer4),
                        .source_port = 0xc001,
                        .traffic_byte = envelope.traffic_byte};
  wire::Packet got;
  ASSERT_TRUE(
      decode_in_place({arrival, frame.size(), wire::kUdpPortRoce}, buffer, kRoomInFront, {}, got));
  EXPECT_EQ(std::get<wire::Ipv4Route>(got.route),
            (wire::Ipv4Route{.source = kOwn4, .destination = kPeer4, .ev_low = 0xc001}));
}

// What arrives behind the last switch, put together again (WIRE-77).
TEST(Frame, HasTheIcrcThatIsRightAtTheEndOfThePath) {
  const auto data = test_data(1001);
  for (const Mode mode : {Mode::kUdp, Mode::kUsid}) {
    const auto packet = packet_for(mode, data);
    Frame frame;
    write_frame({.packet = &packet}, settings_for(mode), frame);
    std::vector<std::byte> buffer(kRoomInFront);
    buffer.insert(buffer.end(), frame.headers.begin(), frame.headers.end());
    buffer.insert(buffer.end(), frame.payload.begin(), frame.payload.end());
    const ConstBytes trailer = frame.trailer.bytes();
    buffer.insert(buffer.end(), trailer.begin(), trailer.end());
    EXPECT_EQ(frame.size(), buffer.size() - kRoomInFront);
    const Arrival arrival{.source = kOwn,
                          .destination = kPeer,
                          .flow_label = 0x1234,
                          .source_port = 0xc001,
                          .traffic_byte = wire::traffic_byte(wire::Dscp(10), wire::Ecn::kCapable0)};
    const TakenHeaders headers(arrival, frame.size(), wire::kUdpPortRoce);
    wire::Packet got;
    EXPECT_TRUE(decode_in_place(headers, buffer, kRoomInFront, {}, got));
    buffer.back() ^= std::byte{1};
    EXPECT_EQ(decode_in_place(headers, buffer, kRoomInFront, {}, got),
              failure(wire::Reject::kIcrcMismatch));
  }
}

TEST(Frame, RefersToThePayloadWhereItLies) {
  const auto data = test_data(100);
  const auto packet = packet_for(Mode::kUdp, data);
  Frame frame;
  write_frame({.packet = &packet}, settings_for(Mode::kUdp), frame);
  EXPECT_EQ(frame.payload.data(), data.data());
}

TEST(Frame, CanGoWithoutIcrcOrWithAWrongOne) {
  const auto data = test_data(6);  // two bytes of padding
  const auto packet = packet_for(Mode::kUdp, data);
  Settings settings = settings_for(Mode::kUdp);
  Frame right;
  Frame spoilt;
  write_frame({.packet = &packet}, settings, right);
  write_frame({.packet = &packet, .is_spoilt = true}, settings, spoilt);
  EXPECT_FALSE(std::ranges::equal(right.trailer.bytes(), spoilt.trailer.bytes()));
  settings.send_icrc = false;
  Frame without;
  write_frame({.packet = &packet}, settings, without);
  ASSERT_EQ(without.trailer.size, 6u);
  for (const std::byte byte : without.trailer.bytes()) EXPECT_EQ(byte, std::byte{0});
}

}  // namespace
}  // namespace openmrc::datapath
