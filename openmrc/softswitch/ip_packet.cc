// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/ip_packet.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "openmrc/base/rng.h"
#include "openmrc/softswitch/address_key.h"
#include "openmrc/wire/field/byte_order.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::softswitch {
namespace {

using wire::Ecn;
using wire::IpProtocol;
using wire::Ipv4Layout;
using wire::Ipv4View;
using wire::Ipv6Layout;
using wire::Ipv6View;
using wire::kIpv4Size;
using wire::kIpv6Size;
using wire::kSrhSize;
using wire::kUdpSize;

template <class Field>
inline constexpr std::size_t kByteOf = Field::kOffset / 8;

unsigned version_of(ConstBytes packet) { return std::to_integer<unsigned>(packet[0] >> 4); }

Dropped cut_to_stated_size(ConstBytes received, std::size_t stated, IpPacket& packet) {
  if (stated > received.size() && !packet.treatment.trimmed) return Drop::kIpTruncated;
  packet.bytes = received.first(std::min(received.size(), stated));
  return std::nullopt;
}

Dropped read_ipv6(ConstBytes received, const Treatments& treatments, IpPacket& packet) {
  if (received.size() < kIpv6Size) return Drop::kIpTruncated;
  const Ipv6View header(received.first<kIpv6Size>());
  packet.treatment = treatments.of(wire::dscp_of(header.get<Ipv6Layout::TrafficByte>()));
  packet.is_ipv6 = true;
  packet.hops_left = header.get<Ipv6Layout::HopLimit>();
  return cut_to_stated_size(received, kIpv6Size + header.get<Ipv6Layout::PayloadLength>(), packet);
}

Dropped read_ipv4(ConstBytes received, const Treatments& treatments, IpPacket& packet) {
  if (received.size() < kIpv4Size) return Drop::kIpTruncated;
  const Ipv4View header(received.first<kIpv4Size>());
  if (header.get<Ipv4Layout::HeaderWords>() * 4 != kIpv4Size) return Drop::kIpv4Options;
  if (wire::ipv4_sum(header.bytes()) != 0xffff) return Drop::kIpv4Checksum;
  const std::size_t stated = header.get<Ipv4Layout::TotalLength>();
  if (stated < kIpv4Size) return Drop::kIpTruncated;
  packet.treatment = treatments.of(wire::dscp_of(header.get<Ipv4Layout::TrafficByte>()));
  packet.is_ipv6 = false;
  packet.hops_left = header.get<Ipv4Layout::TimeToLive>();
  return cut_to_stated_size(received, stated, packet);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  std::uint64_t state = hash ^ word;
  return split_mix(state);
}

// Both UDP ports, if a UDP header stands there.
std::uint32_t ports_at(ConstBytes packet, std::size_t at, std::uint8_t protocol) {
  if (protocol != static_cast<std::uint8_t>(IpProtocol::kUdp)) return 0;
  if (packet.size() < at + kUdpSize) return 0;
  return wire::load_be<std::uint32_t>(&packet[at]);
}

// Later fragments have no UDP header, and the first one shall go where they go.
bool is_fragment(Ipv4View header) {
  return header.get<Ipv4Layout::MoreFragments>() != 0 ||
         header.get<Ipv4Layout::FragmentOffset>() != 0;
}

// The IPv6 header inside an IPv6 packet, with or without a routing header of one segment before it.
std::optional<std::size_t> inner_ipv6_at(ConstBytes packet) {
  std::size_t at = kIpv6Size;
  auto next = IpProtocol{Ipv6View(packet.first<kIpv6Size>()).get<Ipv6Layout::NextHeader>()};
  if (next == IpProtocol::kRouting) {
    const auto srh = wire::SrhView::over(packet.subspan(at));
    if (!srh || !wire::Srh::check(*srh)) return std::nullopt;
    next = IpProtocol{srh->get<wire::SrhLayout::NextHeader>()};
    at += kSrhSize;
  }
  if (next != IpProtocol::kIpv6 || packet.size() < at + kIpv6Size) return std::nullopt;
  if (version_of(packet.subspan(at)) != 6) return std::nullopt;
  return at;
}

bool can_be_marked(std::uint8_t traffic_byte) {
  const Ecn ecn = wire::ecn_of(traffic_byte);
  return ecn == Ecn::kCapable0 || ecn == Ecn::kCapable1;
}

bool mark_ipv6(MutableBytes packet) {
  const std::uint8_t traffic = Ipv6View(packet.first<kIpv6Size>()).get<Ipv6Layout::TrafficByte>();
  if (!can_be_marked(traffic)) return false;
  // The traffic class begins in the middle of byte 0; its last two bits, ECN, stand in byte 1.
  static_assert(Ipv6Layout::TrafficByte::kEnd == 12);
  packet[1] |= std::byte{0x30};
  return true;
}

bool mark_ipv4(MutableBytes packet) {
  const std::uint8_t traffic = Ipv4View(packet.first<kIpv4Size>()).get<Ipv4Layout::TrafficByte>();
  if (!can_be_marked(traffic)) return false;
  packet[kByteOf<Ipv4Layout::TrafficByte>] |= std::byte{static_cast<std::uint8_t>(Ecn::kCongested)};
  wire::set_ipv4_checksum(packet.first<kIpv4Size>());
  return true;
}

// Drops the first uSID behind the block; the others move up, and zero fills the end.
void shift_usids(std::byte* carrier) {
  constexpr std::size_t kBlock = 4;
  constexpr std::size_t kUsid = 2;
  // Through a copy: a few loads and stores, where memmove would be a call.
  std::array<std::byte, 16 - kBlock - kUsid> rest;
  std::memcpy(rest.data(), carrier + kBlock + kUsid, rest.size());
  std::memcpy(carrier + kBlock, rest.data(), rest.size());
  std::memset(carrier + kBlock + rest.size(), 0, kUsid);
}

void take_hop(std::byte& hops_left) { hops_left = std::byte(std::to_integer<int>(hops_left) - 1); }

}  // namespace

Treatments::Treatments(const wire::DscpMap& map) {
  for (std::size_t dscp = 0; dscp < by_dscp_.size(); ++dscp) {
    by_dscp_[dscp] = treatment_of(map, wire::Dscp(static_cast<std::uint8_t>(dscp)));
  }
}

Dropped read_ip_packet(ConstBytes received, const Treatments& treatments, IpPacket& packet) {
  if (received.empty()) return Drop::kIpTruncated;
  switch (version_of(received)) {
    case 6: return read_ipv6(received, treatments, packet);
    case 4: return read_ipv4(received, treatments, packet);
    default: return Drop::kIpVersionUnknown;
  }
}

std::uint64_t flow_hash(const IpPacket& packet, std::uint64_t seed) {
  const ConstBytes bytes = packet.bytes;
  if (!packet.is_ipv6) {
    const Ipv4View header(bytes.first<kIpv4Size>());
    const std::uint64_t ports =
        is_fragment(header) ? 0 : ports_at(bytes, kIpv4Size, header.get<Ipv4Layout::Protocol>());
    const std::uint64_t source = header.get<Ipv4Layout::Source>();
    return mixed(mixed(seed, source << 32 | header.get<Ipv4Layout::Destination>()), ports);
  }
  const Ipv6View header(bytes.first<kIpv6Size>());
  std::uint64_t hash = seed;
  for (std::size_t at = kByteOf<Ipv6Layout::Source>; at < kIpv6Size; at += 8) {
    hash = mixed(hash, wire::load_be<std::uint64_t>(&bytes[at]));
  }
  const std::uint64_t flow_label = header.get<Ipv6Layout::FlowLabel>();
  return mixed(hash,
               flow_label << 32 | ports_at(bytes, kIpv6Size, header.get<Ipv6Layout::NextHeader>()));
}

void pass(MutableBytes packet, Rewrite rewrite) {
  if (version_of(packet) == 4) {
    take_hop(packet[kByteOf<Ipv4Layout::TimeToLive>]);
    wire::set_ipv4_checksum(packet.first<kIpv4Size>());
    return;
  }
  take_hop(packet[kByteOf<Ipv6Layout::HopLimit>]);
  std::byte* const destination = &packet[kByteOf<Ipv6Layout::Destination>];
  if (rewrite == Rewrite::kShift) {
    shift_usids(destination);
  } else if (rewrite == Rewrite::kNextSegment) {
    const MutableBytes srh = packet.subspan(kIpv6Size, kSrhSize);
    AddressKey::load(&srh[kByteOf<wire::SrhLayout::Segment>]).store(destination);
    srh[kByteOf<wire::SrhLayout::SegmentsLeft>] = std::byte{0};
  }
}

bool mark_congested(MutableBytes packet, wire::MarkedHeaders headers) {
  if (version_of(packet) == 4) return mark_ipv4(packet);
  if (!mark_ipv6(packet)) return false;
  if (headers == wire::MarkedHeaders::kOutermost) return true;
  if (const auto inner = inner_ipv6_at(packet)) mark_ipv6(packet.subspan(*inner));
  return true;
}

}  // namespace openmrc::softswitch
