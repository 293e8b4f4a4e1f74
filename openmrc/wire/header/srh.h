// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// MRC 9.2: the segment routing header (RFC 8754) with its one optional segment, a second uSID
// carrier for paths that do not fit in the destination address.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+---------------+---------------+---------------+
//   | next header   | ext length=2  |    type=4     | segments left |
//   +---------------+---------------+---------------+---------------+
//   | last entry=0  |     flags     |              tag              |
//   +---------------+---------------+-------------------------------+
//   |                     segment [0] (16 bytes)                    |
//   +---------------------------------------------------------------+
// WIRE-24
struct SrhLayout {
  using NextHeader = Bits<"next_header", 0, 8>;
  using ExtensionLength = Bits<"ext_length", 8, 8>;
  using RoutingType = Bits<"routing_type", 16, 8>;
  using SegmentsLeft = Bits<"segments_left", 24, 8>;
  using LastEntry = Bits<"last_entry", 32, 8>;
  using Flags = Bits<"flags", 40, 8>;
  using Tag = Bits<"tag", 48, 16>;
  using Segment = Octets<"segment", 64, 16>;
  using Fields = FieldList<NextHeader, ExtensionLength, RoutingType, SegmentsLeft, LastEntry, Flags,
                           Tag, Segment>;
};
using SrhView = HeaderView<SrhLayout>;
inline constexpr std::size_t kSrhSize = kWireSize<SrhLayout>;
inline constexpr std::uint8_t kRoutingTypeSegment = 4;

// WIRE-25
struct Srh {
  Ipv6Address segment{};
  std::uint8_t segments_left = 1;  // 1 until the segment became the destination, then 0

  bool operator==(const Srh&) const = default;

  using View = SrhView;
  [[nodiscard]] static constexpr Result<void, Reject> check(SrhView view) {
    using L = SrhLayout;
    if (view.get<L::RoutingType>() != kRoutingTypeSegment) {
      return failure(Reject::kSrhNotSegmentRouting);
    }
    if (view.get<L::ExtensionLength>() * 8 + 8 != kSrhSize || view.get<L::LastEntry>() != 0) {
      return failure(Reject::kSrhNotOneSegment);
    }
    if (view.get<L::SegmentsLeft>() > 1) return failure(Reject::kSrhSegmentsLeft);
    if (view.get<L::NextHeader>() != static_cast<std::uint8_t>(IpProtocol::kIpv6)) {
      return failure(Reject::kSrv6InnerNotIpv6);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Srh read(SrhView view) {
    using L = SrhLayout;
    return {.segment = Ipv6Address{view.get<L::Segment>()},
            .segments_left = view.get<L::SegmentsLeft>()};
  }

  constexpr void write(std::span<std::byte, kSrhSize> out) const {
    using L = SrhLayout;
    write_fields<L>(out, L::NextHeader::of(static_cast<std::uint8_t>(IpProtocol::kIpv6)),
                    L::ExtensionLength::of(kSrhSize / 8 - 1),
                    L::RoutingType::of(kRoutingTypeSegment), L::SegmentsLeft::of(segments_left),
                    L::Segment::of(segment.bytes));
  }
};

}  // namespace openmrc::wire
