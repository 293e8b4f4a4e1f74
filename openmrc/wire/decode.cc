// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/decode.h"

#include <cstddef>

#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/icrc.h"
#include "openmrc/wire/plain_sack.h"
#include "openmrc/wire/plain_write.h"

namespace openmrc::wire {
namespace {

// Walks over headers. Whoever calls `take` has made sure with `has` that the bytes are there.
class Cursor {
 public:
  explicit Cursor(ConstBytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool has(std::size_t count) const { return bytes_.size() >= count; }
  [[nodiscard]] ConstBytes rest() const { return bytes_; }
  template <class Header>
  typename Header::View take() {
    constexpr std::size_t kSize = Header::View::kSize;
    OPENMRC_DCHECK(has(kSize), "taking what is not there");
    const typename Header::View view(bytes_.first<kSize>());
    bytes_ = bytes_.subspan(kSize);
    return view;
  }
  void drop_last(std::size_t count) { bytes_ = bytes_.first(bytes_.size() - count); }

 private:
  ConstBytes bytes_;
};

// The functions below fill a record that the caller owns, because it is too large to be handed up
// through every layer.
using Decoded = Result<void, Reject>;

// ---- BTH and behind ----

Decoded take_timestamp(bool present, Cursor& at, std::optional<TxTimestamp>& sent) {
  if (!present) {
    sent.reset();
    return {};
  }
  const TsethView view = at.take<Tseth>();
  if (const auto result = Tseth::check(view); !result) return failure(result.error());
  sent = Tseth::read(view).sent;
  return {};
}

// What is left without its pad (WIRE-35).
Result<ConstBytes, Reject> without_pad(std::size_t pad, const Cursor& at) {
  const ConstBytes padded = at.rest();
  if (padded.size() % 4 != 0 || pad > padded.size()) return failure(Reject::kPadCount);
  return padded.first(padded.size() - pad);
}

// WIRE-49, WIRE-50
Decoded take_payload(std::size_t pad, const Cursor& at, RdmaWrite& write) {
  const auto unpadded = without_pad(pad, at);
  if (!unpadded) return failure(unpadded.error());
  const ConstBytes payload = *unpadded;
  const bool is_whole = write.part.begins_message() && write.part.ends_message();
  if (payload.empty() && (write.reth.dma_length != 0 || !is_whole)) {
    return failure(Reject::kWriteEmpty);
  }
  if (payload.size() > write.reth.dma_length) return failure(Reject::kWriteOverrun);
  write.payload = Payload::of_bytes(payload);
  return {};
}

// WIRE-4, WIRE-48
Decoded decode_write(const Bth& bth, Cursor at, RdmaWrite& write) {
  const bool immediate_follows = has_immediate(bth.opcode);
  const std::size_t headers = kMethSize + (bth.has_timestamp ? kTsethSize : 0) + kRethSize +
                              (immediate_follows ? kImmdtSize : 0);
  if (!at.has(headers)) return failure(Reject::kHeaderTruncated);
  write.destination_qp = bth.destination_qp;
  write.psn = bth.psn;
  write.ack_request = bth.ack_request;
  write.retransmission = bth.retransmission;
  write.meth = Meth::read(at.take<Meth>());
  if (const auto result = take_timestamp(bth.has_timestamp, at, write.sent); !result) {
    return failure(result.error());
  }
  write.reth = Reth::read(at.take<Reth>());
  const Immediate data = immediate_follows ? Immdt::read(at.take<Immdt>()).data : Immediate{};
  write.part = MessagePart::of(bth.opcode, data);
  return take_payload(bth.pad_count, at, write);
}

// WIRE-82
Decoded decode_trimmed(ConstBytes udp_payload, TrimPlace place, Transport& transport) {
  Cursor at(udp_payload);
  if (!at.has(kBthSize)) return failure(Reject::kBthTruncated);
  const BthView view = at.take<Bth>();
  if (const auto result = Bth::check(view); !result) return failure(result.error());
  const Bth bth = Bth::read(view);
  // WIRE-86
  if (!is_write(bth.opcode)) return failure(Reject::kTrimmedNotWrite);
  if (bth.destination_qp < kFirstUsableQpn) return failure(Reject::kQueuePairReserved);
  if (!at.has(kMethSize + (bth.has_timestamp ? kTsethSize : 0))) {
    return failure(Reject::kHeaderTruncated);
  }
  transport.pkey = bth.pkey;
  auto& trimmed =
      transport.body.emplace<TrimmedWrite>(TrimmedWrite{.place = place,
                                                        .destination_qp = bth.destination_qp,
                                                        .psn = bth.psn,
                                                        .ack_request = bth.ack_request,
                                                        .retransmission = bth.retransmission,
                                                        .kind = write_kind(bth.opcode),
                                                        .meth = Meth::read(at.take<Meth>()),
                                                        .sent = std::nullopt});
  return take_timestamp(bth.has_timestamp, at, trimmed.sent);
}

// Control packets: a BTH and one header of a fixed size, with nothing behind. Each of these takes a
// cursor that holds exactly that header (WIRE-5).

// WIRE-43
EndpointRequestId request_id(const Bth& bth) {
  return EndpointRequestId(static_cast<std::uint16_t>(bth.psn.raw() & 0xffff));
}

Decoded decode_acknowledge(const Bth& bth, Cursor at, Body& body) {
  const AethView view = at.take<Aeth>();
  if (const auto result = Aeth::check(view); !result) return failure(result.error());
  body =
      Acknowledge{.destination_qp = bth.destination_qp, .psn = bth.psn, .aeth = Aeth::read(view)};
  return {};
}

// WIRE-44
Decoded decode_sack(const Bth& bth, Cursor at, Body& body) {
  const SethView view = at.take<Seth>();
  if (const auto result = Seth::check(view); !result) return failure(result.error());
  body = Sack{.destination_qp = bth.destination_qp,
              .retransmission = bth.retransmission,
              .seth = Seth::read(view),
              .cc_state = CcState::read(at.take<CcState>())};
  return {};
}

// WIRE-44
Decoded decode_nack(const Bth& bth, Cursor at, Body& body) {
  const NethView view = at.take<Neth>();
  if (const auto result = Neth::check(view); !result) return failure(result.error());
  body = Nack{.destination_qp = bth.destination_qp, .neth = Neth::read(view)};
  return {};
}

Decoded decode_probe(const Bth& bth, Cursor at, Body& body) {
  const PethView view = at.take<Peth>();
  if (const auto result = Peth::check(view); !result) return failure(result.error());
  body = ReliabilityProbe{.destination_qp = bth.destination_qp, .peth = Peth::read(view)};
  return {};
}

Decoded decode_endpoint_request(const Bth& bth, Cursor at, Body& body) {
  const ErthView view = at.take<Erth>();
  if (const auto result = Erth::check(view); !result) return failure(result.error());
  body = EndpointRequest{.id = request_id(bth), .erth = Erth::read(view)};
  return {};
}

Decoded decode_endpoint_response(const Bth& bth, Cursor at, Body& body) {
  body = EndpointResponse{.id = request_id(bth), .eeth = Eeth::read(at.take<Eeth>())};
  return {};
}

struct ControlDecoder {
  std::size_t size;
  bool for_endpoint;
  Decoded (*decode)(const Bth&, Cursor, Body&);
};

ControlDecoder control_decoder(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSack: return {kSethSize + kCcStateSize, false, decode_sack};
    case Opcode::kNack: return {kNethSize, false, decode_nack};
    case Opcode::kReliabilityProbe: return {kPethSize, false, decode_probe};
    case Opcode::kEndpointRequest: return {kErthSize, true, decode_endpoint_request};
    case Opcode::kEndpointResponse: return {kEethSize, true, decode_endpoint_response};
    default: return {kAethSize, false, decode_acknowledge};
  }
}

// WIRE-45
Decoded check_control(const Bth& bth, const ControlDecoder& decoder, std::size_t size) {
  if (decoder.for_endpoint && bth.destination_qp != kEndpointQpn) {
    return failure(Reject::kEndpointQueuePair);
  }
  if (!decoder.for_endpoint && bth.destination_qp < kFirstUsableQpn) {
    return failure(Reject::kQueuePairReserved);
  }
  if (size < decoder.size) return failure(Reject::kHeaderTruncated);
  if (size > decoder.size) return failure(Reject::kControlOverlong);
  if (bth.pad_count != 0) return failure(Reject::kPadCount);
  return {};
}

// `bytes`: a BTH that has been checked, what follows it, no ICRC.
Decoded decode_control(ConstBytes bytes, Body& body) {
  Cursor at(bytes);
  const Bth bth = Bth::read(at.take<Bth>());
  const ControlDecoder decoder = control_decoder(bth.opcode);
  if (const auto result = check_control(bth, decoder, at.rest().size()); !result) {
    return failure(result.error());
  }
  return decoder.decode(bth, at, body);
}

// UD-1, UD-2
[[gnu::cold]] Decoded decode_ud_send(const Bth& bth, Cursor at, UdSend& datagram) {
  const bool immediate_follows = bth.opcode == Opcode::kUdSendOnlyImmediate;
  if (bth.destination_qp < kFirstUsableQpn) return failure(Reject::kQueuePairReserved);
  if (!at.has(kDethSize + (immediate_follows ? kImmdtSize : 0))) {
    return failure(Reject::kHeaderTruncated);
  }
  datagram.destination_qp = bth.destination_qp;
  datagram.psn = bth.psn;
  datagram.deth = Deth::read(at.take<Deth>());
  if (immediate_follows) datagram.immediate = Immdt::read(at.take<Immdt>()).data;
  const auto payload = without_pad(bth.pad_count, at);
  if (!payload) return failure(payload.error());
  datagram.payload = Payload::of_bytes(*payload);
  return {};
}

// WIRE-48
Decoded decode_whole(ConstBytes udp_payload, Transport& transport) {
  Cursor at(udp_payload);
  if (!at.has(kBthSize + kIcrcSize)) return failure(Reject::kBthTruncated);
  at.drop_last(kIcrcSize);
  const ConstBytes bytes = at.rest();
  const BthView view = at.take<Bth>();
  if (const auto result = Bth::check(view); !result) return failure(result.error());
  const Bth bth = Bth::read(view);
  transport.pkey = bth.pkey;
  if (is_datagram(bth.opcode)) [[unlikely]]
    return decode_ud_send(bth, at, transport.body.emplace<UdSend>());
  if (!is_write(bth.opcode)) return decode_control(bytes, transport.body);
  if (bth.destination_qp < kFirstUsableQpn) return failure(Reject::kQueuePairReserved);
  return decode_write(bth, at, transport.body.emplace<RdmaWrite>());
}

// ---- UDP and before ----

// What the IP headers say besides the route.
struct IpContent {
  Dscp dscp;  // of the outermost header: the one that a switch marks (WIRE-27)
  Ecn ecn = Ecn::kNotCapable;
  std::uint32_t flow_label = 0;  // of the inner header
  ConstBytes covered;            // from the inner IP header on: what the ICRC covers (WIRE-77)
  ConstBytes datagram;
};

void set_ev(Packet& packet, std::uint32_t flow_label, std::uint16_t source_port) {
  if (auto* ipv6 = std::get_if<Ipv6Route>(&packet.route)) {
    ipv6->ev = join_ev(flow_label, source_port);
  } else if (auto* ipv4 = std::get_if<Ipv4Route>(&packet.route)) {
    ipv4->ev_low = source_port;
  }
}

Decoded decode_trimmed_datagram(ConstBytes udp_payload, TrimPlace place, Packet& packet) {
  if (const auto result = decode_trimmed(udp_payload, place, packet.transport); !result) {
    return failure(result.error());
  }
  // Only data is trimmed, and retransmitted data has a class of its own.
  packet.traffic_class = std::get<TrimmedWrite>(packet.transport.body).retransmission
                             ? TrafficClass::kTrimmableRetransmission
                             : TrafficClass::kTrimmable;
  return {};
}

// `covered`: from the inner IP header through the ICRC.
bool icrc_is_right(ConstBytes covered) {
  return Icrc(covered.first(covered.size() - kIcrcSize)).value() == stored_icrc(covered);
}

// WIRE-78
Decoded check_icrc(ConstBytes covered, const WireSettings& settings) {
  if (settings.icrc_check == IcrcCheck::kSkip || icrc_is_right(covered)) return {};
  return failure(Reject::kIcrcMismatch);
}

Decoded decode_datagram(const IpContent& ip, const WireSettings& settings, Packet& packet) {
  Cursor at(ip.datagram);
  if (!at.has(kUdpSize)) return failure(Reject::kUdpTruncated);
  const Udp udp = Udp::read(at.take<Udp>());
  // WIRE-11
  if (udp.destination_port != settings.udp_port &&
      udp.destination_port != settings.udp_port_alternate) {
    return failure(Reject::kUdpPortOther);
  }
  packet.udp_port = udp.destination_port;
  packet.ecn = ip.ecn;
  set_ev(packet, ip.flow_label, udp.source_port);
  // WIRE-81
  if (const auto place = settings.dscp.trim_place(ip.dscp)) {
    return decode_trimmed_datagram(at.rest(), *place, packet);
  }
  // WIRE-14
  if (udp.length != ip.datagram.size()) return failure(Reject::kUdpLengthMismatch);
  packet.traffic_class = settings.dscp.traffic_class(ip.dscp);
  if (const auto result = decode_whole(at.rest(), packet.transport); !result) {
    return failure(result.error());
  }
  return check_icrc(ip.covered, settings);
}

// Whether `packet` holds the bytes that its IP header states. A switch may trim a packet and leave
// its lengths as they were, so a trimmed packet may be shorter than it says (WIRE-15, WIRE-85).
bool length_fits(ConstBytes packet, std::size_t stated, Dscp dscp, const DscpMap& map) {
  return stated <= packet.size() || map.trim_place(dscp).has_value();
}
// WIRE-7
ConstBytes cut_to(ConstBytes packet, std::size_t stated) {
  return stated < packet.size() ? packet.first(stated) : packet;
}

Decoded decode_ipv4(ConstBytes packet, const WireSettings& settings, Packet& into) {
  if (packet.size() < kIpv4Size) return failure(Reject::kIpv4Truncated);
  const Ipv4View view(packet.first<kIpv4Size>());
  if (const auto result = Ipv4::check(view); !result) return failure(result.error());
  const Ipv4 ip = Ipv4::read(view);
  if (ip.total_length < kIpv4Size ||
      !length_fits(packet, ip.total_length, ip.dscp, settings.dscp)) {
    return failure(Reject::kIpv4LengthMismatch);
  }
  const ConstBytes whole = cut_to(packet, ip.total_length);
  into.route = Ipv4Route{.source = ip.source, .destination = ip.destination};
  const IpContent content{
      .dscp = ip.dscp, .ecn = ip.ecn, .covered = whole, .datagram = whole.subspan(kIpv4Size)};
  return decode_datagram(content, settings, into);
}

// Takes the encapsulation off `packet`, whose outer header has been checked.
Result<ConstBytes, Reject> take_encapsulation(ConstBytes packet, const Ipv6& outer,
                                              SrEncapsulation& encapsulation) {
  encapsulation.source = outer.source;
  encapsulation.destination = outer.destination;
  ConstBytes inside = cut_to(packet, kIpv6Size + outer.payload_length).subspan(kIpv6Size);
  if (outer.next_header == IpProtocol::kRouting) {
    if (inside.size() < kSrhSize) return failure(Reject::kSrhTruncated);
    const SrhView view(inside.first<kSrhSize>());
    if (const auto result = Srh::check(view); !result) return failure(result.error());
    encapsulation.srh = Srh::read(view);
    inside = inside.subspan(kSrhSize);
  }
  return inside;
}

// The short way for a WRITE whose two IPv6 headers are of one class, as senders make them.
bool fill_encapsulated_write(ConstBytes inside, const Ipv6& outer,
                             const SrEncapsulation& encapsulation, const WireSettings& settings,
                             Packet& into) {
  const auto inner = Ipv6View::over(inside);
  if (!inner || dscp_of(inner->get<Ipv6Layout::TrafficByte>()) != outer.dscp) return false;
  if (!fill_plain_write(inside, settings, into)) return false;
  std::get<Ipv6Route>(into.route).encapsulation.emplace(encapsulation);
  if (outer.ecn == Ecn::kCongested) into.ecn = Ecn::kCongested;
  return true;
}

// The outer header has been checked (WIRE-26).
Decoded decode_encapsulated(ConstBytes packet, const WireSettings& settings, Packet& into) {
  const Ipv6 outer = Ipv6::read(Ipv6View(packet.first<kIpv6Size>()));
  SrEncapsulation encapsulation;
  const auto inside = take_encapsulation(packet, outer, encapsulation);
  if (!inside) return failure(inside.error());
  if (fill_encapsulated_write(*inside, outer, encapsulation, settings, into)) {
    return check_icrc(*inside, settings);
  }
  auto& route = into.route.emplace<Ipv6Route>();
  route.encapsulation.emplace(encapsulation);
  if (inside->size() < kIpv6Size) return failure(Reject::kIpv6Truncated);
  const Ipv6View view(inside->first<kIpv6Size>());
  if (const auto result = Ipv6::check(view); !result) return failure(result.error());
  const Ipv6 inner = Ipv6::read(view);
  if (inner.next_header != IpProtocol::kUdp) return failure(Reject::kSrv6NestedTooDeep);
  const std::size_t stated = kIpv6Size + inner.payload_length;
  if (!length_fits(*inside, stated, outer.dscp, settings.dscp)) {
    return failure(Reject::kIpv6LengthMismatch);
  }
  route.source = inner.source;
  route.destination = inner.destination;
  const ConstBytes whole = cut_to(*inside, stated);
  const IpContent content{.dscp = outer.dscp,
                          // WIRE-28
                          .ecn = outer.ecn == Ecn::kCongested ? Ecn::kCongested : inner.ecn,
                          .flow_label = inner.flow_label,
                          .covered = whole,
                          .datagram = whole.subspan(kIpv6Size)};
  return decode_datagram(content, settings, into);
}

Decoded decode_ipv6(ConstBytes packet, const WireSettings& settings, Packet& into) {
  if (packet.size() < kIpv6Size) return failure(Reject::kIpv6Truncated);
  const Ipv6View view(packet.first<kIpv6Size>());
  if (const auto result = Ipv6::check(view); !result) return failure(result.error());
  const Ipv6 ip = Ipv6::read(view);
  const std::size_t stated = kIpv6Size + ip.payload_length;
  if (!length_fits(packet, stated, ip.dscp, settings.dscp)) {
    return failure(Reject::kIpv6LengthMismatch);
  }
  if (ip.next_header != IpProtocol::kUdp) return decode_encapsulated(packet, settings, into);
  auto& route = into.route.emplace<Ipv6Route>();
  route.source = ip.source;
  route.destination = ip.destination;
  const ConstBytes whole = cut_to(packet, stated);
  const IpContent content{.dscp = ip.dscp,
                          .ecn = ip.ecn,
                          .flow_label = ip.flow_label,
                          .covered = whole,
                          .datagram = whole.subspan(kIpv6Size)};
  return decode_datagram(content, settings, into);
}

// Apart from its caller, so that the registers it needs are saved only when it is called.
[[gnu::noinline]] Decoded decode_any_ip(ConstBytes packet, const WireSettings& settings,
                                        Packet& into) {
  if (fill_plain_sack(packet, settings, into)) return check_icrc(packet, settings);
  if (packet.empty()) return failure(Reject::kIpEmpty);
  switch (std::to_integer<unsigned>(packet[0] >> 4)) {
    case 6: return decode_ipv6(packet, settings, into);
    case 4: return decode_ipv4(packet, settings, into);
    default: return failure(Reject::kIpVersionUnknown);
  }
}

}  // namespace

Result<Transport, Reject> decode_transport(ConstBytes udp_payload,
                                           std::optional<TrimPlace> trimmed) {
  Result<Transport, Reject> result;
  const Decoded decoded =
      trimmed ? decode_trimmed(udp_payload, *trimmed, *result) : decode_whole(udp_payload, *result);
  if (!decoded) result = failure(decoded.error());
  return result;
}

Result<void, Reject> decode_ip_into(ConstBytes packet, const WireSettings& settings, Packet& into) {
  if (fill_plain_write(packet, settings, into)) [[likely]] {
    return check_icrc(packet, settings);
  }
  return decode_any_ip(packet, settings, into);
}

Result<Packet, Reject> decode_ip(ConstBytes packet, const WireSettings& settings) {
  Result<Packet, Reject> result;
  if (const auto decoded = decode_ip_into(packet, settings, *result); !decoded) {
    result = failure(decoded.error());
  }
  return result;
}

// WIRE-6
Result<Packet, Reject> decode_frame(ConstBytes frame, const WireSettings& settings) {
  const auto ethernet = EthernetView::over(frame);
  if (!ethernet) return failure(Reject::kEthernetTruncated);
  const auto type = static_cast<EtherType>(ethernet->get<EthernetLayout::Type>());
  if (type != EtherType::kIpv4 && type != EtherType::kIpv6) {
    return failure(Reject::kEtherTypeNotIp);
  }
  const ConstBytes packet = frame.subspan(EthernetView::kSize);
  const unsigned other_version = type == EtherType::kIpv4 ? 6 : 4;
  if (!packet.empty() && std::to_integer<unsigned>(packet[0] >> 4) == other_version) {
    return failure(Reject::kEtherTypeMismatch);
  }
  return decode_ip(packet, settings);
}

}  // namespace openmrc::wire
