// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/arbitrary_packet.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace openmrc::test {
namespace {

using namespace openmrc::wire;

constexpr std::size_t kPayloadMax = 9000;

// Bytes that tell by their value where in the payload they stand.
const std::array<std::byte, kPayloadMax>& payload_memory() {
  static const auto memory = [] {
    std::array<std::byte, kPayloadMax> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>((i * 7 + i / 256) & 0xff);
    }
    return bytes;
  }();
  return memory;
}

std::uint8_t u8(Choices& c) { return static_cast<std::uint8_t>(c.bits(8)); }
std::uint16_t u16(Choices& c) { return static_cast<std::uint16_t>(c.bits(16)); }
std::uint32_t u32(Choices& c) { return static_cast<std::uint32_t>(c.bits(32)); }
std::uint32_t u24(Choices& c) { return static_cast<std::uint32_t>(c.bits(24)); }
std::uint8_t u4(Choices& c) { return static_cast<std::uint8_t>(c.bits(4)); }

Qpn queue_pair(Choices& c) { return Qpn(std::max(u24(c), kFirstUsableQpn.raw())); }

TxTimestamp timestamp(Choices& c) {
  return {.ticks = u16(c), .unit = c.flag() ? TickUnit::kVendor : TickUnit::k128Ns};
}

std::optional<TxTimestamp> optional_timestamp(Choices& c) {
  if (!c.flag()) return std::nullopt;
  return timestamp(c);
}

Meth meth(Choices& c) { return {.rqmsn = Rqmsn(u16(c)), .msn = Msn(u16(c))}; }

Payload payload(Choices& c) {
  // Mostly small, so that every pad count and header combination comes up often.
  const std::size_t size = 1 + (c.flag() ? c.below(64) : c.below(4200));
  const std::size_t start = c.below(kPayloadMax - size);
  return Payload::of_bytes(ConstBytes(payload_memory()).subspan(start, size));
}

RdmaWrite write(Choices& c, Opcode opcode) {
  RdmaWrite made{.destination_qp = queue_pair(c),
                 .psn = Psn(u24(c)),
                 .ack_request = c.flag(),
                 .retransmission = c.flag(),
                 .part = MessagePart::of(opcode, Immediate(u32(c))),
                 .meth = meth(c),
                 .sent = optional_timestamp(c),
                 .reth = {.virtual_address = c.bits(64), .rkey = RKey(u32(c)), .dma_length = 0},
                 .payload = payload(c)};
  made.reth.dma_length = std::max(u32(c), made.payload.size());
  return made;
}

Sack sack(Choices& c) {
  constexpr PathMark kMarks[] = {PathMark::kNone, PathMark::kSkipOnce, PathMark::kAlwaysSkip};
  return {.destination_qp = queue_pair(c),
          .retransmission = c.flag(),
          .seth = {.mark = c.one_of(kMarks),
                   .trigger = c.flag() ? SackTrigger::probe(ProbeId(u16(c)))
                                       : SackTrigger::packet(static_cast<std::int16_t>(u16(c))),
                   .entropy = Ev(u32(c)),
                   .spdcid = ConnectionId(u16(c)),
                   .dpdcid = ConnectionId(u16(c)),
                   .cack_psn = Psn(u24(c)),
                   .cc_flags = u4(c),
                   .mpr = u8(c),
                   .sack_offset = static_cast<std::int16_t>(u16(c)),
                   .sack_bitmap = c.bits(64)},
          .cc_state = {.tx_ticks = u16(c),
                       .ooo_count = static_cast<std::uint16_t>(c.bits(15)),
                       .restore_cwnd = c.flag(),
                       .receiver_penalty = static_cast<std::uint8_t>(c.bits(7)),
                       .received_units = u24(c)}};
}

Nack nack(Choices& c) {
  return {.destination_qp = queue_pair(c),
          .neth = {.reason = kNackReasons[c.below(kNackReasons.size())],
                   .vendor_info = u8(c),
                   .entropy = Ev(u32(c)),
                   .spdcid = ConnectionId(u16(c)),
                   .dpdcid = ConnectionId(u16(c)),
                   .psn = Psn(u24(c)),
                   .cc_flags = u4(c),
                   .tx_ticks = u16(c)}};
}

Acknowledge acknowledge(Choices& c) {
  constexpr AckSyndrome kSyndromes[] = {
      AckSyndrome::kAck, AckSyndrome::kNakSequenceError, AckSyndrome::kNakInvalidRequest,
      AckSyndrome::kNakRemoteAccess, AckSyndrome::kNakRemoteOperation};
  return {.destination_qp = queue_pair(c),
          .psn = Psn(u24(c)),
          .aeth = {.syndrome = c.one_of(kSyndromes), .msn = AckMsn(u24(c))}};
}

ReliabilityProbe probe(Choices& c) {
  return {.destination_qp = queue_pair(c),
          .peth = {.vendor_info = u8(c),
                   .id = ProbeId(u16(c)),
                   .spdcid = ConnectionId(u16(c)),
                   .dpdcid = ConnectionId(u16(c)),
                   .sent = timestamp(c)}};
}

EndpointOp endpoint_op(Choices& c) {
  return c.flag() ? EndpointOp::kEvProbe : EndpointOp::kPortStatusUpdate;
}

EndpointRequest endpoint_request(Choices& c) {
  return {.id = EndpointRequestId(u16(c)),
          .erth = {.op = endpoint_op(c),
                   .vendor_info = u8(c),
                   .port_status_mask = u32(c),
                   .sent = timestamp(c)}};
}

EndpointResponse endpoint_response(Choices& c) {
  return {.id = EndpointRequestId(u16(c)), .eeth = {.op = endpoint_op(c), .tx_ticks = u16(c)}};
}

UdSend ud_send(Choices& c, bool has_immediate) {
  UdSend made{.destination_qp = queue_pair(c),
              .psn = Psn(u24(c)),
              .deth = {.qkey = QKey(u32(c)), .source_qp = Qpn(u24(c))},
              .immediate = std::nullopt,
              .payload = {}};
  if (has_immediate) made.immediate = Immediate(u32(c));
  if (c.below(8) != 0) made.payload = payload(c);
  return made;
}

Ipv6Address ipv6_address(Choices& c) {
  Ipv6Address address;
  for (std::size_t i = 0; i < 8; ++i) address.set_group(i, u16(c));
  return address;
}

std::optional<SrEncapsulation> encapsulation(Choices& c) {
  if (!c.flag()) return std::nullopt;
  SrEncapsulation made{.source = ipv6_address(c), .destination = ipv6_address(c), .srh = {}};
  if (c.flag()) {
    made.srh =
        Srh{.segment = ipv6_address(c), .segments_left = static_cast<std::uint8_t>(c.bits(1))};
  }
  return made;
}

bool same_write(const RdmaWrite& a, const RdmaWrite& b) {
  return a.destination_qp == b.destination_qp && a.psn == b.psn && a.ack_request == b.ack_request &&
         a.retransmission == b.retransmission && a.part == b.part && a.meth == b.meth &&
         a.sent == b.sent && a.reth == b.reth &&
         std::ranges::equal(a.payload.bytes(), b.payload.bytes());
}

bool same_datagram(const UdSend& a, const UdSend& b) {
  return a.destination_qp == b.destination_qp && a.psn == b.psn && a.deth == b.deth &&
         a.immediate == b.immediate && std::ranges::equal(a.payload.bytes(), b.payload.bytes());
}

}  // namespace

TrimmedWrite arbitrary_trimmed_write(Choices& c) {
  return {.place = c.flag() ? TrimPlace::kLastHop : TrimPlace::kOnPath,
          .destination_qp = queue_pair(c),
          .psn = Psn(u24(c)),
          .ack_request = c.flag(),
          .retransmission = c.flag(),
          .kind = write_kind(kOpcodes[c.below(6)]),
          .meth = meth(c),
          .sent = optional_timestamp(c)};
}

Body arbitrary_body_of(Choices& c, Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcknowledge: return acknowledge(c);
    case Opcode::kEndpointRequest: return endpoint_request(c);
    case Opcode::kEndpointResponse: return endpoint_response(c);
    case Opcode::kSack: return sack(c);
    case Opcode::kNack: return nack(c);
    case Opcode::kReliabilityProbe: return probe(c);
    case Opcode::kUdSendOnly: return ud_send(c, false);
    case Opcode::kUdSendOnlyImmediate: return ud_send(c, true);
    default: return write(c, opcode);
  }
}

Body arbitrary_body(Choices& c) {
  const std::uint64_t kind = c.below(kOpcodes.size() + 2);
  if (kind == kOpcodes.size()) return arbitrary_trimmed_write(c);
  if (kind == kOpcodes.size() + 1) return ud_send(c, c.flag());
  return arbitrary_body_of(c, kOpcodes[kind]);
}

Packet arbitrary_packet(Choices& c) {
  Packet packet;
  packet.transport = {.pkey = PKey(u16(c)), .body = arbitrary_body(c)};
  constexpr TrafficClass kClasses[] = {
      TrafficClass::kTrimmable, TrafficClass::kControl, TrafficClass::kNoTrim,
      TrafficClass::kTrimmableRetransmission, TrafficClass::kUnknown};
  packet.traffic_class = c.one_of(kClasses);
  if (const auto* trimmed = std::get_if<TrimmedWrite>(&packet.transport.body)) {
    packet.traffic_class =
        trimmed->retransmission ? TrafficClass::kTrimmableRetransmission : TrafficClass::kTrimmable;
  }
  packet.ecn = static_cast<Ecn>(c.bits(2));
  packet.udp_port = c.flag() ? kUdpPortAlternate : kUdpPortRoce;
  if (c.below(4) == 3) {
    packet.route = Ipv4Route{
        .source = Ipv4Address(u32(c)), .destination = Ipv4Address(u32(c)), .ev_low = u16(c)};
  } else {
    packet.route = Ipv6Route{.source = ipv6_address(c),
                             .destination = ipv6_address(c),
                             .ev = Ev(u32(c)),
                             .encapsulation = encapsulation(c)};
  }
  return packet;
}

bool same_packet(const Packet& a, const Packet& b) {
  if (a.route != b.route || a.udp_port != b.udp_port || a.traffic_class != b.traffic_class ||
      a.ecn != b.ecn || a.transport.pkey != b.transport.pkey ||
      a.transport.body.index() != b.transport.body.index()) {
    return false;
  }
  return std::visit(
      [&]<class Kind>(const Kind& left) {
        const auto& right = std::get<Kind>(b.transport.body);
        if constexpr (std::same_as<Kind, RdmaWrite>) {
          return same_write(left, right);
        } else if constexpr (std::same_as<Kind, UdSend>) {
          return same_datagram(left, right);
        } else {
          return left == right;
        }
      },
      a.transport.body);
}

}  // namespace openmrc::test
