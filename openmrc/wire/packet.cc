// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/packet.h"

namespace openmrc::wire {
namespace {

struct OpcodeOf {
  Opcode operator()(const RdmaWrite& write) const { return write.part.opcode(); }
  Opcode operator()(const TrimmedWrite& trimmed) const { return opcode_of(trimmed.kind); }
  Opcode operator()(const Acknowledge&) const { return Opcode::kAcknowledge; }
  Opcode operator()(const Sack&) const { return Opcode::kSack; }
  Opcode operator()(const Nack&) const { return Opcode::kNack; }
  Opcode operator()(const ReliabilityProbe&) const { return Opcode::kReliabilityProbe; }
  Opcode operator()(const EndpointRequest&) const { return Opcode::kEndpointRequest; }
  Opcode operator()(const EndpointResponse&) const { return Opcode::kEndpointResponse; }
  Opcode operator()(const UdSend& datagram) const {
    return datagram.immediate ? Opcode::kUdSendOnlyImmediate : Opcode::kUdSendOnly;
  }
};

}  // namespace

Opcode opcode_of(const Body& body) { return std::visit(OpcodeOf{}, body); }

Ev ev_of(const Packet& packet) {
  if (const auto* ipv6 = std::get_if<Ipv6Route>(&packet.route)) [[likely]]
    return ipv6->ev;
  return Ev(std::get<Ipv4Route>(packet.route).ev_low);
}

}  // namespace openmrc::wire
