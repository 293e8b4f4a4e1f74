// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/connection_id.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"
#include "openmrc/wire/header/tseth.h"

namespace openmrc::wire {

// MRC 7.5.6 (WIRE-70; Tables 7-18, 7-19): probe extended transport header; asks for a SACK.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------+-------------+---------------+---------------+
//   | type  | next hdr|  reserved   |   reserved    |  vendor info  |
//   +-------+---------+-------------+---------------+---------------+
//   |           probe id            |           reserved            |
//   +-------------------------------+-------------------------------+
//   |            spdcid             |            dpdcid             |
//   +-------------------------------+-+---------------------+-------+
//   |         tx timestamp          |R|      reserved       | ftype |
//   +-------------------------------+-+---------------------+-------+
struct PethLayout {
  using Type = Bits<"type", 0, 4>;
  using NextHeader = Bits<"nh", 4, 5>;
  using Reserved1 = Bits<"reserved1", 9, 15>;
  using VendorInfo = Bits<"vendor_info", 24, 8>;
  using Probe = Bits<"id", 32, 16>;
  using Reserved2 = Bits<"reserved2", 48, 16>;
  using SourceId = Bits<"spdcid", 64, 16>;
  using DestinationId = Bits<"dpdcid", 80, 16>;
  using Timestamp = Bits<"timestamp", 96, 16>;
  using Resolution = Bits<"tsr", 112, 1>;
  using Reserved3 = Bits<"reserved3", 113, 11>;
  using Format = Bits<"ftype", 124, 4>;
  using Fields = FieldList<Type, NextHeader, Reserved1, VendorInfo, Probe, Reserved2, SourceId,
                           DestinationId, Timestamp, Resolution, Reserved3, Format>;
};
using PethView = HeaderView<PethLayout>;
inline constexpr std::size_t kPethSize = kWireSize<PethLayout>;

// WIRE-69
struct Peth {
  std::uint8_t vendor_info = 0;
  ProbeId id{};
  ConnectionId spdcid{};
  ConnectionId dpdcid{};
  TxTimestamp sent{};

  bool operator==(const Peth&) const = default;

  using View = PethView;
  [[nodiscard]] static constexpr Result<void, Reject> check(PethView view) {
    using L = PethLayout;
    if (view.get<L::Format>() != kTimestampFormat) return failure(Reject::kTimestampFormat);
    return {};
  }
  // The view has passed `check`.
  static constexpr Peth read(PethView view) {
    using L = PethLayout;
    return {.vendor_info = view.get<L::VendorInfo>(),
            .id = ProbeId(view.get<L::Probe>()),
            .spdcid = ConnectionId(view.get<L::SourceId>()),
            .dpdcid = ConnectionId(view.get<L::DestinationId>()),
            .sent = {.ticks = view.get<L::Timestamp>(),
                     .unit = static_cast<TickUnit>(view.get<L::Resolution>())}};
  }
  constexpr void write(std::span<std::byte, kPethSize> out) const {
    using L = PethLayout;
    write_fields<L>(
        out, L::VendorInfo::of(vendor_info), L::Probe::of(id.raw()), L::SourceId::of(spdcid.raw()),
        L::DestinationId::of(dpdcid.raw()), L::Timestamp::of(sent.ticks),
        L::Resolution::of(static_cast<std::uint8_t>(sent.unit)), L::Format::of(kTimestampFormat));
  }
};

}  // namespace openmrc::wire
