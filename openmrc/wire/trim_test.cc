// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/trim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ipv4.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::Bytes;
using test::from_hex;

constexpr WireSettings kSettings;
constexpr auto kSource = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr auto kDestination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
constexpr auto kCarrier = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0});

// A kind of route, and where in its packets the headers begin that a switch changes.
struct RouteKind {
  std::string_view name;
  decltype(Packet::route) route;
  std::vector<std::size_t> ipv6_at;
  std::size_t udp_at;
};

std::vector<RouteKind> route_kinds() {
  const Ipv4Route ipv4{
      .source = Ipv4Address(0x0a000001), .destination = Ipv4Address(0x0a000002), .ev_low = 0xabcd};
  const Ipv6Route plain{.source = kSource,
                        .destination = kDestination,
                        .ev = Ev(0x1234abcd),
                        .encapsulation = std::nullopt};
  Ipv6Route srv6 = plain;
  srv6.encapsulation =
      SrEncapsulation{.source = kSource, .destination = kCarrier, .srh = std::nullopt};
  Ipv6Route srh = plain;
  srh.encapsulation = SrEncapsulation{.source = kSource,
                                      .destination = kCarrier,
                                      .srh = Srh{.segment = kCarrier, .segments_left = 1}};
  return {{"IPv4", ipv4, {}, 20},
          {"IPv6", plain, {0}, 40},
          {"SRv6", srv6, {0, 40}, 80},
          {"SRv6 with SRH", srh, {0, 64}, 104}};
}

const Bytes kData(1000, std::byte{0xda});

Packet data_packet(const RouteKind& kind, TrafficClass traffic_class = TrafficClass::kTrimmable) {
  const RdmaWrite write{
      .destination_qp = Qpn(0xabc),
      .psn = Psn(0xfffffe),
      .ack_request = true,
      .retransmission = traffic_class == TrafficClass::kTrimmableRetransmission,
      .part = MessagePart::last(Immediate(0x01020304)),
      .meth = {.rqmsn = Rqmsn(0x1122), .msn = Msn(0x3344)},
      .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::kVendor},
      .reth = {.virtual_address = 0x7f0012340000, .rkey = RKey(0xdeadbeef), .dma_length = 4096},
      .payload = Payload::of_bytes(kData)};
  return {.route = kind.route,
          .traffic_class = traffic_class,
          .ecn = Ecn::kCapable0,
          .transport = {.pkey = PKey(0x8001), .body = write}};
}

Bytes encoded(const Packet& packet) {
  Bytes out(encoded_size(packet));
  encode_packet(packet, kSettings, out);
  return out;
}

Bytes trimmed(Bytes packet, TrimPlace place = TrimPlace::kOnPath) {
  const auto size = trim_packet(packet, place, kSettings.dscp);
  EXPECT_TRUE(size);
  packet.resize(size.value_or(0));
  return packet;
}

void expect_trimmed_write(const Result<Packet, Reject>& decoded, const Packet& sent,
                          TrimPlace place) {
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  EXPECT_TRUE(decoded->route == sent.route);
  EXPECT_EQ(ev_of(*decoded), ev_of(sent));
  EXPECT_EQ(decoded->traffic_class, sent.traffic_class);
  EXPECT_EQ(decoded->ecn, sent.ecn);
  EXPECT_EQ(decoded->transport.pkey, sent.transport.pkey);
  const auto& write = std::get<RdmaWrite>(sent.transport.body);
  const auto* trimmed = std::get_if<TrimmedWrite>(&decoded->transport.body);
  ASSERT_NE(trimmed, nullptr);
  EXPECT_EQ(*trimmed, (TrimmedWrite{.place = place,
                                    .destination_qp = write.destination_qp,
                                    .psn = write.psn,
                                    .ack_request = write.ack_request,
                                    .retransmission = write.retransmission,
                                    .kind = write.part.kind(),
                                    .meth = write.meth,
                                    .sent = write.sent}));
}

std::uint16_t number_at(const Bytes& bytes, std::size_t at) {
  return load_be<std::uint16_t>(&bytes[at]);
}

TEST(Trim, LeavesAPacketThatDecodesToWhatWasCutOff) {
  for (const RouteKind& kind : route_kinds()) {
    for (const auto place : {TrimPlace::kOnPath, TrimPlace::kLastHop}) {
      for (const auto traffic_class :
           {TrafficClass::kTrimmable, TrafficClass::kTrimmableRetransmission}) {
        SCOPED_TRACE(kind.name);
        const Packet packet = data_packet(kind, traffic_class);
        const Bytes left = trimmed(encoded(packet), place);
        expect_trimmed_write(decode_ip(left, kSettings), packet, place);
      }
    }
  }
}

// WIRE-83
TEST(Trim, KeepsTheHeadersAndSixtyFourBytes) {
  for (const RouteKind& kind : route_kinds()) {
    EXPECT_EQ(trimmed(encoded(data_packet(kind))).size(), kind.udp_at + 64) << kind.name;
  }
}

// WIRE-84
TEST(Trim, CorrectsTheLengths) {
  for (const RouteKind& kind : route_kinds()) {
    SCOPED_TRACE(kind.name);
    const Bytes left = trimmed(encoded(data_packet(kind)));
    for (const std::size_t ip : kind.ipv6_at) {
      EXPECT_EQ(number_at(left, ip + 4), left.size() - ip - 40);
    }
    if (kind.ipv6_at.empty()) {
      EXPECT_EQ(number_at(left, 2), left.size());
    }
    EXPECT_EQ(number_at(left, kind.udp_at + 4), 64);
  }
}

TEST(Trim, CorrectsTheChecksumOfIpv4) {
  const Bytes left = trimmed(encoded(data_packet(route_kinds()[0])));
  EXPECT_EQ(ipv4_sum(std::span<const std::byte, kIpv4Size>(left.data(), kIpv4Size)), 0xffff);
}

TEST(Trim, ChangesNothingButMarksAndLengths) {
  for (const RouteKind& kind : route_kinds()) {
    Bytes before = encoded(data_packet(kind));
    Bytes left = trimmed(before);
    before.resize(left.size());
    for (Bytes* bytes : {&before, &left}) {
      const auto blank = [&](std::size_t at, std::size_t count) {
        std::fill_n(bytes->begin() + static_cast<std::ptrdiff_t>(at), count, std::byte{0});
      };
      for (const std::size_t ip : kind.ipv6_at) {
        blank(ip, 2);      // version and traffic class
        blank(ip + 4, 2);  // payload length
      }
      if (kind.ipv6_at.empty()) {
        blank(1, 3);   // type of service and total length
        blank(10, 2);  // checksum
      }
      blank(kind.udp_at + 4, 2);  // length
    }
    EXPECT_EQ(left, before) << kind.name;
  }
}

// WIRE-80, WIRE-84
TEST(Trim, MarksEveryHeaderAndKeepsEcnAndFlowLabel) {
  // The golden first words: DSCP 14 and ECT(0) make class 3a, DSCP 22 and ECT(0) make 5a.
  for (const RouteKind& kind : route_kinds()) {
    SCOPED_TRACE(kind.name);
    const Bytes on_path = trimmed(encoded(data_packet(kind)), TrimPlace::kOnPath);
    const Bytes last_hop = trimmed(encoded(data_packet(kind)), TrimPlace::kLastHop);
    for (const std::size_t ip : kind.ipv6_at) {
      EXPECT_EQ(load_be<std::uint32_t>(&on_path[ip]), 0x63a01234u);
      EXPECT_EQ(load_be<std::uint32_t>(&last_hop[ip]), 0x65a01234u);
    }
    if (kind.ipv6_at.empty()) {
      EXPECT_EQ(number_at(on_path, 0), 0x453a);
      EXPECT_EQ(number_at(last_hop, 0), 0x455a);
    }
  }
}

TEST(Trim, KeepsAShortPacketWhole) {
  // There is less behind the IP header than a switch keeps; the mark says it is not to be placed.
  for (const RouteKind& kind : route_kinds()) {
    SCOPED_TRACE(kind.name);
    Packet packet = data_packet(kind);
    std::get<RdmaWrite>(packet.transport.body).payload =
        Payload::of_bytes(ConstBytes(kData).first(3));
    const Bytes whole = encoded(packet);
    const Bytes left = trimmed(whole);
    EXPECT_EQ(left.size(), whole.size());
    expect_trimmed_write(decode_ip(left, kSettings), packet, TrimPlace::kOnPath);
  }
}

// WIRE-79
TEST(Trim, RefusesWhatItsSenderDoesNotWantTrimmed) {
  for (const RouteKind& kind : route_kinds()) {
    for (const auto traffic_class :
         {TrafficClass::kControl, TrafficClass::kNoTrim, TrafficClass::kUnknown}) {
      const Bytes before = encoded(data_packet(kind, traffic_class));
      Bytes packet = before;
      const auto size = trim_packet(packet, TrimPlace::kOnPath, kSettings.dscp);
      ASSERT_FALSE(size) << kind.name;
      EXPECT_EQ(size.error(), TrimRefusal::kNotTrimmable);
      EXPECT_EQ(packet, before) << "a packet that is refused stays as it was";
    }
  }
}

// WIRE-79
TEST(Trim, RefusesToTrimTwice) {
  for (const RouteKind& kind : route_kinds()) {
    Bytes packet = trimmed(encoded(data_packet(kind)));
    EXPECT_EQ(trim_packet(packet, TrimPlace::kLastHop, kSettings.dscp).error(),
              TrimRefusal::kNotTrimmable);
  }
}

TEST(Trim, RefusesAPacketThatEndsBeforeItsUdpHeaderDoes) {
  for (const RouteKind& kind : route_kinds()) {
    const Bytes whole = encoded(data_packet(kind));
    for (std::size_t size = 0; size < kind.udp_at + kUdpSize; ++size) {
      Bytes packet = Bytes::copy_of(ConstBytes(whole).first(size));
      const auto left = trim_packet(packet, TrimPlace::kOnPath, kSettings.dscp);
      ASSERT_FALSE(left) << kind.name << ", " << size << " bytes";
      EXPECT_EQ(left.error(), TrimRefusal::kMalformed);
    }
  }
}

std::optional<TrimRefusal> refusal(Bytes packet) {
  const auto left = trim_packet(packet, TrimPlace::kOnPath, kSettings.dscp);
  return left ? std::nullopt : std::optional(left.error());
}

// A packet with one place changed; if it is IPv4, with the right checksum all the same.
std::optional<TrimRefusal> refusal(const RouteKind& kind, std::size_t at, std::string_view hex) {
  Bytes packet = encoded(data_packet(kind));
  std::ranges::copy(from_hex(hex), packet.begin() + static_cast<std::ptrdiff_t>(at));
  if (kind.ipv6_at.empty()) {
    set_ipv4_checksum(std::span<std::byte, kIpv4Size>(packet.data(), kIpv4Size));
  }
  return refusal(packet);
}

TEST(Trim, RefusesWhatIsNotUdpInIpv6) {
  const auto kinds = route_kinds();
  EXPECT_EQ(refusal(kinds[1], 0, "50"), TrimRefusal::kMalformed) << "IP version 5";
  EXPECT_EQ(refusal(kinds[1], 6, "06"), TrimRefusal::kMalformed) << "TCP";
  EXPECT_EQ(refusal(kinds[2], 46, "06"), TrimRefusal::kMalformed) << "TCP inside";
  EXPECT_EQ(refusal(kinds[2], 40, "45"), TrimRefusal::kMalformed) << "IPv4 inside";
  EXPECT_EQ(refusal(kinds[3], 40, "06"), TrimRefusal::kMalformed) << "TCP behind the SRH";
}

TEST(Trim, RefusesWhatIsNotUdpInIpv4) {
  EXPECT_EQ(refusal(route_kinds()[0], 9, "06"), TrimRefusal::kMalformed) << "TCP";
}

TEST(Trim, RefusesIpv4WithOptions) {
  // Its UDP header stands elsewhere.
  Bytes packet = encoded(data_packet(route_kinds()[0]));
  packet.insert(packet.begin() + kIpv4Size, 4, std::byte{1});
  packet[0] = std::byte{0x46};
  EXPECT_EQ(refusal(packet), TrimRefusal::kMalformed);
}

TEST(Trim, RefusesALaterFragmentOfIpv4) {
  // It has no UDP header.
  EXPECT_EQ(refusal(route_kinds()[0], 6, "0010"), TrimRefusal::kMalformed);
}

TEST(Trim, RefusesASegmentRoutingHeaderOfTwoSegments) {
  Bytes packet = encoded(data_packet(route_kinds()[3]));
  packet.insert(packet.begin() + kIpv6Size + kSrhSize, kCarrier.bytes.begin(),
                kCarrier.bytes.end());
  packet[kIpv6Size + 1] = std::byte{4};
  packet[kIpv6Size + 4] = std::byte{1};
  EXPECT_EQ(refusal(packet), TrimRefusal::kMalformed);
}

TEST(Trim, RefusesMoreThanOneEncapsulation) {
  const Bytes inner = encoded(data_packet(route_kinds()[2]));
  Bytes packet = Bytes::copy_of(ConstBytes(inner).first(kIpv6Size));
  packet.insert(packet.end(), inner.begin(), inner.end());
  EXPECT_EQ(refusal(packet), TrimRefusal::kMalformed);
}

// ---- what other switches do ----

// WIRE-85
TEST(Trim, APacketWhoseLengthsASwitchLeftAloneStillDecodes) {
  for (const RouteKind& kind : route_kinds()) {
    SCOPED_TRACE(kind.name);
    const Packet packet = data_packet(kind);
    Bytes bytes = encoded(packet);
    bytes.resize(kind.udp_at + 64);
    // Only the outermost header is marked.
    if (kind.ipv6_at.empty()) {
      bytes[1] = std::byte{0x3a};
      set_ipv4_checksum(std::span<std::byte, kIpv4Size>(bytes.data(), kIpv4Size));
    } else {
      bytes[0] = std::byte{0x63};
      bytes[1] = std::byte{0xa0};
    }
    expect_trimmed_write(decode_ip(bytes, kSettings), packet, TrimPlace::kOnPath);
    Bytes same = encoded(packet);
    const auto size =
        trim_packet(same, TrimPlace::kOnPath, kSettings.dscp, MarkedHeaders::kOutermost);
    same.resize(size.value());
    EXPECT_EQ(same, bytes);
  }
}

// WIRE-82
TEST(Trim, APacketCutRightBehindItsTimestampStillDecodes) {
  for (const RouteKind& kind : route_kinds()) {
    SCOPED_TRACE(kind.name);
    const Packet packet = data_packet(kind);
    Bytes bytes = trimmed(encoded(packet));
    const std::size_t shortest = kind.udp_at + kUdpSize + kBthSize + kMethSize + kTsethSize;
    bytes.resize(shortest);
    expect_trimmed_write(decode_ip(bytes, kSettings), packet, TrimPlace::kOnPath);
    bytes.resize(shortest - 1);
    EXPECT_EQ(decode_ip(bytes, kSettings).error(), Reject::kHeaderTruncated);
  }
}

// WIRE-84
TEST(Trim, TheInnerMarkSurvivesDecapsulation) {
  for (const std::size_t encapsulated : {2u, 3u}) {
    const RouteKind kind = route_kinds()[encapsulated];
    const Bytes left = trimmed(encoded(data_packet(kind)), TrimPlace::kLastHop);
    const Packet plain = data_packet(route_kinds()[1]);
    expect_trimmed_write(decode_ip(ConstBytes(left).subspan(kind.ipv6_at[1]), kSettings), plain,
                         TrimPlace::kLastHop);
  }
}

}  // namespace
}  // namespace openmrc::wire
