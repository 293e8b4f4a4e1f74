// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "openmrc/base/hold.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

// What the short ways through the decoder share (plain_write.h, plain_sack.h): packets in plain
// IPv6, whose headers all stand at fixed places.
namespace openmrc::wire::detail {

inline constexpr std::size_t kUdpAt = kIpv6Size;
inline constexpr std::size_t kBthAt = kUdpAt + kUdpSize;

template <class Header, std::size_t kAt>
constexpr typename Header::View view_at(const std::byte* packet) {
  constexpr std::size_t kSize = Header::View::kSize;
  return typename Header::View(std::span<const std::byte, kSize>(packet + kAt, kSize));
}

// The headers from IP to BTH.
struct PlainHeaders {
  explicit PlainHeaders(const std::byte* packet)
      : ip(view_at<Ipv6, 0>(packet)),
        udp(view_at<Udp, kUdpAt>(packet)),
        bth(view_at<Bth, kBthAt>(packet)) {}

  // Whether they are those of a well-formed packet of `size` bytes to a queue pair. The opcode is
  // for the caller to look at.
  [[nodiscard, gnu::always_inline]] bool fit(std::size_t size, const WireSettings& settings) const {
    if (ip.get<Ipv6Layout::NextHeader>() != static_cast<unsigned>(IpProtocol::kUdp)) return false;
    if (ip.get<Ipv6Layout::Version>() != 6) return false;
    if (ip.get<Ipv6Layout::PayloadLength>() != size - kIpv6Size) return false;
    if (udp.get<UdpLayout::Length>() != ip.get<Ipv6Layout::PayloadLength>()) return false;
    if (udp.get<UdpLayout::DestinationPort>() != settings.udp_port.raw()) return false;
    if (bth.get<BthLayout::Version>() != 0) return false;
    return Qpn(bth.get<BthLayout::DestinationQp>()) >= kFirstUsableQpn;
  }

  // Fills in all of a packet but its body and its traffic class.
  [[gnu::always_inline]] void fill(const WireSettings& settings, Packet& into) const {
    into.ecn = ecn_of(ip.get<Ipv6Layout::TrafficByte>());
    into.udp_port = settings.udp_port;
    into.transport.pkey = PKey(bth.get<BthLayout::PartitionKey>());
    auto& route = hold<Ipv6Route>(into.route);
    route.ev = join_ev(ip.get<Ipv6Layout::FlowLabel>(), udp.get<UdpLayout::SourcePort>());
    route.source = Ipv6Address{ip.get<Ipv6Layout::Source>()};
    route.destination = Ipv6Address{ip.get<Ipv6Layout::Destination>()};
    route.encapsulation.reset();
  }

  Ipv6View ip;
  UdpView udp;
  BthView bth;
};

}  // namespace openmrc::wire::detail
