// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/dscp.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/field/opcode.h"
#include "openmrc/wire/header/aeth.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/deth.h"
#include "openmrc/wire/header/eeth.h"
#include "openmrc/wire/header/erth.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/neth.h"
#include "openmrc/wire/header/peth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/tseth.h"
#include "openmrc/wire/message_part.h"
#include "openmrc/wire/payload.h"

// A packet as the rest of the project passes it around. What cannot be sent cannot be written down:
// each kind of packet has just the fields that it has on the wire, and where two header fields must
// agree, one field here stands for both.
namespace openmrc::wire {

// One packet of a WRITE: data and where it goes.
struct RdmaWrite {
  Qpn destination_qp{};
  Psn psn{};
  bool ack_request = false;  // asks for a SACK at once
  bool retransmission = false;
  MessagePart part{};
  Meth meth{};
  std::optional<TxTimestamp> sent{};
  Reth reth{};
  Payload payload{};  // 1 byte to reth.dma_length
};

// What is left of a WRITE packet that a switch trimmed: enough to ask for it again, and nothing to
// place in memory.
struct TrimmedWrite {
  TrimPlace place = TrimPlace::kOnPath;
  Qpn destination_qp{};
  Psn psn{};
  bool ack_request = false;
  bool retransmission = false;
  WriteKind kind = WriteKind::kOnly;  // whether it had an immediate, but not which
  Meth meth{};
  std::optional<TxTimestamp> sent{};

  bool operator==(const TrimmedWrite&) const = default;
};

// The transport's word on messages, apart from the reliability of packets (MRC 6.3).
struct Acknowledge {
  Qpn destination_qp{};
  Psn psn{};
  Aeth aeth{};

  bool operator==(const Acknowledge&) const = default;
};

// Which packets have arrived (MRC 7.5.2). BTH.PSN repeats seth.cack_psn.
struct Sack {
  Qpn destination_qp{};
  bool retransmission = false;  // the packet that triggered it was a retransmission
  Seth seth{};
  CcState cc_state{};

  bool operator==(const Sack&) const = default;
};

// A packet that was not accepted (MRC 7.5.3). BTH.PSN repeats neth.psn.
struct Nack {
  Qpn destination_qp{};
  Neth neth{};

  bool operator==(const Nack&) const = default;
};

// Asks the responder for a SACK (MRC 7.4.6). Consumes no PSN.
struct ReliabilityProbe {
  Qpn destination_qp{};
  Peth peth{};

  bool operator==(const ReliabilityProbe&) const = default;
};

// The requestor's own number for an endpoint request; the response carries it back in BTH.PSN.
using EndpointRequestId = Strong<struct EndpointRequestIdTag, std::uint16_t>;

// From endpoint to endpoint, on the reserved queue pair 0x2 (MRC 7.3).
struct EndpointRequest {
  EndpointRequestId id{};
  Erth erth{};

  bool operator==(const EndpointRequest&) const = default;
};

struct EndpointResponse {
  EndpointRequestId id{};
  Eeth eeth{};

  bool operator==(const EndpointResponse&) const = default;
};

// An unreliable datagram: RoCEv2's own SEND of a UD queue pair, beyond MRC (UD-1).
struct UdSend {
  Qpn destination_qp{};
  Psn psn{};  // the sender's own count
  Deth deth{};
  std::optional<Immediate> immediate{};
  Payload payload{};  // may be empty
};

using Body = std::variant<RdmaWrite, TrimmedWrite, Acknowledge, Sack, Nack, ReliabilityProbe,
                          EndpointRequest, EndpointResponse, UdSend>;

Opcode opcode_of(const Body& body);

// The data that a packet carries; nothing for those that carry none.
inline Payload payload_of(const Body& body) {
  if (const auto* write = std::get_if<RdmaWrite>(&body)) [[likely]]
    return write->payload;
  const auto* datagram = std::get_if<UdSend>(&body);
  return datagram != nullptr ? datagram->payload : Payload();
}

// What stands behind the UDP header.
struct Transport {
  PKey pkey = kPKeyDefault;
  Body body{};
};

// The outer header of IPv6 in IPv6 (MRC 9.2): the destination is the path, as a uSID carrier.
struct SrEncapsulation {
  Ipv6Address source{};
  Ipv6Address destination{};
  std::optional<Srh> srh{};

  bool operator==(const SrEncapsulation&) const = default;
};

struct Ipv4Route {
  Ipv4Address source{};
  Ipv4Address destination{};
  std::uint16_t ev_low = 0;  // IPv4 carries only this half of the EV

  bool operator==(const Ipv4Route&) const = default;
};

struct Ipv6Route {
  Ipv6Address source{};
  Ipv6Address destination{};
  Ev ev{};
  std::optional<SrEncapsulation> encapsulation{};

  bool operator==(const Ipv6Route&) const = default;
};

struct Packet {
  std::variant<Ipv6Route, Ipv4Route> route{};
  UdpPort udp_port = kUdpPortRoce;
  // How the sender wants it treated. A trimmed packet's own class is lost; it reads as the one it
  // must have been sent in.
  TrafficClass traffic_class = TrafficClass::kControl;
  Ecn ecn = Ecn::kNotCapable;
  Transport transport{};
};

Ev ev_of(const Packet& packet);

// Mapped if it came over IPv4.
inline Ipv6Address source_address(const Packet& packet) {
  if (const auto* route = std::get_if<Ipv6Route>(&packet.route)) return route->source;
  return mapped(std::get<Ipv4Route>(packet.route).source);
}

}  // namespace openmrc::wire
