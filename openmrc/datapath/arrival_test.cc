// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/arrival.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/encode.h"

namespace openmrc::datapath {
namespace {

constexpr wire::Ipv6Address kFrom = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr wire::Ipv6Address kTo = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
constexpr Ev kEv{0x5678'c00d};

// A buffer as a socket leaves it: rubbish, a datagram at kRoomInFront, rubbish.
struct Delivered {
  std::vector<std::byte> buffer;
  std::size_t size;
  Arrival arrival{.source = kFrom,
                  .destination = kTo,
                  .flow_label = 0x5678,
                  .source_port = 0xc00d,
                  .traffic_byte = wire::traffic_byte(wire::Dscp(10), wire::Ecn::kCongested)};

  explicit Delivered(ConstBytes data) {
    auto packet = test_write({.source = kFrom, .destination = kTo, .ev = kEv}, data, 3);
    packet.ecn = wire::Ecn::kCongested;
    buffer.resize(wire::encoded_size(packet));
    wire::encode_packet(packet, {}, buffer);
    std::fill_n(buffer.begin(), kRoomInFront, std::byte{0xee});
    size = buffer.size() - kRoomInFront;
    buffer.resize(buffer.size() + 10, std::byte{0xdd});
  }
  Result<void, wire::Reject> decode(wire::Packet& into) {
    return decode_in_place({arrival, size, wire::kUdpPortRoce}, buffer, kRoomInFront, {}, into);
  }
};

TEST(DecodeInPlace, GivesThePacketAndLeavesTheBytes) {
  const auto data = test_data(777);
  Delivered delivered(data);
  const auto before = delivered.buffer;
  wire::Packet packet;
  ASSERT_TRUE(delivered.decode(packet));
  EXPECT_EQ(delivered.buffer, before);
  EXPECT_EQ(wire::ev_of(packet), kEv);
  EXPECT_EQ(packet.ecn, wire::Ecn::kCongested);
  EXPECT_EQ(packet.traffic_class, wire::TrafficClass::kTrimmable);
  EXPECT_TRUE(
      std::ranges::equal(std::get<wire::RdmaWrite>(packet.transport.body).payload.bytes(), data));
}

TEST(DecodeInPlace, ChecksTheIcrcOverWhatTheSocketSaid) {
  const auto data = test_data(64);
  wire::Packet packet;
  Delivered flipped(data);
  flipped.buffer[kRoomInFront + 70] ^= std::byte{4};
  EXPECT_EQ(flipped.decode(packet), failure(wire::Reject::kIcrcMismatch));
  Delivered elsewhere(data);
  elsewhere.arrival.destination = kFrom;
  EXPECT_EQ(elsewhere.decode(packet), failure(wire::Reject::kIcrcMismatch));
  Delivered other_port(data);
  other_port.arrival.source_port ^= 1;
  EXPECT_EQ(other_port.decode(packet), failure(wire::Reject::kIcrcMismatch));
}

// WIRE-81
TEST(DecodeInPlace, KnowsTrimmedPacketsByTheirDscp) {
  Delivered delivered(test_data(64));
  delivered.arrival.traffic_byte = wire::traffic_byte(wire::Dscp(22), wire::Ecn::kCapable0);
  delivered.size = 56;
  wire::Packet packet;
  ASSERT_TRUE(delivered.decode(packet));
  EXPECT_EQ(std::get<wire::TrimmedWrite>(packet.transport.body).place, wire::TrimPlace::kLastHop);
}

TEST(DecodeInPlace, NamesWhatIsTooShort) {
  Delivered delivered(test_data(64));
  wire::Packet packet;
  delivered.size = 0;
  EXPECT_EQ(delivered.decode(packet), failure(wire::Reject::kBthTruncated));
  delivered.size = 15;
  EXPECT_EQ(delivered.decode(packet), failure(wire::Reject::kBthTruncated));
}

// ---- Control messages ----

// What the kernel fills in, made by hand.
class Given {
 public:
  Given() {
    from_.sin6_family = AF_INET6;
    from_.sin6_port = htons(0xc00d);
    std::memcpy(&from_.sin6_addr, kFrom.bytes.data(), 16);
    message_.msg_name = &from_;
    message_.msg_namelen = sizeof from_;
    message_.msg_control = control_.data();
    message_.msg_controllen = 0;
  }
  template <class T>
  Given& with(int level, int type, const T& value) {
    const cmsghdr header{
        .cmsg_len = CMSG_LEN(sizeof value), .cmsg_level = level, .cmsg_type = type};
    std::byte* const at = control_.data() + message_.msg_controllen;
    std::memcpy(at, &header, sizeof header);
    std::memcpy(at + CMSG_LEN(0), &value, sizeof value);
    message_.msg_controllen += CMSG_SPACE(sizeof value);
    return *this;
  }
  Given& with_destination() {
    in6_pktinfo info{};
    std::memcpy(&info.ipi6_addr, kTo.bytes.data(), 16);
    return with(IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
  Given& with_traffic_class(int value) { return with(IPPROTO_IPV6, IPV6_TCLASS, value); }
  msghdr& message() { return message_; }

 private:
  sockaddr_in6 from_{};
  alignas(cmsghdr) std::array<std::byte, 256> control_{};
  msghdr message_{};
};

TEST(ReadMessage, TakesEverythingFromTheControlData) {
  Given given;
  given.with_destination().with_traffic_class(0x2b);
  given.with(IPPROTO_IPV6, 11, htonl(0x2bf'5678)).with(IPPROTO_UDP, 104, 4200);
  const auto message = read_message(given.message());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->arrival.source, kFrom);
  EXPECT_EQ(message->arrival.destination, kTo);
  EXPECT_EQ(message->arrival.source_port, 0xc00d);
  EXPECT_EQ(message->arrival.traffic_byte, 0x2b);
  EXPECT_EQ(message->arrival.flow_label, 0xf5678u);
  EXPECT_EQ(message->segment_size, 4200u);
}

TEST(ReadMessage, NeedsDestinationAndTrafficClass) {
  EXPECT_TRUE(read_message(Given().with_destination().with_traffic_class(0).message()));
  EXPECT_FALSE(read_message(Given().with_destination().message()));
  EXPECT_FALSE(read_message(Given().with_traffic_class(0).message()));
  EXPECT_FALSE(read_message(Given().with_destination().with_traffic_class(256).message()));
}

TEST(ReadMessage, TakesTheSameOfIpv4) {
  const auto byte = [](Given& given, std::uint8_t value) { given.with(IPPROTO_IP, IP_TOS, value); };
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_port = htons(0xc00d);
  from.sin_addr.s_addr = htonl(0x0a00'0001);
  in_pktinfo info{};
  info.ipi_addr.s_addr = htonl(0x0a00'0002);
  Given given;
  given.message().msg_name = &from;
  given.message().msg_namelen = sizeof from;
  given.with(IPPROTO_IP, IP_PKTINFO, info);
  EXPECT_FALSE(read_message(given.message())) << "no traffic class";
  byte(given, 0x2b);
  const auto message = read_message(given.message());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->arrival, (Arrival{.source = wire::mapped(wire::Ipv4Address(0x0a00'0001)),
                                       .destination = wire::mapped(wire::Ipv4Address(0x0a00'0002)),
                                       .source_port = 0xc00d,
                                       .traffic_byte = 0x2b}));
}

TEST(ReadMessage, RefusesWhatWasCut) {
  for (const int flag : {MSG_TRUNC, MSG_CTRUNC}) {
    Given given;
    given.with_destination().with_traffic_class(0).message().msg_flags = flag;
    EXPECT_FALSE(read_message(given.message()));
  }
  Given no_sender;
  no_sender.with_destination().with_traffic_class(0).message().msg_namelen = 0;
  EXPECT_FALSE(read_message(no_sender.message()));
}

}  // namespace
}  // namespace openmrc::datapath
