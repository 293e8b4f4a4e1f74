// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/trim.h"

#include <algorithm>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/wire/field/byte_order.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/tseth.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::wire {
namespace {

static_assert(kTrimKept >= kUdpSize + kBthSize + kMethSize + kTsethSize + kRethSize + kImmdtSize,
              "a trimmed packet keeps all its headers");

// Where each header begins, from the outermost in.
struct HeaderPlaces {
  FixedVector<std::size_t, 2> ip;
  std::size_t udp = 0;
};

unsigned version_at(ConstBytes packet, std::size_t at) {
  return at < packet.size() ? std::to_integer<unsigned>(packet[at] >> 4) : 0;
}

Result<HeaderPlaces, TrimRefusal> find_ipv4_headers(ConstBytes packet) {
  const auto header = Ipv4View::over(packet);
  if (!header || !Ipv4::check(*header)) return failure(TrimRefusal::kMalformed);
  HeaderPlaces places{.ip = {}, .udp = kIpv4Size};
  places.ip.push_back(0);
  return places;
}

Result<HeaderPlaces, TrimRefusal> find_ipv6_headers(ConstBytes packet) {
  HeaderPlaces places;
  std::size_t at = 0;
  auto next = IpProtocol::kIpv6;
  while (next == IpProtocol::kIpv6) {
    const auto header = Ipv6View::over(packet.subspan(at));
    if (!header || !Ipv6::check(*header) || places.ip.full()) {
      return failure(TrimRefusal::kMalformed);
    }
    places.ip.push_back(at);
    at += kIpv6Size;
    next = Ipv6::read(*header).next_header;
    if (next == IpProtocol::kRouting) {
      const auto srh = SrhView::over(packet.subspan(at));
      if (!srh || !Srh::check(*srh)) return failure(TrimRefusal::kMalformed);
      at += kSrhSize;
      next = IpProtocol::kIpv6;
    }
  }
  places.udp = at;
  return places;
}

Result<HeaderPlaces, TrimRefusal> find_headers(ConstBytes packet) {
  const auto places =
      version_at(packet, 0) == 4 ? find_ipv4_headers(packet) : find_ipv6_headers(packet);
  if (places && places->udp + kUdpSize > packet.size()) return failure(TrimRefusal::kMalformed);
  return places;
}

Dscp dscp_at(ConstBytes ip) {
  if (version_at(ip, 0) == 4) {
    return dscp_of(Ipv4View(ip.first<kIpv4Size>()).get<Ipv4Layout::TrafficByte>());
  }
  return dscp_of(Ipv6View(ip.first<kIpv6Size>()).get<Ipv6Layout::TrafficByte>());
}

void set_dscp(MutableBytes ip, Dscp dscp) {
  if (version_at(ip, 0) == 4) {
    const Ipv4View view(ip.first<kIpv4Size>());
    const Ecn ecn = ecn_of(view.get<Ipv4Layout::TrafficByte>());
    ip[Ipv4Layout::TrafficByte::kOffset / 8] = std::byte{traffic_byte(dscp, ecn)};
    return set_ipv4_checksum(ip.first<kIpv4Size>());
  }
  const Ipv6View view(ip.first<kIpv6Size>());
  const Ecn ecn = ecn_of(view.get<Ipv6Layout::TrafficByte>());
  const std::uint32_t first_word =
      6u << 28 | std::uint32_t{traffic_byte(dscp, ecn)} << 20 | view.get<Ipv6Layout::FlowLabel>();
  store_be(ip.data(), first_word);
}

// Makes an IP header state what is left: `ip` ends where the packet now ends.
// WIRE-84
void set_length(MutableBytes ip) {
  if (version_at(ip, 0) == 4) {
    store_be(&ip[Ipv4Layout::TotalLength::kOffset / 8], static_cast<std::uint16_t>(ip.size()));
    return set_ipv4_checksum(ip.first<kIpv4Size>());
  }
  store_be(&ip[Ipv6Layout::PayloadLength::kOffset / 8],
           static_cast<std::uint16_t>(ip.size() - kIpv6Size));
}

}  // namespace

// WIRE-79
Result<std::size_t, TrimRefusal> trim_packet(MutableBytes packet, TrimPlace place,
                                             const DscpMap& dscp, MarkedHeaders headers) {
  const auto places = find_headers(packet);
  if (!places) return failure(places.error());
  const TrafficClass traffic_class = dscp.traffic_class(dscp_at(packet));
  if (traffic_class != TrafficClass::kTrimmable &&
      traffic_class != TrafficClass::kTrimmableRetransmission) {
    return failure(TrimRefusal::kNotTrimmable);
  }
  const std::size_t kept = std::min(packet.size(), places->udp + kTrimKept);
  if (headers == MarkedHeaders::kOutermost) {
    set_dscp(packet, dscp.of(place));
    return kept;
  }
  for (const std::size_t ip : places->ip) {
    set_dscp(packet.subspan(ip), dscp.of(place));
    set_length(packet.subspan(ip, kept - ip));
  }
  store_be(&packet[places->udp + UdpLayout::Length::kOffset / 8],
           static_cast<std::uint16_t>(kept - places->udp));
  return kept;
}

}  // namespace openmrc::wire
