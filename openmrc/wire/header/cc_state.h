// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/quantity.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// MRC 7.5.6 (Tables 7-12, 7-13): what the requestor's congestion control wants to know, behind the
// SETH in every SACK.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------------------------------+-+-----------------------------+
//   |   tx timestamp (reflected)    |r|          OOO count          |
//   +-+-------------+---------------+-+-----------------------------+
//   |C|rcv cwnd pen |            received bytes / 256               |
//   +-+-------------+-----------------------------------------------+
//   C restore cwnd (WIRE-64)
struct CcStateLayout {
  using Timestamp = Bits<"timestamp", 0, 16>;
  using Reserved = Bits<"reserved", 16, 1>;
  using OooCount = Bits<"ooo_count", 17, 15>;
  using RestoreCwnd = Bits<"restore_cwnd", 32, 1>;
  using ReceiverPenalty = Bits<"rcv_cwnd_pen", 33, 7>;
  using ReceivedBytes = Bits<"rcvd_bytes", 40, 24>;
  using Fields =
      FieldList<Timestamp, Reserved, OooCount, RestoreCwnd, ReceiverPenalty, ReceivedBytes>;
};
using CcStateView = HeaderView<CcStateLayout>;
inline constexpr std::size_t kCcStateSize = kWireSize<CcStateLayout>;

// The unit of the received-bytes field, and what it wraps at.
inline constexpr ByteCount kReceivedUnit{256};
inline constexpr std::uint32_t kReceivedUnitsMask = 0xffffff;

// A running total as the field holds it: rounded up, then the low 24 bits (WIRE-65).
constexpr std::uint32_t received_units(ByteCount total) {
  const std::int64_t units = (total.raw() + kReceivedUnit.raw() - 1) / kReceivedUnit.raw();
  return static_cast<std::uint32_t>(units) & kReceivedUnitsMask;
}

struct CcState {
  std::uint16_t tx_ticks = 0;         // timestamp of the packet that triggered the SACK
  std::uint16_t ooo_count = 0;        // packets received above cack_psn; 15 bits, stays at the top
  bool restore_cwnd = false;          // the penalty is over: take back the window saved before it
  std::uint8_t receiver_penalty = 0;  // 0 to 127; 64 over a round trip halves the window
  std::uint32_t received_units = 0;   // 24 bits, in units of 256 bytes, wrapping

  bool operator==(const CcState&) const = default;

  using View = CcStateView;
  static constexpr CcState read(CcStateView view) {
    using L = CcStateLayout;
    return {.tx_ticks = view.get<L::Timestamp>(),
            .ooo_count = view.get<L::OooCount>(),
            .restore_cwnd = view.get<L::RestoreCwnd>() != 0,
            .receiver_penalty = view.get<L::ReceiverPenalty>(),
            .received_units = view.get<L::ReceivedBytes>()};
  }
  constexpr void write(std::span<std::byte, kCcStateSize> out) const {
    using L = CcStateLayout;
    write_fields<L>(out, L::Timestamp::of(tx_ticks), L::OooCount::of(ooo_count),
                    L::RestoreCwnd::of(restore_cwnd), L::ReceiverPenalty::of(receiver_penalty),
                    L::ReceivedBytes::of(received_units));
  }
};

}  // namespace openmrc::wire
