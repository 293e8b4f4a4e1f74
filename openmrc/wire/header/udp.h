// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// RFC 768. The checksum is sent as 0 and ignored on receive: the ICRC covers more, and under
// SRv6 the destination address changes on the way.
//
//    0               2               4               6
//   +---------------+---------------+---------------+---------------+
//   |  source port  |   dest port   |    length     |   checksum    |
//   +---------------+---------------+---------------+---------------+
// WIRE-13
struct UdpLayout {
  using SourcePort = Bits<"source_port", 0, 16>;
  using DestinationPort = Bits<"destination_port", 16, 16>;
  using Length = Bits<"length", 32, 16>;
  using Checksum = Bits<"checksum", 48, 16>;
  using Fields = FieldList<SourcePort, DestinationPort, Length, Checksum>;
};
using UdpView = HeaderView<UdpLayout>;
inline constexpr std::size_t kUdpSize = kWireSize<UdpLayout>;

struct Udp {
  std::uint16_t source_port = 0;  // the low half of the EV
  UdpPort destination_port = kUdpPortRoce;
  std::uint16_t length = 0;  // this header and what follows

  bool operator==(const Udp&) const = default;

  using View = UdpView;
  static constexpr Udp read(UdpView view) {
    using L = UdpLayout;
    return {.source_port = view.get<L::SourcePort>(),
            .destination_port = UdpPort(view.get<L::DestinationPort>()),
            .length = view.get<L::Length>()};
  }

  constexpr void write(std::span<std::byte, kUdpSize> out) const {
    using L = UdpLayout;
    write_fields<L>(out, L::SourcePort::of(source_port),
                    L::DestinationPort::of(destination_port.raw()), L::Length::of(length));
  }
};

}  // namespace openmrc::wire
