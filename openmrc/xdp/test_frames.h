// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/xdp/test_hosts.h"

// Frames as they arrive at host B.
namespace openmrc::xdp {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kEthernet = wire::EthernetView::kSize;

enum class Kind : std::uint8_t { kPlain, kSrv6, kSrh };
inline constexpr auto kKinds = {Kind::kPlain, Kind::kSrv6, Kind::kSrh};

inline wire::Packet packet_of(Kind kind, ConstBytes data, Qpn to = kFirstUsableQpn) {
  wire::Ipv6Route route{.source = kA, .destination = kB, .ev = Ev(0x1234'c001)};
  if (kind != Kind::kPlain) {
    route.encapsulation = {.source = kA, .destination = kPathToB, .srh = {}};
  }
  if (kind == Kind::kSrh) {
    route.encapsulation->srh = {.segment = kPathToB, .segments_left = 0};
  }
  return datapath::test_write(route, data, 0, to);
}

inline Bytes frame_of(const wire::Packet& packet) {
  Bytes frame(kEthernet + wire::encoded_size(packet));
  wire::Ethernet{}.write(std::span(frame).first<kEthernet>());
  wire::encode_packet(packet, {}, std::span(frame).subspan(kEthernet));
  return frame;
}

}  // namespace openmrc::xdp
