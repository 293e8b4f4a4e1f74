// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/dscp.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// RFC 8200.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------------+---------------------------------------+
//   | ver=6 |  DSCP   | ECN |              flow label               |
//   +-------+---------------+-------+---------------+---------------+
//   |        payload length         |  next header  |   hop limit   |
//   +-------------------------------+---------------+---------------+
//   |                   source address (16 bytes)                   |
//   |                 destination address (16 bytes)                |
//   +---------------------------------------------------------------+
struct Ipv6Layout {
  using Version = Bits<"version", 0, 4>;
  using TrafficByte = Bits<"traffic_class", 4, 8>;
  using FlowLabel = Bits<"flow_label", 12, 20>;
  using PayloadLength = Bits<"payload_length", 32, 16>;
  using NextHeader = Bits<"next_header", 48, 8>;
  using HopLimit = Bits<"hop_limit", 56, 8>;
  using Source = Octets<"source", 64, 16>;
  using Destination = Octets<"destination", 192, 16>;
  using Fields = FieldList<Version, TrafficByte, FlowLabel, PayloadLength, NextHeader, HopLimit,
                           Source, Destination>;
};
using Ipv6View = HeaderView<Ipv6Layout>;
inline constexpr std::size_t kIpv6Size = kWireSize<Ipv6Layout>;

// WIRE-10
struct Ipv6 {
  Dscp dscp{};
  Ecn ecn = Ecn::kNotCapable;
  std::uint32_t flow_label = 0;      // 20 bits
  std::uint16_t payload_length = 0;  // what follows this header
  IpProtocol next_header = IpProtocol::kUdp;
  std::uint8_t hop_limit = kHopLimitDefault;
  Ipv6Address source{};
  Ipv6Address destination{};

  bool operator==(const Ipv6&) const = default;

  using View = Ipv6View;
  [[nodiscard]] static constexpr Result<void, Reject> check(Ipv6View view) {
    using L = Ipv6Layout;
    if (view.get<L::Version>() != 6) return failure(Reject::kIpVersionUnknown);
    const auto next = static_cast<IpProtocol>(view.get<L::NextHeader>());
    if (next != IpProtocol::kUdp && next != IpProtocol::kIpv6 && next != IpProtocol::kRouting) {
      return failure(Reject::kIpv6NextHeaderUnknown);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Ipv6 read(Ipv6View view) {
    using L = Ipv6Layout;
    const std::uint8_t traffic = view.get<L::TrafficByte>();
    return {.dscp = dscp_of(traffic),
            .ecn = ecn_of(traffic),
            .flow_label = view.get<L::FlowLabel>(),
            .payload_length = view.get<L::PayloadLength>(),
            .next_header = static_cast<IpProtocol>(view.get<L::NextHeader>()),
            .hop_limit = view.get<L::HopLimit>(),
            .source = Ipv6Address{view.get<L::Source>()},
            .destination = Ipv6Address{view.get<L::Destination>()}};
  }

  constexpr void write(std::span<std::byte, kIpv6Size> out) const {
    using L = Ipv6Layout;
    write_fields<L>(out, L::Version::of(6), L::TrafficByte::of(traffic_byte(dscp, ecn)),
                    L::FlowLabel::of(flow_label), L::PayloadLength::of(payload_length),
                    L::NextHeader::of(static_cast<std::uint8_t>(next_header)),
                    L::HopLimit::of(hop_limit), L::Source::of(source.bytes),
                    L::Destination::of(destination.bytes));
  }
};

}  // namespace openmrc::wire
