// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "openmrc/base/bytes.h"
#include "openmrc/wire/ev_halves.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

namespace openmrc::wire {
namespace detail {

inline constexpr std::size_t kUdpAt = kIpv6Size;
inline constexpr std::size_t kBthAt = kUdpAt + kUdpSize;
inline constexpr std::size_t kMethAt = kBthAt + kBthSize;
inline constexpr std::size_t kTsethAt = kMethAt + kMethSize;
inline constexpr std::size_t kRethAt = kTsethAt + kTsethSize;
inline constexpr std::size_t kPayloadAt = kRethAt + kRethSize;

template <class Header, std::size_t kAt>
constexpr typename Header::View view_at(const std::byte* packet) {
  constexpr std::size_t kSize = Header::View::kSize;
  return typename Header::View(std::span<const std::byte, kSize>(packet + kAt, kSize));
}

// The alternative of a variant, to be filled. One that is there already is used again: to clear it
// would cost more than to overwrite it.
template <class T, class Variant>
T& hold(Variant& variant) {
  if (T* there = std::get_if<T>(&variant)) return *there;
  return variant.template emplace<T>();
}

// One bit for each opcode that is a write without immediate, counted from the first.
inline constexpr std::uint32_t kPlainWrites = [] {
  std::uint32_t plain = 0;
  for (const Opcode opcode : kOpcodes) {
    if (is_write(opcode) && !has_immediate(opcode)) {
      plain |= 1u << (static_cast<unsigned>(opcode) - static_cast<unsigned>(Opcode::kWriteFirst));
    }
  }
  return plain;
}();

constexpr bool is_plain_write(std::uint8_t opcode) {
  const unsigned index = opcode - static_cast<unsigned>(Opcode::kWriteFirst);
  return index < 32 && (kPlainWrites >> index & 1) != 0;
}

}  // namespace detail

// Fills `into` if `packet` is the one that a busy receiver sees most: a well-formed WRITE with a
// timestamp and no immediate, untrimmed, in plain IPv6. Otherwise returns false, with `into` left
// as it was, and it is for the general decoder to find out what the bytes are.
//
// Why it is here: naming the reason of each rejection costs as many instructions as the decoding.
// This asks only whether all checks pass (bench/wire_cost.cc measures it). Whatever it accepts, the
// general decoder accepts with the same result; a property test holds the two together. It checks
// no ICRC.
[[gnu::always_inline]] inline bool fill_plain_write(ConstBytes packet, const WireSettings& settings,
                                                    Packet& into) {
  using namespace detail;
  if (packet.size() <= kPayloadAt + kIcrcSize) return false;
  const auto ip = view_at<Ipv6, 0>(packet.data());
  const auto udp = view_at<Udp, kUdpAt>(packet.data());
  const auto bth = view_at<Bth, kBthAt>(packet.data());
  const auto tseth = view_at<Tseth, kTsethAt>(packet.data());
  const auto reth = view_at<Reth, kRethAt>(packet.data());

  const std::uint8_t opcode = bth.get<BthLayout::OpcodeByte>();
  const std::size_t datagram = packet.size() - kIpv6Size;
  const std::size_t padded = packet.size() - kPayloadAt - kIcrcSize;
  if (ip.get<Ipv6Layout::NextHeader>() != static_cast<unsigned>(IpProtocol::kUdp)) return false;
  if (ip.get<Ipv6Layout::Version>() != 6) return false;
  if (ip.get<Ipv6Layout::PayloadLength>() != datagram) return false;
  if (udp.get<UdpLayout::Length>() != ip.get<Ipv6Layout::PayloadLength>()) return false;
  if (udp.get<UdpLayout::DestinationPort>() != settings.udp_port.raw()) return false;
  if (!is_plain_write(opcode)) return false;
  if (bth.get<BthLayout::Version>() != 0) return false;
  if (bth.get<BthLayout::TimestampPresent>() == 0) return false;
  if (tseth.get<TsethLayout::Format>() != kTimestampFormat) return false;
  if (padded % 4 != 0) return false;

  const Dscp dscp = dscp_of(ip.get<Ipv6Layout::TrafficByte>());
  const TrafficClass traffic_class = settings.dscp.traffic_class(dscp);
  if (traffic_class == TrafficClass::kUnknown) return false;
  const Qpn destination_qp(bth.get<BthLayout::DestinationQp>());
  if (destination_qp < kFirstUsableQpn) return false;
  const std::size_t payload_size = padded - bth.get<BthLayout::PadCount>();
  if (payload_size == 0 || payload_size > reth.get<RethLayout::DmaLength>()) return false;

  into.traffic_class = traffic_class;
  into.ecn = ecn_of(ip.get<Ipv6Layout::TrafficByte>());
  into.udp_port = settings.udp_port;
  into.transport.pkey = PKey(bth.get<BthLayout::PartitionKey>());
  auto& route = hold<Ipv6Route>(into.route);
  route.ev = join_ev(ip.get<Ipv6Layout::FlowLabel>(), udp.get<UdpLayout::SourcePort>());
  route.source = Ipv6Address{ip.get<Ipv6Layout::Source>()};
  route.destination = Ipv6Address{ip.get<Ipv6Layout::Destination>()};
  route.encapsulation.reset();
  auto& write = hold<RdmaWrite>(into.transport.body);
  write.destination_qp = destination_qp;
  write.psn = Psn(bth.get<BthLayout::PacketSeq>());
  write.ack_request = bth.get<BthLayout::AckRequest>() != 0;
  write.retransmission = bth.get<BthLayout::Retransmission>() != 0;
  write.part = MessagePart::of(static_cast<Opcode>(opcode), Immediate{});
  write.meth = Meth::read(view_at<Meth, kMethAt>(packet.data()));
  write.sent = Tseth::read(tseth).sent;
  write.reth = Reth::read(reth);
  write.payload = Payload::of_bytes(packet.subspan(kPayloadAt, payload_size));
  return true;
}

}  // namespace openmrc::wire
