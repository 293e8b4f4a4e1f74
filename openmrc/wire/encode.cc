// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/encode.h"

#include <algorithm>
#include <array>

#include "openmrc/base/check.h"
#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/icrc.h"

namespace openmrc::wire {
namespace {

// Writes one header and returns where the next one goes. The caller of encode_headers gave room for
// the longest packet.
template <class Header>
std::byte* put(const Header& header, std::byte* at) {
  constexpr std::size_t kSize = Header::View::kSize;
  header.write(std::span<std::byte, kSize>(at, kSize));
  return at + kSize;
}

// What stands behind the UDP header, in bytes.
struct TransportSize {
  std::size_t headers = 0;
  std::size_t payload = 0;
  bool has_icrc = true;

  [[nodiscard]] std::size_t total() const {
    return headers + padded_size(payload) + (has_icrc ? kIcrcSize : 0);
  }
};

std::size_t timestamp_size(const std::optional<TxTimestamp>& sent) { return sent ? kTsethSize : 0; }

TransportSize size_of(const RdmaWrite& write) {
  const std::size_t immediate = has_immediate(write.part.opcode()) ? kImmdtSize : 0;
  return {.headers = kBthSize + kMethSize + timestamp_size(write.sent) + kRethSize + immediate,
          .payload = write.payload.size()};
}
TransportSize size_of(const TrimmedWrite& trimmed) {
  return {.headers = kBthSize + kMethSize + timestamp_size(trimmed.sent), .has_icrc = false};
}
TransportSize size_of(const Acknowledge&) { return {.headers = kBthSize + kAethSize}; }
TransportSize size_of(const Sack&) { return {.headers = kBthSize + kSethSize + kCcStateSize}; }
TransportSize size_of(const Nack&) { return {.headers = kBthSize + kNethSize}; }
TransportSize size_of(const ReliabilityProbe&) { return {.headers = kBthSize + kPethSize}; }
TransportSize size_of(const EndpointRequest&) { return {.headers = kBthSize + kErthSize}; }
TransportSize size_of(const EndpointResponse&) { return {.headers = kBthSize + kEethSize}; }
TransportSize size_of(const UdSend& datagram) {
  return {.headers = kBthSize + kDethSize + (datagram.immediate ? kImmdtSize : 0),
          .payload = datagram.payload.size()};
}

// The transport headers of each kind of packet; returns where they end.

// WIRE-4, WIRE-38
std::byte* write_body(const RdmaWrite& write, PKey pkey, std::byte* at) {
  at = put(Bth{.opcode = write.part.opcode(),
               .pad_count = pad_count(write.payload.size()),
               .pkey = pkey,
               .destination_qp = write.destination_qp,
               .ack_request = write.ack_request,
               .retransmission = write.retransmission,
               .has_timestamp = write.sent.has_value(),
               .psn = write.psn},
           at);
  at = put(write.meth, at);
  if (write.sent) at = put(Tseth{*write.sent}, at);
  at = put(write.reth, at);
  if (has_immediate(write.part.opcode())) at = put(Immdt{*write.part.immediate()}, at);
  return at;
}

std::byte* write_body(const TrimmedWrite& trimmed, PKey pkey, std::byte* at) {
  at = put(Bth{.opcode = opcode_of(trimmed.kind),
               .pkey = pkey,
               .destination_qp = trimmed.destination_qp,
               .ack_request = trimmed.ack_request,
               .retransmission = trimmed.retransmission,
               .has_timestamp = trimmed.sent.has_value(),
               .psn = trimmed.psn},
           at);
  at = put(trimmed.meth, at);
  if (trimmed.sent) at = put(Tseth{*trimmed.sent}, at);
  return at;
}

// WIRE-5
Bth control_bth(Opcode opcode, PKey pkey, Qpn destination_qp, Psn psn) {
  return {.opcode = opcode, .pkey = pkey, .destination_qp = destination_qp, .psn = psn};
}

// WIRE-39
std::byte* write_body(const Acknowledge& ack, PKey pkey, std::byte* at) {
  at = put(control_bth(Opcode::kAcknowledge, pkey, ack.destination_qp, ack.psn), at);
  return put(ack.aeth, at);
}

// WIRE-40
std::byte* write_body(const Sack& sack, PKey pkey, std::byte* at) {
  Bth bth = control_bth(Opcode::kSack, pkey, sack.destination_qp, sack.seth.cack_psn);
  bth.retransmission = sack.retransmission;
  at = put(bth, at);
  at = put(sack.seth, at);
  return put(sack.cc_state, at);
}

// WIRE-41
std::byte* write_body(const Nack& nack, PKey pkey, std::byte* at) {
  at = put(control_bth(Opcode::kNack, pkey, nack.destination_qp, nack.neth.psn), at);
  return put(nack.neth, at);
}

// WIRE-42
std::byte* write_body(const ReliabilityProbe& probe, PKey pkey, std::byte* at) {
  at = put(control_bth(Opcode::kReliabilityProbe, pkey, probe.destination_qp, Psn(0)), at);
  return put(probe.peth, at);
}

// WIRE-43
std::byte* write_body(const EndpointRequest& request, PKey pkey, std::byte* at) {
  at = put(control_bth(Opcode::kEndpointRequest, pkey, kEndpointQpn, Psn(request.id.raw())), at);
  return put(request.erth, at);
}

std::byte* write_body(const EndpointResponse& response, PKey pkey, std::byte* at) {
  at = put(control_bth(Opcode::kEndpointResponse, pkey, kEndpointQpn, Psn(response.id.raw())), at);
  return put(response.eeth, at);
}

// UD-1
std::byte* write_body(const UdSend& datagram, PKey pkey, std::byte* at) {
  at = put(Bth{.opcode = datagram.immediate ? Opcode::kUdSendOnlyImmediate : Opcode::kUdSendOnly,
               .pad_count = pad_count(datagram.payload.size()),
               .pkey = pkey,
               .destination_qp = datagram.destination_qp,
               .psn = datagram.psn},
           at);
  at = put(datagram.deth, at);
  return datagram.immediate ? put(Immdt{*datagram.immediate}, at) : at;
}

template <class BodyKind>
Dscp dscp_for(const BodyKind&, TrafficClass traffic_class, const DscpMap& map) {
  return map.of(traffic_class);
}
Dscp dscp_for(const TrimmedWrite& trimmed, TrafficClass, const DscpMap& map) {
  return map.of(trimmed.place);
}

TransportSize transport_size(const Packet& packet) {
  return std::visit([](const auto& body) { return size_of(body); }, packet.transport.body);
}

std::uint16_t length16(std::size_t length) {
  OPENMRC_DCHECK(length <= 0xffff, "packet is longer than an IP header can state");
  return static_cast<std::uint16_t>(length);
}

std::size_t encapsulation_size(const Packet& packet) {
  const auto* ipv6 = std::get_if<Ipv6Route>(&packet.route);
  if (ipv6 == nullptr || !ipv6->encapsulation) return 0;
  return kIpv6Size + (ipv6->encapsulation->srh ? kSrhSize : 0);
}

// How the IP headers shall mark what follows them.
struct IpMarks {
  Dscp dscp;
  Ecn ecn;
  std::uint16_t datagram_size;
};

// The outer headers around an inner packet; they repeat its traffic class and flow label.
// WIRE-19, WIRE-23
std::byte* write_encapsulation(const Ipv6Route& route, IpMarks marks, std::byte* at) {
  const SrEncapsulation& outer = *route.encapsulation;
  const std::size_t srh_size = outer.srh ? kSrhSize : 0;
  at = put(Ipv6{.dscp = marks.dscp,
                .ecn = marks.ecn,
                .flow_label = ev_high(route.ev),
                .payload_length = length16(srh_size + kIpv6Size + marks.datagram_size),
                .next_header = outer.srh ? IpProtocol::kRouting : IpProtocol::kIpv6,
                .source = outer.source,
                .destination = outer.destination},
           at);
  return outer.srh ? put(*outer.srh, at) : at;
}

// Where the headers so far end, and where the IP header begins that the ICRC covers.
struct IpWritten {
  std::byte* end;
  std::byte* covered;
};

[[gnu::always_inline]] inline IpWritten write_ip(const Ipv6Route& route, IpMarks marks,
                                                 std::byte* at) {
  if (route.encapsulation) [[unlikely]]
    at = write_encapsulation(route, marks, at);
  std::byte* const end = put(Ipv6{.dscp = marks.dscp,
                                  .ecn = marks.ecn,
                                  .flow_label = ev_high(route.ev),
                                  .payload_length = marks.datagram_size,
                                  .source = route.source,
                                  .destination = route.destination},
                             at);
  return {.end = end, .covered = at};
}

IpWritten write_ip(const Ipv4Route& route, IpMarks marks, std::byte* at) {
  std::byte* const end = put(Ipv4{.dscp = marks.dscp,
                                  .ecn = marks.ecn,
                                  .total_length = length16(kIpv4Size + marks.datagram_size),
                                  .source = route.source,
                                  .destination = route.destination},
                             at);
  return {.end = end, .covered = at};
}

std::uint16_t source_port(const Ipv6Route& route) { return ev_low(route.ev); }
std::uint16_t source_port(const Ipv4Route& route) { return route.ev_low; }

template <class BodyKind, class Route>
[[gnu::always_inline]] inline HeadersWritten write_headers(const BodyKind& body, const Route& route,
                                                           const Packet& packet,
                                                           const DscpMap& dscp, std::byte* out) {
  const IpMarks marks{.dscp = dscp_for(body, packet.traffic_class, dscp),
                      .ecn = packet.ecn,
                      .datagram_size = length16(kUdpSize + size_of(body).total())};
  const IpWritten ip = write_ip(route, marks, out);
  std::byte* at = put(Udp{.source_port = source_port(route),
                          .destination_port = packet.udp_port,
                          .length = marks.datagram_size},
                      ip.end);
  at = write_body(body, packet.transport.pkey, at);
  return {.size = static_cast<std::size_t>(at - out),
          .covered_from = static_cast<std::size_t>(ip.covered - out)};
}

// Apart from its caller, so that the registers it needs are saved only when it is called.
[[gnu::noinline]] HeadersWritten write_any_headers(const Packet& packet, const DscpMap& dscp,
                                                   std::byte* out) {
  return std::visit(
      [&](const auto& body, const auto& route) {
        return write_headers(body, route, packet, dscp, out);
      },
      packet.transport.body, packet.route);
}

}  // namespace

HeadersWritten encode_headers(const Packet& packet, const WireSettings& settings,
                              MutableBytes out) {
  OPENMRC_CHECK(out.size() >= kHeadersSizeMax, "no room for the longest headers");
  // A WRITE over IPv6 is what there is most of; it takes the short way.
  const auto* write = std::get_if<RdmaWrite>(&packet.transport.body);
  const auto* ipv6 = std::get_if<Ipv6Route>(&packet.route);
  if (write == nullptr || ipv6 == nullptr) {
    return write_any_headers(packet, settings.dscp, out.data());
  }
  return write_headers(*write, *ipv6, packet, settings.dscp, out.data());
}

Trailer make_trailer(ConstBytes covered, std::span<const ConstBytes> payload_pieces) {
  std::size_t payload_size = 0;
  for (const ConstBytes piece : payload_pieces) payload_size += piece.size();
  const std::uint32_t icrc = icrc_of(covered, payload_pieces);
  Trailer trailer;
  for (int i = 0; i < pad_count(payload_size); ++i) trailer.push_back(std::byte{0});
  for (unsigned shift = 0; shift < 32; shift += 8) {
    trailer.push_back(static_cast<std::byte>(icrc >> shift & 0xff));
  }
  return trailer;
}

std::size_t encoded_size(const Packet& packet) {
  const std::size_t ip = std::holds_alternative<Ipv4Route>(packet.route) ? kIpv4Size : kIpv6Size;
  return encapsulation_size(packet) + ip + kUdpSize + transport_size(packet).total();
}

std::size_t encode_packet(const Packet& packet, const WireSettings& settings, MutableBytes out) {
  std::array<std::byte, kHeadersSizeMax> scratch;
  const HeadersWritten headers = encode_headers(packet, settings, scratch);
  const ConstBytes header_bytes = ConstBytes(scratch).first(headers.size);
  OPENMRC_CHECK(out.size() >= encoded_size(packet), "no room for the packet");
  auto at = std::ranges::copy(header_bytes, out.begin()).out;

  const ConstBytes payload = payload_of(packet.transport.body).bytes();
  at = std::ranges::copy(payload, at).out;
  if (!std::holds_alternative<TrimmedWrite>(packet.transport.body)) {
    const Trailer trailer =
        make_trailer(header_bytes.subspan(headers.covered_from), std::array{payload});
    at = std::ranges::copy(trailer, at).out;
  }
  return static_cast<std::size_t>(at - out.begin());
}

}  // namespace openmrc::wire
