// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/header/erth.h"

namespace openmrc::wire {

// MRC 7.3, 7.5.6 (Tables 7-22, 7-23): endpoint response transport header, as long as a SACK's.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------+-----+---+---+-------------------------------+
//   | type  | next hdr| res.|op | r |           reserved            |
//   +-------+---------+-----+---+---+-------------------------------+
//   |                      reserved (24 bytes)                      |
//   +-------------------------------+-------------------------------+
//   |   tx timestamp (reflected)    |           reserved            |
//   +-------------------------------+-------------------------------+
//   |                           reserved                            |
//   +---------------------------------------------------------------+
// WIRE-74
struct EethLayout {
  using Type = Bits<"type", 0, 4>;
  using NextHeader = Bits<"nh", 4, 5>;
  using Reserved1 = Bits<"reserved1", 9, 3>;
  using Operation = Bits<"op", 12, 2>;
  using Reserved2 = Bits<"reserved2", 14, 2>;
  using Reserved3 = Bits<"reserved3", 16, 48>;
  using Reserved4 = Bits<"reserved4", 64, 64>;
  using Reserved5 = Bits<"reserved5", 128, 64>;
  using Reserved6 = Bits<"reserved6", 192, 32>;
  using Timestamp = Bits<"timestamp", 224, 16>;
  using Reserved7 = Bits<"reserved7", 240, 48>;
  using Fields = FieldList<Type, NextHeader, Reserved1, Operation, Reserved2, Reserved3, Reserved4,
                           Reserved5, Reserved6, Timestamp, Reserved7>;
};
using EethView = HeaderView<EethLayout>;
inline constexpr std::size_t kEethSize = kWireSize<EethLayout>;

// WIRE-75
struct Eeth {
  // Readers of the specification place this field differently, two of three here and one in bits
  // 5:4: both are read, and nothing may depend on it, as the id in BTH.PSN says which request is
  // answered. Anything but EV Probe reads as Port Status Update.
  EndpointOp op = EndpointOp::kEvProbe;
  std::uint16_t tx_ticks = 0;  // timestamp of the request

  bool operator==(const Eeth&) const = default;

  using View = EethView;
  static constexpr Eeth read(EethView view) {
    constexpr auto kProbe = static_cast<std::uint8_t>(EndpointOp::kEvProbe);
    const bool is_probe = view.get<EethLayout::Operation>() == kProbe ||
                          (view.get<EethLayout::Reserved1>() & 0b011) == kProbe;
    return {.op = is_probe ? EndpointOp::kEvProbe : EndpointOp::kPortStatusUpdate,
            .tx_ticks = view.get<EethLayout::Timestamp>()};
  }
  constexpr void write(std::span<std::byte, kEethSize> out) const {
    write_fields<EethLayout>(out, EethLayout::Operation::of(static_cast<std::uint8_t>(op)),
                             EethLayout::Timestamp::of(tx_ticks));
  }
};

}  // namespace openmrc::wire
