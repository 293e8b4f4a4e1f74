// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"
#include "openmrc/wire/header/tseth.h"

namespace openmrc::wire {

// MRC 7.3, 7.5.6 (Tables 7-20, 7-21): endpoint request transport header, to queue pair 0x2.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------+---------+---+---------------+---------------+
//   | type  | next hdr| reserved|op |   reserved    |  vendor info  |
//   +-------+---------+---------+---+---------------+---------------+
//   |                       port status mask                        |
//   +---------------------------------------------------------------+
//   |                           reserved                            |
//   +-------------------------------+-+---------------------+-------+
//   |         tx timestamp          |R|      reserved       | ftype |
//   +-------------------------------+-+---------------------+-------+
// WIRE-71, WIRE-72
struct ErthLayout {
  using Type = Bits<"type", 0, 4>;
  using NextHeader = Bits<"nh", 4, 5>;
  using Reserved1 = Bits<"reserved1", 9, 5>;
  using Operation = Bits<"op", 14, 2>;
  using Reserved2 = Bits<"reserved2", 16, 8>;
  using VendorInfo = Bits<"vendor_info", 24, 8>;
  using PortStatusMask = Bits<"port_status_mask", 32, 32>;
  using Reserved3 = Bits<"reserved3", 64, 32>;
  using Timestamp = Bits<"timestamp", 96, 16>;
  using Resolution = Bits<"tsr", 112, 1>;
  using Reserved4 = Bits<"reserved4", 113, 11>;
  using Format = Bits<"ftype", 124, 4>;
  using Fields = FieldList<Type, NextHeader, Reserved1, Operation, Reserved2, VendorInfo,
                           PortStatusMask, Reserved3, Timestamp, Resolution, Reserved4, Format>;
};
using ErthView = HeaderView<ErthLayout>;
inline constexpr std::size_t kErthSize = kWireSize<ErthLayout>;

enum class EndpointOp : std::uint8_t { kPortStatusUpdate = 0, kEvProbe = 1 };

constexpr std::string_view name(EndpointOp op) {
  switch (op) {
    case EndpointOp::kPortStatusUpdate: return "Port Status Update";
    case EndpointOp::kEvProbe: return "EV Probe";
  }
  return {};
}

struct Erth {
  EndpointOp op = EndpointOp::kEvProbe;
  std::uint8_t vendor_info = 0;
  std::uint32_t port_status_mask = 0;  // bit n: port n of the sender can be reached
  TxTimestamp sent{};

  bool operator==(const Erth&) const = default;

  using View = ErthView;
  [[nodiscard]] static constexpr Result<void, Reject> check(ErthView view) {
    using L = ErthLayout;
    if (name(static_cast<EndpointOp>(view.get<L::Operation>())).empty()) {
      return failure(Reject::kEndpointOpUnknown);
    }
    if (view.get<L::Format>() != kTimestampFormat) return failure(Reject::kTimestampFormat);
    return {};
  }
  // The view has passed `check`.
  static constexpr Erth read(ErthView view) {
    using L = ErthLayout;
    return {.op = static_cast<EndpointOp>(view.get<L::Operation>()),
            .vendor_info = view.get<L::VendorInfo>(),
            .port_status_mask = view.get<L::PortStatusMask>(),
            .sent = {.ticks = view.get<L::Timestamp>(),
                     .unit = static_cast<TickUnit>(view.get<L::Resolution>())}};
  }
  constexpr void write(std::span<std::byte, kErthSize> out) const {
    using L = ErthLayout;
    write_fields<L>(
        out, L::Operation::of(static_cast<std::uint8_t>(op)), L::VendorInfo::of(vendor_info),
        L::PortStatusMask::of(port_status_mask), L::Timestamp::of(sent.ticks),
        L::Resolution::of(static_cast<std::uint8_t>(sent.unit)), L::Format::of(kTimestampFormat));
  }
};

}  // namespace openmrc::wire
