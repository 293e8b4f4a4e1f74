// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/softswitch/limits.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/ipv4.h"

// Packets for the tests of this folder.
namespace openmrc::softswitch {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint32_t kTestBlock = 0xfcbb'bb00;
inline constexpr wire::Usid kTestOwn{0x10};
inline constexpr auto kSourceHost = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
inline constexpr auto kDestinationHost = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});

// Places in an encoded packet.
inline constexpr std::size_t kHopLimitAt = 7;
inline constexpr std::size_t kDestinationAt = 24;
inline constexpr std::size_t kIpv4HopsAt = 8;

struct PacketOptions {
  wire::TrafficClass traffic_class = wire::TrafficClass::kTrimmable;
  wire::Ecn ecn = wire::Ecn::kCapable0;
  std::size_t payload = 1000;
};

inline wire::Ipv6Address carrier_of(std::initializer_list<unsigned> usids) {
  wire::UsidCarrier::List list;
  for (const unsigned usid : usids) list.push_back(wire::Usid(static_cast<std::uint16_t>(usid)));
  return wire::UsidCarrier::of(kTestBlock, {list.data(), list.size()})->address();
}

inline wire::Ipv6Route plain_route(const wire::Ipv6Address& destination = kDestinationHost) {
  return {.source = kSourceHost, .destination = destination, .ev = Ev(0x12345678)};
}

// A packet whose path is this address.
inline wire::Ipv6Route path_route(const wire::Ipv6Address& carrier,
                                  std::optional<wire::Srh> srh = std::nullopt) {
  wire::Ipv6Route route = plain_route();
  route.encapsulation =
      wire::SrEncapsulation{.source = kSourceHost, .destination = carrier, .srh = srh};
  return route;
}

inline wire::Ipv4Route ipv4_route(std::uint32_t destination = 0x0a000002) {
  return {.source = wire::Ipv4Address(0x0a000001),
          .destination = wire::Ipv4Address(destination),
          .ev_low = 0x5678};
}

inline Bytes encoded(const wire::Packet& packet) {
  Bytes bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, {}, bytes);
  return bytes;
}

inline Bytes write_packet(const decltype(wire::Packet::route)& route, PacketOptions options = {}) {
  const Bytes payload(options.payload, std::byte{0xda});
  return encoded(
      {.route = route,
       .traffic_class = options.traffic_class,
       .ecn = options.ecn,
       .transport = {.body = wire::RdmaWrite{.destination_qp = Qpn(0xabc),
                                             .psn = Psn(77),
                                             .sent = wire::TxTimestamp{.ticks = 99},
                                             .reth = {.dma_length = 1u << 20},
                                             .payload = wire::Payload::of_bytes(payload)}}});
}

inline Bytes sack_packet(const decltype(wire::Packet::route)& route) {
  return encoded({.route = route,
                  .traffic_class = wire::TrafficClass::kControl,
                  .transport = {.body = wire::Sack{.destination_qp = Qpn(0xabc)}}});
}

// After a change to an IPv4 header.
inline void set_ipv4_checksum(Bytes& packet) {
  wire::set_ipv4_checksum(std::span(packet).first<wire::kIpv4Size>());
}

inline PortIndex port(std::size_t index) { return PortIndex(static_cast<std::uint16_t>(index)); }

}  // namespace openmrc::softswitch
