// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "openmrc/base/bytes.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/plain_write.h"
#include "openmrc/wire/settings.h"

namespace openmrc::wire {

// The same as fill_plain_write for what a busy sender receives most: a well-formed SACK in plain
// IPv6, of the control class. Same contract; the same property test holds it to the general
// decoder.
[[gnu::always_inline]] inline bool fill_plain_sack(ConstBytes packet, const WireSettings& settings,
                                                   Packet& into) {
  using namespace detail;
  constexpr std::size_t kSethAt = kBthAt + kBthSize;
  constexpr std::size_t kCcStateAt = kSethAt + kSethSize;
  constexpr std::size_t kSackPacketSize = kCcStateAt + kCcStateSize + kIcrcSize;
  constexpr std::size_t kDatagramSize = kSackPacketSize - kIpv6Size;
  if (packet.size() != kSackPacketSize) return false;
  const auto ip = view_at<Ipv6, 0>(packet.data());
  const auto udp = view_at<Udp, kUdpAt>(packet.data());
  const auto bth = view_at<Bth, kBthAt>(packet.data());
  const auto seth = view_at<Seth, kSethAt>(packet.data());

  if (bth.get<BthLayout::OpcodeByte>() != static_cast<unsigned>(Opcode::kSack)) return false;
  if (ip.get<Ipv6Layout::NextHeader>() != static_cast<unsigned>(IpProtocol::kUdp)) return false;
  if (ip.get<Ipv6Layout::Version>() != 6) return false;
  if (ip.get<Ipv6Layout::PayloadLength>() != kDatagramSize) return false;
  if (udp.get<UdpLayout::Length>() != kDatagramSize) return false;
  if (udp.get<UdpLayout::DestinationPort>() != settings.udp_port.raw()) return false;
  if (bth.get<BthLayout::Version>() != 0 || bth.get<BthLayout::PadCount>() != 0) return false;
  if (dscp_of(ip.get<Ipv6Layout::TrafficByte>()) != settings.dscp.control) return false;
  if (Seth::check(seth)) return false;
  const Qpn destination_qp(bth.get<BthLayout::DestinationQp>());
  if (destination_qp < kFirstUsableQpn) return false;

  into.traffic_class = TrafficClass::kControl;
  into.ecn = ecn_of(ip.get<Ipv6Layout::TrafficByte>());
  into.udp_port = settings.udp_port;
  into.transport.pkey = PKey(bth.get<BthLayout::PartitionKey>());
  auto& route = hold<Ipv6Route>(into.route);
  route.ev = join_ev(ip.get<Ipv6Layout::FlowLabel>(), udp.get<UdpLayout::SourcePort>());
  route.source = Ipv6Address{ip.get<Ipv6Layout::Source>()};
  route.destination = Ipv6Address{ip.get<Ipv6Layout::Destination>()};
  route.encapsulation.reset();
  auto& sack = hold<Sack>(into.transport.body);
  sack.destination_qp = destination_qp;
  sack.retransmission = bth.get<BthLayout::Retransmission>() != 0;
  sack.seth = Seth::read(seth);
  sack.cc_state = CcState::read(view_at<CcState, kCcStateAt>(packet.data()));
  return true;
}

}  // namespace openmrc::wire
