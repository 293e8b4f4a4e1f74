// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/frame_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/trim.h"
#include "openmrc/xdp/test_frames.h"

namespace openmrc::xdp {
namespace {

TEST(ReadFrame, FindsTheDatagram) {
  const auto data = datapath::test_data(100);
  for (const Kind kind : kKinds) {
    const Bytes frame = frame_of(packet_of(kind, data));
    const auto parts = read_frame(frame);
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->outer_at, kEthernet);
    EXPECT_EQ(parts->inner_at == parts->outer_at, kind == Kind::kPlain);
    EXPECT_EQ(parts->datagram.data() + parts->datagram.size(), frame.data() + frame.size());
    const datapath::Arrival arrival = arrival_of(frame, *parts);
    EXPECT_EQ(arrival.source, kA);
    EXPECT_EQ(arrival.destination, kB);
    EXPECT_EQ(arrival.flow_label, wire::ev_high(Ev(0x1234'c001)));
    EXPECT_EQ(arrival.source_port, wire::ev_low(Ev(0x1234'c001)));
    EXPECT_EQ(arrival.traffic_byte,
              wire::traffic_byte(wire::DscpMap{}.trimmable, wire::Ecn::kCapable0));
  }
}

TEST(ReadFrame, LeavesPaddingOut) {
  const auto data = datapath::test_data(100);
  Bytes frame = frame_of(packet_of(Kind::kSrv6, data));
  const std::size_t size = read_frame(frame)->datagram.size();
  frame.resize(frame.size() + 20);
  EXPECT_EQ(read_frame(frame)->datagram.size(), size);
}

// As a switch does it that changes the outer header alone.
TEST(ReadFrame, SeesWhatTheOuterHeaderSays) {
  const auto data = datapath::test_data(4096);
  for (const Kind kind : {Kind::kSrv6, Kind::kSrh}) {
    Bytes marked = frame_of(packet_of(kind, data));
    marked[kEthernet + 1] |= std::byte{0x30};
    EXPECT_EQ(wire::ecn_of(arrival_of(marked, *read_frame(marked)).traffic_byte),
              wire::Ecn::kCongested);

    Bytes trimmed = frame_of(packet_of(kind, data));
    const auto size =
        wire::trim_packet(std::span(trimmed).subspan(kEthernet), wire::TrimPlace::kOnPath, {},
                          wire::MarkedHeaders::kOutermost);
    ASSERT_TRUE(size);
    trimmed.resize(kEthernet + *size);
    const auto parts = read_frame(trimmed);
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->datagram.size(), wire::kTrimKept - wire::kUdpSize);
    EXPECT_EQ(wire::dscp_of(arrival_of(trimmed, *parts).traffic_byte), wire::DscpMap{}.trimmed);
  }
}

TEST(ReadFrame, RefusesWhatIsCutOff) {
  const auto data = datapath::test_data(8);
  for (const Kind kind : kKinds) {
    const Bytes frame = frame_of(packet_of(kind, data));
    const std::size_t headers = frame.size() - read_frame(frame)->datagram.size();
    for (std::size_t size = 0; size < headers; ++size) {
      EXPECT_FALSE(read_frame(ConstBytes(frame).first(size))) << size;
    }
    EXPECT_TRUE(read_frame(ConstBytes(frame).first(headers)));
  }
}

TEST(ReadFrame, RefusesOtherProtocols) {
  const auto data = datapath::test_data(8);
  Bytes tcp = frame_of(packet_of(Kind::kPlain, data));
  tcp[kEthernet + 6] = std::byte{6};
  EXPECT_FALSE(read_frame(tcp));
  Bytes ipv4 = frame_of(packet_of(Kind::kPlain, data));
  ipv4[kEthernet] = std::byte{0x45};
  EXPECT_FALSE(read_frame(ipv4));
  Bytes deeper = frame_of(packet_of(Kind::kSrv6, data));
  deeper[kEthernet + wire::kIpv6Size + 6] = std::byte{41};
  EXPECT_FALSE(read_frame(deeper));
}

}  // namespace
}  // namespace openmrc::xdp
