// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/forwarding_table.h"

#include <limits>
#include <span>

#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/srh.h"

namespace openmrc::softswitch {
namespace {

using wire::Ipv6Layout;
using wire::kIpv4Size;
using wire::kIpv6Size;

wire::Ipv6View ipv6_header(const IpPacket& packet) {
  return wire::Ipv6View(packet.bytes.first<kIpv6Size>());
}

AddressKey destination_of(const IpPacket& packet) {
  if (packet.is_ipv6) return AddressKey::load(&packet.bytes[Ipv6Layout::Destination::kOffset / 8]);
  const wire::Ipv4View header(packet.bytes.first<kIpv4Size>());
  return AddressKey::of(wire::Ipv4Address(header.get<wire::Ipv4Layout::Destination>()));
}

std::uint64_t own_locator(const ForwardingSettings& settings) {
  if (settings.own == wire::kEndOfCarrier) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{settings.block} << 16 | settings.own.raw();
}

}  // namespace

ForwardingTable::ForwardingTable(const ForwardingSettings& settings, std::uint64_t seed)
    : own_locator_(own_locator(settings)),
      block_(settings.block),
      seed_(seed),
      port_of_usid_(std::size_t{wire::Usid::kMax} + 1, kNoPort),
      prefixes_(settings.prefixes) {
  for (const auto& [usid, port] : settings.usids) port_of_usid_[usid.raw()] = port;
}

Dropped ForwardingTable::find(const IpPacket& packet, Hop& hop) const {
  if (packet.hops_left <= 1) return Drop::kHopLimit;
  const AddressKey destination = destination_of(packet);
  if (destination.locator() == own_locator_) return after_own_usid(packet, destination, hop);
  hop.rewrite = Rewrite::kNone;
  return towards(packet, destination, hop);
}

// MRC 9.2 (WIRE-22): uN. The uSIDs move up, and the first of them says where the packet goes.
Dropped ForwardingTable::after_own_usid(const IpPacket& packet, const AddressKey& carrier,
                                        Hop& hop) const {
  if (carrier.ends_with_active()) return after_last_usid(packet, hop);
  hop.rewrite = Rewrite::kShift;
  return by_usid(carrier.next_usid(), hop);
}

// MRC 9.2: the path goes on in the segment of a routing header, or it is a path that leads nowhere:
// a switch is never a destination (WIRE-24).
Dropped ForwardingTable::after_last_usid(const IpPacket& packet, Hop& hop) const {
  const auto next = ipv6_header(packet).get<Ipv6Layout::NextHeader>();
  if (next != static_cast<std::uint8_t>(wire::IpProtocol::kRouting)) return Drop::kPathEnded;
  const auto view = wire::SrhView::over(packet.bytes.subspan(kIpv6Size));
  if (!view || !wire::Srh::check(*view)) return Drop::kSrhUnsupported;
  const wire::Srh srh = wire::Srh::read(*view);
  if (srh.segments_left == 0) return Drop::kPathEnded;
  hop.rewrite = Rewrite::kNextSegment;
  return towards(packet, AddressKey::of(srh.segment), hop);
}

// A destination in the block is reached by its uSID or not at all: a default route would hide that
// the path is wrong.
Dropped ForwardingTable::towards(const IpPacket& packet, const AddressKey& destination,
                                 Hop& hop) const {
  if (packet.is_ipv6 && destination.block() == block_) {
    return by_usid(destination.active_usid(), hop);
  }
  return by_prefix(packet, destination, hop);
}

Dropped ForwardingTable::by_usid(wire::Usid usid, Hop& hop) const {
  hop.port = port_of_usid_[usid.raw()];
  if (hop.port == kNoPort) return Drop::kUsidUnknown;
  return std::nullopt;
}

// Any of the ports will do; all packets of a flow take the same (MRC 9.3.3: the EV is part of what
// makes a flow, so each EV has its own way).
Dropped ForwardingTable::by_prefix(const IpPacket& packet, const AddressKey& destination,
                                   Hop& hop) const {
  const std::span<const PortIndex> ports = prefixes_.find(destination);
  if (ports.empty()) return Drop::kNoRoute;
  const std::uint64_t high_half = ports.size() == 1 ? 0 : flow_hash(packet, seed_) >> 32;
  hop.port = ports[high_half * ports.size() >> 32];
  return std::nullopt;
}

}  // namespace openmrc::softswitch
