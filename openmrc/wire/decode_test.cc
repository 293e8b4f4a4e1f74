// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/icrc.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::Bytes;
using test::from_hex;

// ---- packets that are right ----

constexpr WireSettings kSettings;

// Where headers begin in a packet of plain IPv6, and what lies where in them.
constexpr std::size_t kUdpAt = kIpv6Size;
constexpr std::size_t kBthAt = kUdpAt + kUdpSize;
constexpr std::size_t kBehindBth = kBthAt + kBthSize;
constexpr std::size_t kTsethAt = kBehindBth + kMethSize;
constexpr std::size_t kRethAt = kTsethAt + kTsethSize;
constexpr std::size_t kPayloadAt = kRethAt + kRethSize;
constexpr std::size_t kPadByte = kBthAt + 1;
constexpr std::size_t kQueuePairByte = kBthAt + 7;

const Bytes kData = from_hex("00010203 04050607");
constexpr auto kSource = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr auto kDestination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
constexpr auto kCarrier = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0});

const RdmaWrite kWrite{
    .destination_qp = Qpn(0xabc),
    .psn = Psn(0x100),
    .part = MessagePart::only(),
    .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
    .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::k128Ns},
    .reth = {.virtual_address = 0x7f0012340000, .rkey = RKey(0xdeadbeef), .dma_length = 8},
    .payload = Payload::of_bytes(kData)};
constexpr Acknowledge kAck{.destination_qp = Qpn(0xabc),
                           .psn = Psn(0x100),
                           .aeth = {.syndrome = AckSyndrome::kAck, .msn = AckMsn(8)}};
constexpr Sack kSack{.destination_qp = Qpn(0xdef),
                     .seth = {.mark = PathMark::kSkipOnce,
                              .trigger = SackTrigger::packet(1),
                              .entropy = Ev(0xdeadbeef),
                              .spdcid = ConnectionId(0xabc),
                              .dpdcid = ConnectionId(0xdef),
                              .cack_psn = Psn(0x10),
                              .sack_offset = 1,
                              .sack_bitmap = 1},
                     .cc_state = {.tx_ticks = 0x5a5a}};
constexpr Nack kNack{.destination_qp = Qpn(0xdef),
                     .neth = {.reason = NackReason::kTrimmed,
                              .entropy = Ev(0xdeadbeef),
                              .spdcid = ConnectionId(0xabc),
                              .dpdcid = ConnectionId(0xdef),
                              .psn = Psn(0x123456),
                              .tx_ticks = 0x5a5a}};
constexpr ReliabilityProbe kProbe{.destination_qp = Qpn(0xabc),
                                  .peth = {.id = ProbeId(0x9999),
                                           .spdcid = ConnectionId(0xdef),
                                           .dpdcid = ConnectionId(0xabc),
                                           .sent = {.ticks = 0x1111}}};
constexpr EndpointRequest kRequest{.id = EndpointRequestId(0xbeef),
                                   .erth = {.op = EndpointOp::kEvProbe, .sent = {.ticks = 0x4321}}};
constexpr EndpointResponse kResponse{.id = EndpointRequestId(0xbeef),
                                     .eeth = {.op = EndpointOp::kEvProbe, .tx_ticks = 0x4321}};
constexpr TrimmedWrite kTrimmed{.place = TrimPlace::kOnPath,
                                .destination_qp = Qpn(0xabc),
                                .psn = Psn(0x100),
                                .kind = WriteKind::kOnly,
                                .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
                                .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::k128Ns}};

const UdSend kDatagram{.destination_qp = Qpn(0xabc),
                       .psn = Psn(7),
                       .deth = {.qkey = QKey(0x11223344), .source_qp = Qpn(0xdef)},
                       .immediate = Immediate(0xcafe),
                       .payload = Payload::of_bytes(kData)};

const std::vector<Body> kBodies{kWrite, kTrimmed, kAck,      kSack,    kNack,
                                kProbe, kRequest, kResponse, kDatagram};

using Route = decltype(Packet::route);

Ipv6Route plain_route() {
  return {.source = kSource,
          .destination = kDestination,
          .ev = Ev(0x1234abcd),
          .encapsulation = std::nullopt};
}
Route srv6_route() {
  Ipv6Route route = plain_route();
  route.encapsulation =
      SrEncapsulation{.source = kSource, .destination = kCarrier, .srh = std::nullopt};
  return route;
}
Route srh_route() {
  Ipv6Route route = plain_route();
  route.encapsulation = SrEncapsulation{.source = kSource,
                                        .destination = kCarrier,
                                        .srh = Srh{.segment = kCarrier, .segments_left = 1}};
  return route;
}
Route ipv4_route() {
  return Ipv4Route{
      .source = Ipv4Address(0x0a000001), .destination = Ipv4Address(0x0a000002), .ev_low = 0xabcd};
}
std::vector<Route> all_routes() { return {plain_route(), ipv4_route(), srv6_route(), srh_route()}; }

Bytes encoded(const Packet& packet) {
  Bytes out(encoded_size(packet));
  encode_packet(packet, kSettings, out);
  return out;
}

Packet packet_of(const Body& body, const Route& route) {
  const TrafficClass traffic_class =
      is_write(opcode_of(body)) ? TrafficClass::kTrimmable : TrafficClass::kControl;
  return {.route = route,
          .traffic_class = traffic_class,
          .ecn = Ecn::kCapable0,
          .transport = {.body = body}};
}
Bytes packet_with(const Body& body, const Route& route = plain_route()) {
  return encoded(packet_of(body, route));
}

// ---- and what can be done to them ----

void set(Bytes& packet, std::size_t at, std::string_view hex) {
  const Bytes bytes = from_hex(hex);
  OPENMRC_CHECK(at + bytes.size() <= packet.size(), "no such place in the packet");
  std::ranges::copy(bytes, packet.begin() + static_cast<std::ptrdiff_t>(at));
}

// With another length: bytes are cut off or added before the ICRC. Lengths in the headers of plain
// IPv6 fit again.
Bytes resized(Bytes packet, std::ptrdiff_t change) {
  const auto before_icrc = packet.end() - static_cast<std::ptrdiff_t>(kIcrcSize);
  if (change < 0) {
    packet.erase(before_icrc + change, before_icrc);
  } else {
    packet.insert(before_icrc, static_cast<std::size_t>(change), std::byte{0});
  }
  const auto length = static_cast<std::uint16_t>(packet.size() - kIpv6Size);
  store_be(&packet[4], length);
  store_be(&packet[kUdpAt + 4], length);
  return packet;
}

// With the ICRC that the changed bytes ask for, so that a test sees what else is wrong with them.
// `ip_at` is where the header begins that the ICRC covers.
Bytes sealed(Bytes packet, std::size_t ip_at = 0) {
  const ConstBytes covered = ConstBytes(packet).subspan(ip_at);
  const std::uint32_t icrc = Icrc(covered.first(covered.size() - kIcrcSize)).value();
  for (std::size_t i = 0; i < kIcrcSize; ++i) {
    packet[packet.size() - kIcrcSize + i] = static_cast<std::byte>(icrc >> 8 * i & 0xff);
  }
  return packet;
}

Bytes changed(Bytes packet, std::size_t at, std::string_view hex) {
  set(packet, at, hex);
  return packet;
}
// In plain IPv6, with one place changed and nothing else wrong.
Bytes changed_and_sealed(const Body& body, std::size_t at, std::string_view hex) {
  return sealed(changed(packet_with(body), at, hex));
}
// In IPv4, with one place of the IP header changed and nothing else wrong.
Bytes changed_ipv4(std::size_t at, std::string_view hex) {
  Bytes packet = changed(packet_with(kWrite, ipv4_route()), at, hex);
  set_ipv4_checksum(std::span<std::byte, kIpv4Size>(packet.data(), kIpv4Size));
  return sealed(packet);
}
// The first bytes of it.
Bytes cut(const Bytes& packet, std::size_t size) {
  return Bytes::copy_of(ConstBytes(packet).first(size));
}

// Plain IPv6 that carries the first `size` bytes of a datagram and says so.
Bytes cut_datagram(Bytes packet, std::size_t size) {
  packet = cut(packet, kIpv6Size + size);
  store_be(&packet[4], static_cast<std::uint16_t>(size));
  if (size >= kUdpSize) store_be(&packet[kUdpAt + 4], static_cast<std::uint16_t>(size));
  return packet;
}

// IPv6 around a packet.
Bytes encapsulated(const Bytes& inner) {
  Bytes outer(kIpv6Size);
  Ipv6{.dscp = kSettings.dscp.trimmable,
       .payload_length = static_cast<std::uint16_t>(inner.size()),
       .next_header = IpProtocol::kIpv6,
       .source = kSource,
       .destination = kCarrier}
      .write(std::span<std::byte, kIpv6Size>(outer));
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

Bytes in_frame(const Bytes& packet) {
  const bool is_ipv4 = !packet.empty() && (packet[0] >> 4) == std::byte{4};
  Bytes frame = test::write_header(Ethernet{.destination = MacAddress(0x020000000002),
                                            .source = MacAddress(0x020000000001),
                                            .type = is_ipv4 ? EtherType::kIpv4 : EtherType::kIpv6});
  frame.insert(frame.end(), packet.begin(), packet.end());
  return frame;
}

// ---- every reason to reject a packet ----

struct Case {
  Reject expected;
  std::string name;  // what is wrong, for the name of the test
  Bytes frame;

  // NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for.
  friend void PrintTo(const Case& one, std::ostream* out) {
    *out << describe(one.expected).counter;
  }
};

Case ip_case(Reject expected, std::string name, const Bytes& packet) {
  return {expected, std::move(name), in_frame(packet)};
}

std::vector<Case> ethernet_and_ipv4_cases() {
  const Bytes frame = in_frame(packet_with(kWrite));
  const Bytes over_ipv4 = packet_with(kWrite, ipv4_route());
  Bytes with_options = over_ipv4;
  with_options.insert(with_options.begin() + kIpv4Size, 4, std::byte{1});
  set(with_options, 0, "46");
  store_be(&with_options[2], static_cast<std::uint16_t>(with_options.size()));
  return {
      {Reject::kEthernetTruncated, "Empty", {}},
      {Reject::kEthernetTruncated, "OneByteShort", cut(frame, 13)},
      {Reject::kEtherTypeNotIp, "Arp", changed(frame, 12, "0806")},
      {Reject::kEtherTypeNotIp, "Vlan", changed(frame, 12, "8100")},
      {Reject::kEtherTypeMismatch, "SaysIpv4AndIsIpv6", changed(frame, 12, "0800")},
      {Reject::kIpEmpty, "NothingBehindEthernet", cut(frame, 14)},
      ip_case(Reject::kIpVersionUnknown, "Five", changed_and_sealed(kWrite, 0, "52")),
      ip_case(Reject::kIpVersionUnknown, "InnerIsIpv4",
              encapsulated(packet_with(kAck, ipv4_route()))),
      ip_case(Reject::kIpv4Truncated, "OneByteShort", cut(over_ipv4, kIpv4Size - 1)),
      ip_case(Reject::kIpv4Options, "FourBytesOfThem", with_options),
      ip_case(Reject::kIpv4Fragment, "First", changed_ipv4(6, "2000")),
      ip_case(Reject::kIpv4Fragment, "Last", changed_ipv4(6, "0010")),
      ip_case(Reject::kIpv4Checksum, "OffByOne",
              changed(over_ipv4, 11, over_ipv4[11] == std::byte{0} ? "01" : "00")),
      ip_case(Reject::kIpv4LengthMismatch, "LongerThanTheBytes", changed_ipv4(2, "004d")),
      ip_case(Reject::kIpv4LengthMismatch, "ShorterThanTheHeader", changed_ipv4(2, "0013")),
      ip_case(Reject::kIpv4NotUdp, "Tcp", changed_ipv4(9, "06")),
  };
}

std::vector<Case> ipv6_cases() {
  const Bytes plain = packet_with(kWrite);
  const Bytes srv6 = packet_with(kWrite, srv6_route());
  const Bytes srh = packet_with(kWrite, srh_route());
  Bytes inner_too_short = cut(srv6, 2 * kIpv6Size - 1);
  set(inner_too_short, 4, "0027");
  Bytes srh_too_short = cut(srh, kIpv6Size + kSrhSize - 1);
  set(srh_too_short, 4, "0017");
  const std::size_t srh_at = kIpv6Size;
  return {
      ip_case(Reject::kIpv6Truncated, "OneByteShort", cut(plain, kIpv6Size - 1)),
      ip_case(Reject::kIpv6Truncated, "Inner", inner_too_short),
      ip_case(Reject::kIpv6LengthMismatch, "LongerThanTheBytes", cut(plain, plain.size() - 1)),
      ip_case(Reject::kIpv6LengthMismatch, "Outer", cut(srv6, srv6.size() - 1)),
      ip_case(Reject::kIpv6LengthMismatch, "Inner", changed(srv6, kIpv6Size + 4, "0100")),
      ip_case(Reject::kIpv6NextHeaderUnknown, "Tcp", changed_and_sealed(kWrite, 6, "06")),
      ip_case(Reject::kIpv6NextHeaderUnknown, "Fragment", changed_and_sealed(kWrite, 6, "2c")),
      ip_case(Reject::kIpv6NextHeaderUnknown, "Inner",
              sealed(changed(srv6, kIpv6Size + 6, "06"), kIpv6Size)),
      ip_case(Reject::kSrv6NestedTooDeep, "Twice", encapsulated(srv6)),
      ip_case(Reject::kSrv6NestedTooDeep, "WithASegment", encapsulated(srh)),
      ip_case(Reject::kSrv6InnerNotIpv6, "Udp", changed(srh, srh_at, "11")),
      ip_case(Reject::kSrhTruncated, "OneByteShort", srh_too_short),
      ip_case(Reject::kSrhNotSegmentRouting, "TypeThree", changed(srh, srh_at + 2, "03")),
      ip_case(Reject::kSrhNotOneSegment, "TwoByLength", changed(srh, srh_at + 1, "04")),
      ip_case(Reject::kSrhNotOneSegment, "TwoByLastEntry", changed(srh, srh_at + 4, "01")),
      ip_case(Reject::kSrhSegmentsLeft, "Two", changed(srh, srh_at + 3, "02")),
  };
}

std::vector<Case> udp_and_bth_cases() {
  const Bytes plain = packet_with(kWrite);
  const Bytes ack = packet_with(kAck);
  const Bytes trimmed = packet_with(kTrimmed);
  return {
      ip_case(Reject::kUdpTruncated, "OneByteShort", cut_datagram(plain, kUdpSize - 1)),
      ip_case(Reject::kUdpTruncated, "OverIpv4", changed_ipv4(2, "001b")),
      ip_case(Reject::kUdpLengthMismatch, "TooLong",
              changed_and_sealed(kWrite, kUdpAt + 4, "0039")),
      ip_case(Reject::kUdpLengthMismatch, "TooShort",
              changed_and_sealed(kWrite, kUdpAt + 4, "0037")),
      ip_case(Reject::kUdpPortOther, "OneMore", changed_and_sealed(kWrite, kUdpAt + 2, "12b8")),
      ip_case(Reject::kUdpPortOther, "AlternateIfNotConfigured",
              changed_and_sealed(kAck, kUdpAt + 2, "136b")),
      ip_case(Reject::kBthTruncated, "OneByteShort",
              cut_datagram(ack, kUdpSize + kBthSize + kIcrcSize - 1)),
      ip_case(Reject::kBthTruncated, "Trimmed", cut_datagram(trimmed, kUdpSize + kBthSize - 1)),
      ip_case(Reject::kBthVersion, "One", changed_and_sealed(kWrite, kPadByte, "01")),
      ip_case(Reject::kBthVersion, "Trimmed", changed(trimmed, kPadByte, "01")),
      ip_case(Reject::kOpcodeNotMrc, "RcWriteOnly", changed_and_sealed(kWrite, kBthAt, "0a")),
      ip_case(Reject::kOpcodeNotMrc, "Above", changed_and_sealed(kWrite, kBthAt, "ea")),
      ip_case(Reject::kOpcodeNotMrc, "BeforeDatagrams", changed_and_sealed(kWrite, kBthAt, "63")),
      ip_case(Reject::kOpcodeNotMrc, "BehindDatagrams", changed_and_sealed(kWrite, kBthAt, "66")),
      ip_case(Reject::kOpcodeUnknown, "BehindTheWrites", changed_and_sealed(kWrite, kBthAt, "cc")),
      ip_case(Reject::kOpcodeUnknown, "BeforeTheWrites", changed_and_sealed(kWrite, kBthAt, "c5")),
      ip_case(Reject::kQueuePairReserved, "Write",
              changed_and_sealed(kWrite, kBthAt + 5, "000002")),
      ip_case(Reject::kQueuePairReserved, "Control",
              changed_and_sealed(kSack, kBthAt + 5, "000001")),
      ip_case(Reject::kQueuePairReserved, "Trimmed", changed(trimmed, kBthAt + 5, "000000")),
      ip_case(Reject::kQueuePairReserved, "Datagram",
              changed_and_sealed(kDatagram, kBthAt + 5, "000001")),
      ip_case(Reject::kEndpointQueuePair, "RequestToThree",
              changed_and_sealed(kRequest, kQueuePairByte, "03")),
      ip_case(Reject::kEndpointQueuePair, "ResponseToOne",
              changed_and_sealed(kResponse, kQueuePairByte, "01")),
  };
}

std::vector<Case> transport_cases() {
  const Bytes trimmed = packet_with(kTrimmed);
  RdmaWrite without_timestamp = kWrite;
  without_timestamp.sent.reset();
  RdmaWrite with_immediate = kWrite;
  with_immediate.part = MessagePart::only(Immediate(1));
  UdSend without_immediate = kDatagram;
  without_immediate.immediate.reset();
  const auto data = static_cast<std::ptrdiff_t>(kData.size());
  const auto shortened = [](const Body& body, std::ptrdiff_t by) {
    return sealed(resized(packet_with(body), -by));
  };
  const auto with_pad = [](Bytes packet, std::string_view hex) {
    return sealed(changed(std::move(packet), kPadByte, hex));
  };
  return {
      ip_case(Reject::kHeaderTruncated, "Write", shortened(kWrite, data + 4)),
      ip_case(Reject::kHeaderTruncated, "WriteWithoutTimestamp",
              shortened(without_timestamp, data + 1)),
      ip_case(Reject::kHeaderTruncated, "WriteWithImmediate", shortened(with_immediate, data + 4)),
      ip_case(Reject::kHeaderTruncated, "Ack", shortened(kAck, 4)),
      ip_case(Reject::kHeaderTruncated, "Datagram", shortened(without_immediate, data + 1)),
      ip_case(Reject::kHeaderTruncated, "DatagramWithImmediate", shortened(kDatagram, data + 1)),
      ip_case(Reject::kHeaderTruncated, "Sack", shortened(kSack, 1)),
      ip_case(Reject::kHeaderTruncated, "EndpointResponse", shortened(kResponse, 4)),
      ip_case(Reject::kHeaderTruncated, "Trimmed", cut(trimmed, trimmed.size() - 1)),
      ip_case(Reject::kControlOverlong, "Ack", sealed(resized(packet_with(kAck), 4))),
      ip_case(Reject::kControlOverlong, "Probe", sealed(resized(packet_with(kProbe), 1))),
      ip_case(Reject::kPadCount, "PayloadNotAMultipleOfFour", shortened(kWrite, 3)),
      ip_case(Reject::kPadCount, "PadWithoutPayload",
              with_pad(resized(packet_with(kWrite), -data), "10")),
      ip_case(Reject::kPadCount, "Control", with_pad(packet_with(kNack), "20")),
      ip_case(Reject::kPadCount, "DatagramNotAMultipleOfFour", shortened(kDatagram, 3)),
      ip_case(Reject::kPadCount, "DatagramWithPadAlone",
              with_pad(resized(packet_with(kDatagram), -data), "10")),
      ip_case(Reject::kWriteEmpty, "NoPayload", shortened(kWrite, data)),
      ip_case(Reject::kWriteOverrun, "OneByte",
              changed_and_sealed(kWrite, kRethAt + 12, "00000007")),
      ip_case(Reject::kWriteOverrun, "EmptyMessage",
              changed_and_sealed(without_timestamp, kRethAt - kTsethSize + 12, "00000000")),
      ip_case(Reject::kTimestampFormat, "Write", changed_and_sealed(kWrite, kTsethAt + 3, "02")),
      ip_case(Reject::kTimestampFormat, "Probe", changed_and_sealed(kProbe, kBehindBth + 15, "00")),
      ip_case(Reject::kTimestampFormat, "EndpointRequest",
              changed_and_sealed(kRequest, kBehindBth + 15, "00")),
      ip_case(Reject::kTimestampFormat, "Trimmed", changed(trimmed, kTsethAt + 3, "00")),
      ip_case(Reject::kAckSyndromeUnknown, "Rnr", changed_and_sealed(kAck, kBehindBth, "20")),
      ip_case(Reject::kPathMarkReserved, "Three", changed_and_sealed(kSack, kBehindBth + 1, "60")),
      ip_case(Reject::kNackReasonUnknown, "Three", changed_and_sealed(kNack, kBehindBth + 2, "03")),
      ip_case(Reject::kEndpointOpUnknown, "Two",
              changed_and_sealed(kRequest, kBehindBth + 1, "02")),
      // Class 38: DSCP 14.
      ip_case(Reject::kTrimmedNotWrite, "Sack", changed(packet_with(kSack), 0, "6380")),
      ip_case(Reject::kTrimmedNotWrite, "Datagram", changed(packet_with(kDatagram), 0, "6380")),
      ip_case(Reject::kIcrcMismatch, "Payload", changed(packet_with(kWrite), kPayloadAt, "ff")),
      ip_case(Reject::kIcrcMismatch, "Control", changed(packet_with(kAck), kBehindBth + 3, "ff")),
      ip_case(Reject::kIcrcMismatch, "OverIpv4",
              changed(packet_with(kWrite, ipv4_route()), kIpv4Size, "0000")),
      ip_case(Reject::kIcrcMismatch, "InnerOfSrv6",
              changed(packet_with(kWrite, srv6_route()), kIpv6Size + 39, "ff")),
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& some :
       {ethernet_and_ipv4_cases(), ipv6_cases(), udp_and_bth_cases(), transport_cases()}) {
    cases.insert(cases.end(), some.begin(), some.end());
  }
  return cases;
}

class DecodeRejects : public testing::TestWithParam<Case> {};

// WIRE-3, WIRE-5, WIRE-6, WIRE-14, WIRE-15, WIRE-26, WIRE-35, WIRE-45, WIRE-48, WIRE-49, WIRE-82,
// WIRE-86, UD-2
TEST_P(DecodeRejects, WithExactlyThatReason) {
  const auto decoded = decode_frame(GetParam().frame, kSettings);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(describe(decoded.error()).counter, describe(GetParam().expected).counter);
}

std::string case_name(const testing::TestParamInfo<Case>& tested) {
  return std::string(describe(tested.param.expected).counter) + "_" + tested.param.name;
}
INSTANTIATE_TEST_SUITE_P(Table, DecodeRejects, testing::ValuesIn(all_cases()), case_name);

// WIRE-3
TEST(Decode, EveryReasonToRejectIsInTheTable) {
  std::set<Reject> covered;
  for (const Case& one : all_cases()) covered.insert(one.expected);
  for (std::size_t i = 0; i < kRejectTable.size(); ++i) {
    EXPECT_TRUE(covered.contains(static_cast<Reject>(i))) << kRejectTable[i].counter;
  }
}

// WIRE-19
TEST(Decode, ThePacketsThatTheTableSpoilsAreRight) {
  for (const Body& body : kBodies) {
    for (const Route& route : all_routes()) {
      const Bytes frame = in_frame(packet_with(body, route));
      const auto decoded = decode_frame(frame, kSettings);
      ASSERT_TRUE(decoded) << describe(decoded.error()).text;
      EXPECT_EQ(decoded->transport.body.index(), body.index());
      EXPECT_TRUE(decoded->route == route);
    }
  }
}

// ---- around the packet ----

// WIRE-7
TEST(Decode, IgnoresEthernetPadding) {
  for (const Body& body : kBodies) {
    for (const Route& route : all_routes()) {
      Bytes frame = in_frame(packet_with(body, route));
      frame.resize(frame.size() + 18, std::byte{0xee});
      const auto decoded = decode_frame(frame, kSettings);
      ASSERT_TRUE(decoded) << describe(decoded.error()).text;
      EXPECT_EQ(encoded(*decoded), packet_with(body, route));
    }
  }
}

// WIRE-12
TEST(Decode, TakesTheAlternatePortIfItIsConfigured) {
  WireSettings settings;
  settings.udp_port_alternate = kUdpPortAlternate;
  for (const Body& body : kBodies) {
    Packet packet = packet_of(body, plain_route());
    packet.udp_port = kUdpPortAlternate;
    const Bytes bytes = encoded(packet);
    EXPECT_EQ(decode_ip(bytes, kSettings).error(), Reject::kUdpPortOther);
    const auto decoded = decode_ip(bytes, settings);
    ASSERT_TRUE(decoded) << describe(decoded.error()).text;
    EXPECT_EQ(decoded->udp_port, kUdpPortAlternate);
    const auto as_ever = decode_ip(packet_with(body), settings);
    ASSERT_TRUE(as_ever) << describe(as_ever.error()).text;
    EXPECT_EQ(as_ever->udp_port, kUdpPortRoce);
  }
}

// WIRE-11
TEST(Decode, ADeploymentMayChooseAnotherPort) {
  const WireSettings settings{.udp_port = UdpPort(5000)};
  Packet packet = packet_of(kWrite, plain_route());
  packet.udp_port = UdpPort(5000);
  EXPECT_TRUE(decode_ip(encoded(packet), settings));
  EXPECT_EQ(decode_ip(packet_with(kWrite), settings).error(), Reject::kUdpPortOther);
}

// WIRE-28
TEST(Decode, TakesTheCongestionMarkFromTheOuterHeader) {
  for (const Route& route : {srv6_route(), srh_route()}) {
    // Class 2b: DSCP 10, CE. The inner header still says ECT(0).
    const auto decoded = decode_ip(changed(packet_with(kWrite, route), 0, "62b0"), kSettings);
    ASSERT_TRUE(decoded) << describe(decoded.error()).text;
    EXPECT_EQ(decoded->ecn, Ecn::kCongested);
  }
}

// WIRE-28
TEST(Decode, KeepsTheCongestionMarkOfTheInnerHeader) {
  // What another tunnel on the way has copied in; the outer header says ECT(0).
  Bytes packet = changed(packet_with(kWrite, srv6_route()), kIpv6Size, "62b0");
  EXPECT_EQ(decode_ip(packet, kSettings)->ecn, Ecn::kCongested);
  // Any other difference counts for nothing: what the sender set is in the inner header.
  packet = changed(packet_with(kWrite, srv6_route()), 0, "6290");
  EXPECT_EQ(decode_ip(packet, kSettings)->ecn, Ecn::kCapable0);
}

TEST(Decode, ReadsTheCongestionMarkOfAPlainHeader) {
  EXPECT_EQ(decode_ip(changed(packet_with(kWrite), 0, "62b0"), kSettings)->ecn, Ecn::kCongested);
  EXPECT_EQ(decode_ip(changed(packet_with(kAck), 0, "6bb0"), kSettings)->ecn, Ecn::kCongested);
}

// WIRE-30
TEST(Decode, TellsTheTrafficClassByDscp) {
  for (const auto traffic_class :
       {TrafficClass::kControl, TrafficClass::kNoTrim, TrafficClass::kTrimmable,
        TrafficClass::kTrimmableRetransmission, TrafficClass::kUnknown}) {
    for (const Route& route : all_routes()) {
      Packet packet = packet_of(kWrite, route);
      packet.traffic_class = traffic_class;
      const auto decoded = decode_ip(encoded(packet), kSettings);
      ASSERT_TRUE(decoded) << describe(decoded.error()).text;
      EXPECT_EQ(decoded->traffic_class, traffic_class);
    }
  }
}

// WIRE-16, WIRE-17, WIRE-18
TEST(Decode, ReadsTheEvFromFlowLabelAndSourcePort) {
  // The upper four bits of the flow label are another's; the ICRC does not cover the label.
  const auto decoded = decode_ip(changed(packet_with(kWrite), 0, "62af"), kSettings);
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  EXPECT_EQ(ev_of(*decoded), Ev(0x1234abcd));
  EXPECT_EQ(ev_of(*decode_ip(packet_with(kWrite, ipv4_route()), kSettings)), Ev(0x0000abcd));
}

// WIRE-77
TEST(Decode, IgnoresWhatTheNetworkMayChange) {
  Bytes packet = packet_with(kWrite, srv6_route());
  set(packet, 7, "03");                             // outer hop limit
  set(packet, 24 + 4, "0102 0000");                 // outer destination, shifted to its last uSID
  set(packet, kIpv6Size + 7, "01");                 // inner hop limit
  set(packet, 2 * kIpv6Size + 6, "5a5a");           // UDP checksum
  set(packet, 2 * kIpv6Size + kUdpSize + 4, "ff");  // variant byte of the BTH
  EXPECT_TRUE(decode_ip(packet, kSettings));
}

// WIRE-2, WIRE-34
TEST(Decode, IgnoresReservedBitsOfTheBth) {
  // S and M, R and the four bits behind TS.
  Bytes packet = packet_with(kWrite);
  set(packet, kPadByte, "c0");
  set(packet, kBthAt + 8, "5f");
  packet = sealed(packet);
  const auto decoded = decode_ip(packet, kSettings);
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  EXPECT_EQ(encoded(*decoded), packet_with(kWrite));
}

// WIRE-78
TEST(Decode, SkipsTheIcrcIfToldTo) {
  WireSettings settings;
  settings.icrc_check = IcrcCheck::kSkip;
  for (const Route& route : all_routes()) {
    Bytes packet = packet_with(kWrite, route);
    packet.back() ^= std::byte{1};
    EXPECT_EQ(decode_ip(packet, kSettings).error(), Reject::kIcrcMismatch);
    EXPECT_TRUE(decode_ip(packet, settings));
  }
}

// ---- what is inside ----

TEST(Decode, ThePayloadLiesWhereItLay) {
  const Bytes packet = packet_with(kWrite);
  const auto decoded = decode_ip(packet, kSettings);
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  const Payload& payload = std::get<RdmaWrite>(decoded->transport.body).payload;
  EXPECT_EQ(payload.bytes().data(), packet.data() + kPayloadAt);
  EXPECT_EQ(payload.size(), kData.size());
}

// WIRE-35
TEST(Decode, TakesThePadOffThePayload) {
  for (std::size_t size = 1; size <= kData.size(); ++size) {
    for (const bool with_timestamp : {true, false}) {
      RdmaWrite write = kWrite;
      write.payload = Payload::of_bytes(ConstBytes(kData).first(size));
      if (!with_timestamp) write.sent.reset();
      const Bytes packet = packet_with(write);
      EXPECT_EQ(packet.size() % 4, 0u);
      const auto decoded = decode_ip(packet, kSettings);
      ASSERT_TRUE(decoded) << describe(decoded.error()).text;
      const auto& read = std::get<RdmaWrite>(decoded->transport.body);
      EXPECT_TRUE(std::ranges::equal(read.payload.bytes(), ConstBytes(kData).first(size)));
      EXPECT_EQ(read.sent.has_value(), with_timestamp);
    }
  }
}

// WIRE-35
TEST(Decode, ThePadNeedNotBeZero) {
  RdmaWrite write = kWrite;
  write.payload = Payload::of_bytes(ConstBytes(kData).first(5));
  EXPECT_TRUE(decode_ip(sealed(changed(packet_with(write), kPayloadAt + 5, "ffffff")), kSettings));
}

// WIRE-43
TEST(Decode, EndpointPacketsAreNamedByTheLowBitsOfThePsn) {
  const auto request = decode_ip(changed_and_sealed(kRequest, kBthAt + 9, "ff"), kSettings);
  ASSERT_TRUE(request) << describe(request.error()).text;
  EXPECT_EQ(std::get<EndpointRequest>(request->transport.body), kRequest);
  const auto response = decode_ip(changed_and_sealed(kResponse, kBthAt + 9, "ff"), kSettings);
  ASSERT_TRUE(response) << describe(response.error()).text;
  EXPECT_EQ(std::get<EndpointResponse>(response->transport.body), kResponse);
}

// WIRE-42
TEST(Decode, AProbeHasNoPsn) {
  const auto probe = decode_ip(changed_and_sealed(kProbe, kBthAt + 9, "ffffff"), kSettings);
  ASSERT_TRUE(probe) << describe(probe.error()).text;
  EXPECT_EQ(std::get<ReliabilityProbe>(probe->transport.body), kProbe);
}

// WIRE-44
TEST(Decode, TheExtendedHeaderOfASackOrNackSaysWhichPsnIsMeant) {
  const auto sack = decode_ip(changed_and_sealed(kSack, kBthAt + 9, "abcdef"), kSettings);
  ASSERT_TRUE(sack) << describe(sack.error()).text;
  EXPECT_EQ(std::get<Sack>(sack->transport.body), kSack);
  const auto nack = decode_ip(changed_and_sealed(kNack, kBthAt + 9, "abcdef"), kSettings);
  ASSERT_TRUE(nack) << describe(nack.error()).text;
  EXPECT_EQ(std::get<Nack>(nack->transport.body), kNack);
}

TEST(Decode, ATrimmedPacketReadsAsTheClassItMustHaveBeenSentIn) {
  for (const bool retransmission : {false, true}) {
    TrimmedWrite trimmed = kTrimmed;
    trimmed.retransmission = retransmission;
    const auto decoded = decode_ip(packet_with(trimmed), kSettings);
    ASSERT_TRUE(decoded) << describe(decoded.error()).text;
    EXPECT_EQ(decoded->traffic_class,
              retransmission ? TrafficClass::kTrimmableRetransmission : TrafficClass::kTrimmable);
  }
}

// WIRE-27, WIRE-81
TEST(Decode, ATrimmedPacketIsToldByItsOuterHeader) {
  for (const auto& [place, traffic_class] :
       {std::pair{TrimPlace::kOnPath, "6380"}, std::pair{TrimPlace::kLastHop, "6580"}}) {
    // A switch marks only the outermost header and leaves the inner one as it was.
    const Bytes packet = changed(packet_with(kWrite, srv6_route()), 0, traffic_class);
    const auto decoded = decode_ip(packet, kSettings);
    ASSERT_TRUE(decoded) << describe(decoded.error()).text;
    EXPECT_EQ(std::get<TrimmedWrite>(decoded->transport.body).place, place);
  }
}

TEST(Decode, ARecordThatIsUsedAgainKeepsNothing) {
  // Whatever was decoded into a record before, and whatever was rejected, leaves no trace.
  std::vector<Bytes> packets{changed(packet_with(kWrite), kPayloadAt, "ff")};
  for (const Body& body : kBodies) {
    for (const Route& route : all_routes()) packets.push_back(packet_with(body, route));
  }
  for (const Bytes& before : packets) {
    for (const Bytes& packet : packets) {
      Packet record;
      static_cast<void>(decode_ip_into(before, kSettings, record));
      if (!decode_ip_into(packet, kSettings, record)) continue;
      ASSERT_EQ(encoded(record), packet);
    }
  }
}

// ---- behind a UDP socket ----

ConstBytes behind_udp(const Bytes& packet) { return ConstBytes(packet).subspan(kBthAt); }

// WIRE-37
TEST(DecodeTransport, ReadsWhatAUdpSocketDelivers) {
  for (const Body& body : kBodies) {
    const auto* trimmed = std::get_if<TrimmedWrite>(&body);
    const auto place = trimmed != nullptr ? std::optional(trimmed->place) : std::nullopt;
    const Bytes packet = packet_with(body);
    const auto transport = decode_transport(behind_udp(packet), place);
    ASSERT_TRUE(transport) << describe(transport.error()).text;
    EXPECT_EQ(transport->pkey, kPKeyDefault);
    Packet again = packet_of(body, plain_route());
    again.transport = *transport;
    EXPECT_EQ(encoded(again), packet);
  }
}

TEST(DecodeTransport, DoesNotCheckTheIcrc) {
  Bytes packet = packet_with(kSack);
  packet.back() ^= std::byte{1};
  EXPECT_TRUE(decode_transport(behind_udp(packet), std::nullopt));
}

TEST(DecodeTransport, IsToldByItsCallerWhereThePacketWasTrimmed) {
  const Bytes packet = packet_with(kWrite);
  for (const auto place : {TrimPlace::kOnPath, TrimPlace::kLastHop}) {
    TrimmedWrite expected = kTrimmed;
    expected.place = place;
    const auto transport = decode_transport(behind_udp(packet), place);
    ASSERT_TRUE(transport) << describe(transport.error()).text;
    EXPECT_EQ(std::get<TrimmedWrite>(transport->body), expected);
  }
}

TEST(DecodeTransport, RejectsAsTheWholeDecoderDoes) {
  const Bytes packet = packet_with(kAck);
  const ConstBytes bytes = behind_udp(packet);
  EXPECT_EQ(decode_transport({}, std::nullopt).error(), Reject::kBthTruncated);
  EXPECT_EQ(decode_transport({}, TrimPlace::kOnPath).error(), Reject::kBthTruncated);
  EXPECT_EQ(decode_transport(bytes.first(kBthSize + 3), std::nullopt).error(),
            Reject::kBthTruncated);
  EXPECT_EQ(decode_transport(bytes.first(kBthSize + 4), std::nullopt).error(),
            Reject::kHeaderTruncated);
  EXPECT_EQ(decode_transport(bytes, TrimPlace::kOnPath).error(), Reject::kTrimmedNotWrite);
}

// WIRE-15, WIRE-48
TEST(Decode, NoPrefixOfAPacketIsAPacket) {
  for (const Body& body : kBodies) {
    for (const Route& route : all_routes()) {
      const Bytes packet = packet_with(body, route);
      for (std::size_t size = 0; size < packet.size(); ++size) {
        EXPECT_FALSE(decode_ip(ConstBytes(packet).first(size), kSettings)) << size;
      }
    }
  }
}

}  // namespace
}  // namespace openmrc::wire
