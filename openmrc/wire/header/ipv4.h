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

// RFC 791, without options.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+-------+---------------+-------------------------------+
//   | ver=4 | ihl=5 |  DSCP   | ECN |         total length          |
//   +-------+-------+---------------+-----+-------------------------+
//   |        identification         |flags|     fragment offset     |
//   +---------------+---------------+-----+-------------------------+
//   |      TTL      |   protocol    |        header checksum        |
//   +---------------+---------------+-------------------------------+
//   |                        source address                         |
//   |                      destination address                      |
//   +---------------------------------------------------------------+
struct Ipv4Layout {
  using Version = Bits<"version", 0, 4>;
  using HeaderWords = Bits<"ihl", 4, 4>;
  using TrafficByte = Bits<"tos", 8, 8>;
  using TotalLength = Bits<"total_length", 16, 16>;
  using Identification = Bits<"identification", 32, 16>;
  using FlagReserved = Bits<"reserved_flag", 48, 1>;
  using DontFragment = Bits<"dont_fragment", 49, 1>;
  using MoreFragments = Bits<"more_fragments", 50, 1>;
  using FragmentOffset = Bits<"fragment_offset", 51, 13>;
  using TimeToLive = Bits<"ttl", 64, 8>;
  using Protocol = Bits<"protocol", 72, 8>;
  using Checksum = Bits<"checksum", 80, 16>;
  using Source = Bits<"source", 96, 32>;
  using Destination = Bits<"destination", 128, 32>;
  using Fields = FieldList<Version, HeaderWords, TrafficByte, TotalLength, Identification,
                           FlagReserved, DontFragment, MoreFragments, FragmentOffset, TimeToLive,
                           Protocol, Checksum, Source, Destination>;
};
using Ipv4View = HeaderView<Ipv4Layout>;
inline constexpr std::size_t kIpv4Size = kWireSize<Ipv4Layout>;

// The one's complement sum of a header with its checksum in place: 0xffff when it is right.
constexpr std::uint16_t ipv4_sum(std::span<const std::byte, kIpv4Size> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < kIpv4Size; i += 2) sum += load_be<std::uint16_t>(&header[i]);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16));
}

// Writes the checksum that the rest of the header asks for.
constexpr void set_ipv4_checksum(std::span<std::byte, kIpv4Size> header) {
  constexpr std::size_t kAt = Ipv4Layout::Checksum::kOffset / 8;
  store_be<std::uint16_t>(&header[kAt], 0);
  store_be<std::uint16_t>(&header[kAt], static_cast<std::uint16_t>(~ipv4_sum(header)));
}

// An IPv4 header of a RoCEv2 packet: UDP, never fragmented (WIRE-8, WIRE-9).
struct Ipv4 {
  Dscp dscp{};
  Ecn ecn = Ecn::kNotCapable;
  std::uint16_t total_length = 0;  // header and what follows
  std::uint8_t time_to_live = kHopLimitDefault;
  Ipv4Address source{};
  Ipv4Address destination{};

  bool operator==(const Ipv4&) const = default;

  using View = Ipv4View;
  [[nodiscard]] static constexpr Result<void, Reject> check(Ipv4View view) {
    using L = Ipv4Layout;
    if (view.get<L::Version>() != 4) return failure(Reject::kIpVersionUnknown);
    if (view.get<L::HeaderWords>() * 4 != kIpv4Size) return failure(Reject::kIpv4Options);
    if (view.get<L::MoreFragments>() != 0 || view.get<L::FragmentOffset>() != 0) {
      return failure(Reject::kIpv4Fragment);
    }
    if (ipv4_sum(view.bytes()) != 0xffff) return failure(Reject::kIpv4Checksum);
    if (view.get<L::Protocol>() != static_cast<std::uint8_t>(IpProtocol::kUdp)) {
      return failure(Reject::kIpv4NotUdp);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Ipv4 read(Ipv4View view) {
    using L = Ipv4Layout;
    const std::uint8_t traffic = view.get<L::TrafficByte>();
    return {.dscp = dscp_of(traffic),
            .ecn = ecn_of(traffic),
            .total_length = view.get<L::TotalLength>(),
            .time_to_live = view.get<L::TimeToLive>(),
            .source = Ipv4Address(view.get<L::Source>()),
            .destination = Ipv4Address(view.get<L::Destination>())};
  }

  constexpr void write(std::span<std::byte, kIpv4Size> out) const {
    using L = Ipv4Layout;
    write_fields<L>(out, L::Version::of(4), L::HeaderWords::of(kIpv4Size / 4),
                    L::TrafficByte::of(traffic_byte(dscp, ecn)), L::TotalLength::of(total_length),
                    L::DontFragment::of(1), L::TimeToLive::of(time_to_live),
                    L::Protocol::of(static_cast<std::uint8_t>(IpProtocol::kUdp)),
                    L::Source::of(source.raw()), L::Destination::of(destination.raw()));
    set_ipv4_checksum(out);
  }
};

}  // namespace openmrc::wire
