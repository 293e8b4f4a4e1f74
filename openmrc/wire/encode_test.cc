// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/encode.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "openmrc/wire/decode.h"
#include "tests/support/hex.h"

// One whole packet of every opcode, and a WRITE over every kind of route, byte by byte. The bytes
// were put together by hand from the diagrams. The ICRC at the end of each was computed with the
// crc32 of Python's zlib, over eight bytes of ones, the (inner) IP header with its variant fields
// set to ones, and the rest, and is stored with its lowest byte first.
namespace openmrc::wire {
namespace {

using test::Bytes;
using test::from_hex;

constexpr WireSettings kSettings;

constexpr auto kSource = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr auto kDestination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
constexpr Ipv6Route kPlain{.source = kSource,
                           .destination = kDestination,
                           .ev = Ev(0x1234abcd),
                           .encapsulation = std::nullopt};

Packet data_packet(const RdmaWrite& write, TrafficClass traffic_class = TrafficClass::kTrimmable) {
  return {.route = kPlain,
          .traffic_class = traffic_class,
          .ecn = Ecn::kCapable0,
          .transport = {.body = write}};
}

Packet control_packet(const Body& body) {
  return {.route = kPlain, .traffic_class = TrafficClass::kControl, .transport = {.body = body}};
}

Bytes encoded(const Packet& packet) {
  Bytes out(encoded_size(packet), std::byte{0xee});
  out.resize(encode_packet(packet, kSettings, out));
  return out;
}

void expect_same_body(const RdmaWrite& is, const RdmaWrite& expected) {
  EXPECT_EQ(is.destination_qp, expected.destination_qp);
  EXPECT_EQ(is.psn, expected.psn);
  EXPECT_EQ(is.ack_request, expected.ack_request);
  EXPECT_EQ(is.retransmission, expected.retransmission);
  EXPECT_EQ(is.part, expected.part);
  EXPECT_EQ(is.meth, expected.meth);
  EXPECT_EQ(is.sent, expected.sent);
  EXPECT_EQ(is.reth, expected.reth);
  EXPECT_EQ(Bytes::copy_of(is.payload.bytes()), Bytes::copy_of(expected.payload.bytes()));
}
void expect_same_body(const UdSend& is, const UdSend& expected) {
  EXPECT_EQ(is.destination_qp, expected.destination_qp);
  EXPECT_EQ(is.psn, expected.psn);
  EXPECT_EQ(is.deth, expected.deth);
  EXPECT_EQ(is.immediate, expected.immediate);
  EXPECT_EQ(Bytes::copy_of(is.payload.bytes()), Bytes::copy_of(expected.payload.bytes()));
}
template <class BodyKind>
void expect_same_body(const BodyKind& is, const BodyKind& expected) {
  EXPECT_TRUE(is == expected);
}

void expect_same(const Packet& is, const Packet& expected) {
  EXPECT_TRUE(is.route == expected.route);
  EXPECT_EQ(is.udp_port, expected.udp_port);
  EXPECT_EQ(is.traffic_class, expected.traffic_class);
  EXPECT_EQ(is.ecn, expected.ecn);
  EXPECT_EQ(is.transport.pkey, expected.transport.pkey);
  ASSERT_EQ(is.transport.body.index(), expected.transport.body.index());
  std::visit(
      [&]<class BodyKind>(const BodyKind& body) {
        expect_same_body(std::get<BodyKind>(is.transport.body), body);
      },
      expected.transport.body);
}

void expect_both_ways(const Packet& packet, std::string_view golden_hex) {
  const Bytes golden = from_hex(golden_hex);
  EXPECT_EQ(encoded(packet), golden);
  const auto decoded = decode_ip(golden, kSettings);
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  expect_same(*decoded, packet);
}

// ---- the writes: one message of 19 bytes in three packets, and others ----

// WIRE-4, WIRE-38, WIRE-47
TEST(Encode, GoldenWriteFirst) {
  const Bytes payload = from_hex("0001020304050607");
  const RdmaWrite write{
      .destination_qp = Qpn(0xabc),
      .psn = Psn(0x100),
      .part = MessagePart::first(),
      .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
      .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::k128Ns},
      .reth = {.virtual_address = 0x7f0012340000, .rkey = RKey(0xdeadbeef), .dma_length = 19},
      .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "62a0 1234"                                // IPv6: class 2a: DSCP 10, ECT(0); EV high 1234
      "0038 11 40"                               //   56 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0038 0000"                      // UDP: EV low abcd, to 4791, 56 bytes
      "c6 00 ffff"                               // BTH: WRITE First, no pad, default P_Key
      "00 000abc"                                //   queue pair abc
      "10 000100"                                //   TS; PSN 100
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "5a5a 0001"                                // TSETH: 5a5a ticks of 128 ns, format 1
      "00007f00 12340000"                        // RETH: address
      "deadbeef 00000013"                        //   R_Key, 19 bytes in the message
      "00010203 04050607"                        // payload
      "b901 3e52";                               // ICRC
  expect_both_ways(data_packet(write), kGolden);
}

// WIRE-4, WIRE-47
TEST(Encode, GoldenWriteMiddle) {
  const Bytes payload = from_hex("08090a0b0c0d0e0f");
  const RdmaWrite write{
      .destination_qp = Qpn(0xabc),
      .psn = Psn(0x101),
      .retransmission = true,
      .part = MessagePart::middle(),
      .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
      .sent = std::nullopt,
      .reth = {.virtual_address = 0x7f0012340008, .rkey = RKey(0xdeadbeef), .dma_length = 19},
      .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "6320 1234"                                // IPv6: class 32: DSCP 12, ECT(0); EV high 1234
      "0034 11 40"                               //   52 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0034 0000"                      // UDP: EV low abcd, to 4791, 52 bytes
      "c7 00 ffff"                               // BTH: WRITE Middle
      "00 000abc"                                //   queue pair abc
      "20 000101"                                //   RTX, no TS; PSN 101
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "00007f00 12340008"                        // RETH: address
      "deadbeef 00000013"                        //   R_Key, 19 bytes in the message
      "08090a0b 0c0d0e0f"                        // payload
      "91a5 de1d";                               // ICRC
  expect_both_ways(data_packet(write, TrafficClass::kTrimmableRetransmission), kGolden);
}

// WIRE-47
TEST(Encode, GoldenWriteLast) {
  const Bytes payload = from_hex("101112");
  const RdmaWrite write{
      .destination_qp = Qpn(0xabc),
      .psn = Psn(0x102),
      .ack_request = true,
      .part = MessagePart::last(),
      .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
      .sent = TxTimestamp{.ticks = 0x5a5b, .unit = TickUnit::kVendor},
      .reth = {.virtual_address = 0x7f0012340010, .rkey = RKey(0xdeadbeef), .dma_length = 19},
      .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "6220 1234"                                // IPv6: class 22: DSCP 8, ECT(0); EV high 1234
      "0034 11 40"                               //   52 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0034 0000"                      // UDP: EV low abcd, to 4791, 52 bytes
      "c8 10 ffff"                               // BTH: WRITE Last, one byte of pad
      "00 000abc"                                //   queue pair abc
      "90 000102"                                //   A and TS; PSN 102
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "5a5b 8001"                                // TSETH: 5a5b ticks of the vendor's, format 1
      "00007f00 12340010"                        // RETH: address
      "deadbeef 00000013"                        //   R_Key, 19 bytes in the message
      "101112 00"                                // payload, pad
      "f98f 73f8";                               // ICRC
  expect_both_ways(data_packet(write, TrafficClass::kNoTrim), kGolden);
}

// WIRE-47
TEST(Encode, GoldenWriteLastWithImmediate) {
  const Bytes payload = from_hex("a0a1");
  const RdmaWrite write{.destination_qp = Qpn(0xfffffe),
                        .psn = Psn(0xffffff),
                        .part = MessagePart::last(Immediate(0x01020304)),
                        .meth = {.rqmsn = Rqmsn(0xfffe), .msn = Msn(0xffff)},
                        .sent = TxTimestamp{.ticks = 1, .unit = TickUnit::k128Ns},
                        .reth = {.virtual_address = 0xfedcba9876543210,
                                 .rkey = RKey(0x00000100),
                                 .dma_length = 0xffffffff},
                        .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "62a0 1234"                                // IPv6: class 2a: DSCP 10, ECT(0); EV high 1234
      "0038 11 40"                               //   56 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0038 0000"                      // UDP: EV low abcd, to 4791, 56 bytes
      "c9 20 ffff"                               // BTH: WRITE Last with Immediate, 2 bytes of pad
      "00 fffffe"                                //   queue pair fffffe
      "10 ffffff"                                //   TS; PSN ffffff
      "fffe ffff"                                // METH: RQMSN fffe, MSN ffff
      "0001 0001"                                // TSETH: 1 tick of 128 ns, format 1
      "fedcba98 76543210"                        // RETH: address
      "00000100 ffffffff"                        //   R_Key, the longest message there is
      "01020304"                                 // ImmDt
      "a0a1 0000"                                // payload, pad
      "2a31 44a2";                               // ICRC
  expect_both_ways(data_packet(write), kGolden);
}

// WIRE-47
TEST(Encode, GoldenWriteOnly) {
  const Bytes payload = from_hex("5a");
  const RdmaWrite write{.destination_qp = Qpn(3),
                        .psn = Psn(0),
                        .part = MessagePart::only(),
                        .meth = {.rqmsn = Rqmsn(0), .msn = Msn(0)},
                        .sent = std::nullopt,
                        .reth = {.virtual_address = 0, .rkey = RKey(0), .dma_length = 1},
                        .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "62a0 1234"                                // IPv6: class 2a: DSCP 10, ECT(0); EV high 1234
      "0030 11 40"                               //   48 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0030 0000"                      // UDP: EV low abcd, to 4791, 48 bytes
      "ca 30 ffff"                               // BTH: WRITE Only, 3 bytes of pad
      "00 000003"                                //   queue pair 3, the first that is not reserved
      "00 000000"                                //   no TS; PSN 0
      "0000 0000"                                // METH: RQMSN 0, MSN 0
      "00000000 00000000"                        // RETH: address
      "00000000 00000001"                        //   R_Key, 1 byte in the message
      "5a 000000"                                // payload, pad
      "77fd f82d";                               // ICRC
  expect_both_ways(data_packet(write), kGolden);
}

// WIRE-4, WIRE-47
TEST(Encode, GoldenWriteOnlyWithImmediate) {
  const Bytes payload = from_hex("c0c1c2c3");
  const RdmaWrite write{
      .destination_qp = Qpn(0x010203),
      .psn = Psn(0x040506),
      .ack_request = true,
      .retransmission = true,
      .part = MessagePart::only(Immediate(0xfeedface)),
      .meth = {.rqmsn = Rqmsn(0x0708), .msn = Msn(0x090a)},
      .sent = TxTimestamp{.ticks = 0x0b0c, .unit = TickUnit::k128Ns},
      .reth = {.virtual_address = 0x0d0e0f1011121314, .rkey = RKey(0x15161718), .dma_length = 4},
      .payload = Payload::of_bytes(payload)};
  Packet packet = data_packet(write, TrafficClass::kTrimmableRetransmission);
  packet.transport.pkey = PKey(0x8001);
  constexpr std::string_view kGolden =
      "6320 1234"                                // IPv6: class 32: DSCP 12, ECT(0); EV high 1234
      "0038 11 40"                               //   56 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0038 0000"                      // UDP: EV low abcd, to 4791, 56 bytes
      "cb 00 8001"                               // BTH: WRITE Only with Immediate; P_Key 8001
      "00 010203"                                //   queue pair 010203
      "b0 040506"                                //   A, RTX and TS; PSN 040506
      "0708 090a"                                // METH: RQMSN 0708, MSN 090a
      "0b0c 0001"                                // TSETH: 0b0c ticks of 128 ns, format 1
      "0d0e0f10 11121314"                        // RETH: address
      "15161718 00000004"                        //   R_Key, 4 bytes in the message
      "feedface"                                 // ImmDt
      "c0c1c2c3"                                 // payload
      "b0b1 7ce8";                               // ICRC
  expect_both_ways(packet, kGolden);
}

// ---- control ----

// WIRE-5, WIRE-39, WIRE-47, WIRE-58
TEST(Encode, GoldenAcknowledge) {
  const Acknowledge ack{.destination_qp = Qpn(0xabc),
                        .psn = Psn(0x102),
                        .aeth = {.syndrome = AckSyndrome::kAck, .msn = AckMsn(8)}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "001c 11 40"                               //   28 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 001c 0000"                      // UDP: EV low abcd, to 4791, 28 bytes
      "d1 00 ffff"                               // BTH: Acknowledge
      "00 000abc"                                //   queue pair abc
      "00 000102"                                //   PSN 102
      "1f 000008"                                // AETH: ACK without credit, 8 messages completed
      "d5ad eee8";                               // ICRC
  expect_both_ways(control_packet(ack), kGolden);
}

// WIRE-43, WIRE-47, WIRE-72
TEST(Encode, GoldenEndpointRequest) {
  const EndpointRequest request{.id = EndpointRequestId(0xbeef),
                                .erth = {.op = EndpointOp::kPortStatusUpdate,
                                         .vendor_info = 0x5c,
                                         .port_status_mask = 0x0000001e,
                                         .sent = {.ticks = 0x4321, .unit = TickUnit::k128Ns}}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "0028 11 40"                               //   40 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0028 0000"                      // UDP: EV low abcd, to 4791, 40 bytes
      "d8 00 ffff"                               // BTH: Endpoint Request
      "00 000002"                                //   queue pair 2, the endpoint
      "00 00beef"                                //   PSN: the request's id
      "0000 00 5c"                               // ERTH: op 0: Port Status Update, vendor info 5c
      "0000001e"                                 //   ports 1 to 4 can be reached
      "00000000"                                 //   reserved
      "4321 0001"                                //   4321 ticks of 128 ns, format 1
      "f0ed 4dfd";                               // ICRC
  expect_both_ways(control_packet(request), kGolden);
}

// WIRE-43, WIRE-47
TEST(Encode, GoldenEndpointResponse) {
  const EndpointResponse response{.id = EndpointRequestId(0xbeef),
                                  .eeth = {.op = EndpointOp::kEvProbe, .tx_ticks = 0x4321}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "003c 11 40"                               //   60 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 003c 0000"                      // UDP: EV low abcd, to 4791, 60 bytes
      "d9 00 ffff"                               // BTH: Endpoint Response
      "00 000002"                                //   queue pair 2, the endpoint
      "00 00beef"                                //   PSN: the id of the request that is answered
      "0004 0000"                                // EETH: op 1: EV Probe
      "00000000 00000000 00000000"               //   reserved
      "00000000 00000000 00000000"               //   reserved
      "4321 0000"                                //   the request's timestamp
      "00000000"                                 //   reserved
      "b88e 3562";                               // ICRC
  expect_both_ways(control_packet(response), kGolden);
}

// WIRE-5, WIRE-37, WIRE-40, WIRE-47
TEST(Encode, GoldenSack) {
  const Sack sack{.destination_qp = Qpn(0xdef),
                  .retransmission = true,
                  .seth = {.mark = PathMark::kSkipOnce,
                           .trigger = SackTrigger::packet(-2),
                           .entropy = Ev(0xdeadbeef),
                           .spdcid = ConnectionId(0x0abc),
                           .dpdcid = ConnectionId(0x0def),
                           .cack_psn = Psn(0x000010),
                           .cc_flags = 0xa,
                           .mpr = 2,
                           .sack_offset = 5,
                           .sack_bitmap = 0x8000000000000001},
                  .cc_state = {.tx_ticks = 0xbeef,
                               .ooo_count = 0x1234,
                               .restore_cwnd = true,
                               .receiver_penalty = 0x15,
                               .received_units = 0xabcdef}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "003c 11 40"                               //   60 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 003c 0000"                      // UDP: EV low abcd, to 4791, 60 bytes
      "dc 00 ffff"                               // BTH: SACK
      "00 000def"                                //   queue pair def
      "20 000010"                                //   RTX; PSN: cack PSN once more
      "0020 fffe"                                // SETH: SKIP_ONCE; triggered by cack PSN - 2
      "deadbeef"                                 //   EV that is reflected
      "0abc 0def"                                //   spdcid, dpdcid
      "00 000010"                                //   cack PSN 10
      "0a 02 0005"                               //   cc flags a; MPR 2; bitmap from cack PSN + 5
      "80000000 00000001"                        //   bitmap: its first and last PSN
      "beef 1234"                                // CC_STATE: timestamp; 1234 out of order
      "95 abcdef"                                //   restore cwnd, penalty 15; received bytes
      "9329 5909";                               // ICRC
  expect_both_ways(control_packet(sack), kGolden);
}

// WIRE-5, WIRE-41, WIRE-47, WIRE-69
TEST(Encode, GoldenNack) {
  const Nack nack{.destination_qp = Qpn(0xdef),
                  .neth = {.reason = NackReason::kTrimmed,
                           .vendor_info = 0x77,
                           .entropy = Ev(0xcafef00d),
                           .spdcid = ConnectionId(0x0abc),
                           .dpdcid = ConnectionId(0x0def),
                           .psn = Psn(0x123456),
                           .cc_flags = 3,
                           .tx_ticks = 0x4321}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "002c 11 40"                               //   44 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 002c 0000"                      // UDP: EV low abcd, to 4791, 44 bytes
      "dd 00 ffff"                               // BTH: NACK
      "00 000def"                                //   queue pair def
      "00 123456"                                //   PSN: NACK PSN once more
      "0000 01 77"                               // NETH: TRIMMED, vendor info 77
      "cafef00d"                                 //   EV that is reflected
      "0abc 0def"                                //   spdcid, dpdcid
      "00 123456"                                //   NACK PSN
      "23 00 4321"                               //   cc type 2, cc flags 3; timestamp
      "7574 9775";                               // ICRC
  expect_both_ways(control_packet(nack), kGolden);
}

// WIRE-42, WIRE-47
TEST(Encode, GoldenReliabilityProbe) {
  const ReliabilityProbe probe{.destination_qp = Qpn(0xabc),
                               .peth = {.vendor_info = 0,
                                        .id = ProbeId(0x9999),
                                        .spdcid = ConnectionId(0x0def),
                                        .dpdcid = ConnectionId(0x0abc),
                                        .sent = {.ticks = 0x1111, .unit = TickUnit::kVendor}}};
  constexpr std::string_view kGolden =
      "6b80 1234"                                // IPv6: class b8: DSCP 46, no ECN; EV high 1234
      "0028 11 40"                               //   40 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0028 0000"                      // UDP: EV low abcd, to 4791, 40 bytes
      "de 00 ffff"                               // BTH: Reliability Probe
      "00 000abc"                                //   queue pair abc
      "00 000000"                                //   no PSN
      "0000 00 00"                               // PETH: vendor info 0
      "9999 0000"                                //   probe id
      "0def 0abc"                                //   spdcid, dpdcid
      "1111 8001"                                //   1111 ticks of the vendor's, format 1
      "91ca 4959";                               // ICRC
  expect_both_ways(control_packet(probe), kGolden);
}

// ---- unreliable datagrams ----

Packet datagram_packet(const UdSend& datagram) {
  return {.route = kPlain, .traffic_class = TrafficClass::kNoTrim, .transport = {.body = datagram}};
}

// UD-1
TEST(Encode, GoldenUdSendOnly) {
  const Bytes payload = from_hex("0001020304");
  const UdSend datagram{.destination_qp = Qpn(0xabc),
                        .psn = Psn(7),
                        .deth = {.qkey = QKey(0x11223344), .source_qp = Qpn(0xdef)},
                        .payload = Payload::of_bytes(payload)};
  constexpr std::string_view kGolden =
      "6200 1234"                                // IPv6: class 20: DSCP 8, no ECN; EV high 1234
      "0028 11 40"                               //   40 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0028 0000"                      // UDP: EV low abcd, to 4791, 40 bytes
      "64 30 ffff"                               // BTH: UD SEND Only, pad 3, default P_Key
      "00 000abc"                                //   queue pair abc
      "00 000007"                                //   PSN 7
      "11223344"                                 // DETH: Q_Key
      "00 000def"                                //   from queue pair def
      "00010203 04"                              // payload
      "000000"                                   // pad
      "87be b763";                               // ICRC
  expect_both_ways(datagram_packet(datagram), kGolden);
}

// UD-1
TEST(Encode, GoldenUdSendOnlyWithImmediateAndNoPayload) {
  const UdSend datagram{.destination_qp = Qpn(0xabc),
                        .psn = Psn(7),
                        .deth = {.qkey = QKey(0x11223344), .source_qp = Qpn(0xdef)},
                        .immediate = Immediate(0xcafef00d)};
  constexpr std::string_view kGolden =
      "6200 1234"                                // IPv6: class 20: DSCP 8, no ECN; EV high 1234
      "0024 11 40"                               //   36 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0024 0000"                      // UDP: EV low abcd, to 4791, 36 bytes
      "65 00 ffff"                               // BTH: UD SEND Only with Immediate
      "00 000abc"                                //   queue pair abc
      "00 000007"                                //   PSN 7
      "11223344"                                 // DETH: Q_Key
      "00 000def"                                //   from queue pair def
      "cafef00d"                                 // ImmDt
      "295a 57cb";                               // ICRC
  expect_both_ways(datagram_packet(datagram), kGolden);
}

// ---- the same WRITE over the other kinds of route ----

const Bytes kFourBytes = from_hex("c0c1c2c3");

RdmaWrite small_write() {
  return {.destination_qp = Qpn(0xabc),
          .psn = Psn(0x100),
          .part = MessagePart::only(),
          .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
          .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::k128Ns},
          .reth = {.virtual_address = 0x7f0012340000, .rkey = RKey(0xdeadbeef), .dma_length = 4},
          .payload = Payload::of_bytes(kFourBytes)};
}

TEST(Encode, GoldenWriteOverIpv4) {
  Packet packet = data_packet(small_write());
  packet.route = Ipv4Route{
      .source = Ipv4Address(0x0a000001), .destination = Ipv4Address(0x0a000002), .ev_low = 0xabcd};
  constexpr std::string_view kGolden =
      "45 2a 0048"           // IPv4: 5 words; class 2a: DSCP 10, ECT(0); 72 bytes in all
      "0000 4000"            //   identification 0, don't fragment
      "40 11 2679"           //   TTL 64, UDP, header checksum
      "0a000001 0a000002"    //   from 10.0.0.1 to 10.0.0.2
      "abcd 12b7 0034 0000"  // UDP: EV low abcd, to 4791, 52 bytes
      "ca 00 ffff"           // BTH: WRITE Only
      "00 000abc"            //   queue pair abc
      "10 000100"            //   TS; PSN 100
      "0000 0007"            // METH: RQMSN 0, MSN 7
      "5a5a 0001"            // TSETH: 5a5a ticks of 128 ns, format 1
      "00007f00 12340000"    // RETH: address
      "deadbeef 00000004"    //   R_Key, 4 bytes in the message
      "c0c1c2c3"             // payload
      "8b3c 4302";           // ICRC
  expect_both_ways(packet, kGolden);
}

// WIRE-19, WIRE-23, WIRE-77
TEST(Encode, GoldenWriteOverSrv6) {
  Packet packet = data_packet(small_write());
  std::get<Ipv6Route>(packet.route).encapsulation =
      SrEncapsulation{.source = kSource,
                      .destination = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0}),
                      .srh = std::nullopt};
  constexpr std::string_view kGolden =
      "62a0 1234"                                // outer IPv6: class 2a and label 1234 once more
      "005c 29 40"                               //   92 bytes follow, IPv6, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fcbb bb00 0001 0002 0102 0000 0000 0000"  //   by way of uSIDs 1, 2 and 102
      "62a0 1234"                                // IPv6: class 2a: DSCP 10, ECT(0); EV high 1234
      "0034 11 40"                               //   52 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0034 0000"                      // UDP: EV low abcd, to 4791, 52 bytes
      "ca 00 ffff"                               // BTH: WRITE Only
      "00 000abc"                                //   queue pair abc
      "10 000100"                                //   TS; PSN 100
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "5a5a 0001"                                // TSETH: 5a5a ticks of 128 ns, format 1
      "00007f00 12340000"                        // RETH: address
      "deadbeef 00000004"                        //   R_Key, 4 bytes in the message
      "c0c1c2c3"                                 // payload
      "cf5b 28f8";                               // ICRC, from the inner IPv6 header on
  expect_both_ways(packet, kGolden);
}

// WIRE-24
TEST(Encode, GoldenWriteOverSrv6WithASegment) {
  Packet packet = data_packet(small_write());
  std::get<Ipv6Route>(packet.route).encapsulation =
      SrEncapsulation{.source = kSource,
                      .destination = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 3, 4, 5, 6}),
                      .srh = Srh{.segment = Ipv6Address::of({0xfcbb, 0xbb00, 7, 8, 0, 0, 0, 0}),
                                 .segments_left = 1}};
  constexpr std::string_view kGolden =
      "62a0 1234"                                // outer IPv6: class 2a and label 1234 once more
      "0074 2b 40"                               //   116 bytes follow, routing, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fcbb bb00 0001 0002 0003 0004 0005 0006"  //   by way of uSIDs 1 to 6
      "29 02 04 01"                              // SRH: IPv6 follows; type 4; 1 segment left
      "00 00 0000"                               //   last entry 0, no flags, no tag
      "fcbb bb00 0007 0008 0000 0000 0000 0000"  //   then by way of uSIDs 7 and 8
      "62a0 1234"                                // IPv6: class 2a: DSCP 10, ECT(0); EV high 1234
      "0034 11 40"                               //   52 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 0034 0000"                      // UDP: EV low abcd, to 4791, 52 bytes
      "ca 00 ffff"                               // BTH: WRITE Only
      "00 000abc"                                //   queue pair abc
      "10 000100"                                //   TS; PSN 100
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "5a5a 0001"                                // TSETH: 5a5a ticks of 128 ns, format 1
      "00007f00 12340000"                        // RETH: address
      "deadbeef 00000004"                        //   R_Key, 4 bytes in the message
      "c0c1c2c3"                                 // payload
      "cf5b 28f8";                               // ICRC, from the inner IPv6 header on
  expect_both_ways(packet, kGolden);
}

TEST(Encode, GoldenTrimmedWrite) {
  const TrimmedWrite trimmed{.place = TrimPlace::kLastHop,
                             .destination_qp = Qpn(0xabc),
                             .psn = Psn(0x100),
                             .ack_request = true,
                             .kind = WriteKind::kFirst,
                             .meth = {.rqmsn = Rqmsn(0), .msn = Msn(7)},
                             .sent = TxTimestamp{.ticks = 0x5a5a, .unit = TickUnit::k128Ns}};
  Packet packet = control_packet(trimmed);
  packet.traffic_class = TrafficClass::kTrimmable;
  constexpr std::string_view kGolden =
      "6580 1234"                                // IPv6: class 58: DSCP 22, no ECN; EV high 1234
      "001c 11 40"                               //   28 bytes follow, UDP, hop limit 64
      "fd00 0000 0000 0000 0000 0000 0000 0001"  //   from fd00::1
      "fd00 0000 0000 0000 0000 0000 0000 0002"  //   to fd00::2
      "abcd 12b7 001c 0000"                      // UDP: EV low abcd, to 4791, 28 bytes
      "c6 00 ffff"                               // BTH: WRITE First
      "00 000abc"                                //   queue pair abc
      "90 000100"                                //   A and TS; PSN 100
      "0000 0007"                                // METH: RQMSN 0, MSN 7
      "5a5a 0001";                               // TSETH: 5a5a ticks of 128 ns; no ICRC
  expect_both_ways(packet, kGolden);
}

// ---- in pieces ----

TEST(Encode, HeadersPayloadPiecesAndTrailerMakeTheWholePacket) {
  const Bytes payload = from_hex("000102030405060708090a0b0c0d0e0f1011121314151617");
  for (std::size_t size = 1; size <= payload.size(); ++size) {
    const ConstBytes whole = ConstBytes(payload).first(size);
    RdmaWrite write = small_write();
    write.reth.dma_length = static_cast<std::uint32_t>(size);
    write.payload = Payload::of_bytes(whole);
    for (const bool encapsulated : {false, true}) {
      Packet packet = data_packet(write);
      if (encapsulated) {
        std::get<Ipv6Route>(packet.route).encapsulation =
            SrEncapsulation{.source = kSource, .destination = kDestination, .srh = std::nullopt};
      }
      Bytes pieced(kHeadersSizeMax);
      const HeadersWritten headers = encode_headers(packet, kSettings, pieced);
      EXPECT_EQ(headers.covered_from, encapsulated ? kIpv6Size : 0u);
      pieced.resize(headers.size);
      const ConstBytes covered = ConstBytes(pieced).subspan(headers.covered_from);
      // Pieces of odd sizes, one of them empty.
      const std::size_t cut = size / 3;
      const std::array pieces{whole.first(cut), ConstBytes(), whole.subspan(cut)};
      const Trailer trailer = make_trailer(covered, pieces);
      pieced.insert(pieced.end(), whole.begin(), whole.end());
      pieced.insert(pieced.end(), trailer.begin(), trailer.end());
      EXPECT_EQ(pieced, encoded(packet)) << size << " bytes";
    }
  }
}

TEST(Encode, ATrailerWithoutPayloadIsTheIcrc) {
  Bytes headers(kHeadersSizeMax);
  const Packet packet =
      control_packet(Acknowledge{.destination_qp = Qpn(3), .psn = Psn(0), .aeth = {}});
  headers.resize(encode_headers(packet, kSettings, headers).size);
  EXPECT_EQ(make_trailer(headers, {}).size(), kIcrcSize);
}

TEST(Encode, HeadersOfAPayloadThatIsOnlyALengthStateThatLength) {
  RdmaWrite write = small_write();
  write.reth.dma_length = 4096;
  write.payload = Payload::of_length(4095);
  const Packet packet = data_packet(write);
  Bytes headers(kHeadersSizeMax);
  encode_headers(packet, kSettings, headers);
  const auto ip = Ipv6::read(*Ipv6View::over(headers));
  EXPECT_EQ(kIpv6Size + ip.payload_length, encoded_size(packet));
  EXPECT_EQ(ip.payload_length, 8 + 12 + 4 + 4 + 16 + 4096 + 4);
}

TEST(EncodeDeathTest, APayloadThatIsOnlyALengthHasNoBytesToEncode) {
  RdmaWrite write = small_write();
  write.payload = Payload::of_length(4);
  const Packet packet = data_packet(write);
  Bytes out(encoded_size(packet));
  EXPECT_DEATH(encode_packet(packet, kSettings, out), "this payload is only a length");
}

TEST(EncodeDeathTest, RefusesToWriteWhereThereIsNoRoom) {
  const Packet packet = data_packet(small_write());
  Bytes out(encoded_size(packet) - 1);
  EXPECT_DEATH(encode_packet(packet, kSettings, out), "no room for the packet");
  Bytes headers(kHeadersSizeMax - 1);
  EXPECT_DEATH(encode_headers(packet, kSettings, headers), "no room for the longest headers");
}

// ---- settings ----

TEST(Encode, MarksPacketsAsTheDeploymentSays) {
  WireSettings settings;
  settings.dscp.trimmable = Dscp(33);
  Packet packet = data_packet(small_write());
  packet.udp_port = kUdpPortAlternate;
  Bytes out(encoded_size(packet));
  encode_packet(packet, settings, out);
  EXPECT_EQ(Ipv6::read(*Ipv6View::over(out)).dscp, Dscp(33));
  EXPECT_EQ(Udp::read(*UdpView::over(ConstBytes(out).subspan(kIpv6Size))).destination_port,
            kUdpPortAlternate);
}

TEST(Encode, TheLongestPayloadFitsWithTheLongestHeaders) {
  const std::vector<std::byte> payload(kPayloadSizeMax);
  RdmaWrite write = small_write();
  write.part = MessagePart::only(Immediate(1));
  write.reth.dma_length = static_cast<std::uint32_t>(payload.size());
  write.payload = Payload::of_bytes(payload);
  Packet packet = data_packet(write);
  std::get<Ipv6Route>(packet.route).encapsulation =
      SrEncapsulation{.source = kSource,
                      .destination = kDestination,
                      .srh = Srh{.segment = kDestination, .segments_left = 1}};
  const Bytes whole = encoded(packet);
  EXPECT_LE(whole.size(), 65535u);
  const auto decoded = decode_ip(whole, kSettings);
  ASSERT_TRUE(decoded) << describe(decoded.error()).text;
  EXPECT_EQ(std::get<RdmaWrite>(decoded->transport.body).payload.size(), payload.size());
}

}  // namespace
}  // namespace openmrc::wire
