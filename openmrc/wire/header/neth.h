// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/connection_id.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// MRC 7.5.6 (Tables 7-16, 7-17): NACK extended transport header.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------+-------------+---------------+---------------+
//   | type  | next hdr|  reserved   |    reason     |  vendor info  |
//   +-------+---------+-------------+---------------+---------------+
//   |                  entropy (reflected EV)                       |
//   +-------------------------------+-------------------------------+
//   |            spdcid             |            dpdcid             |
//   +---------------+---------------+-------------------------------+
//   |   reserved    |                   NACK PSN                    |
//   +-------+-------+---------------+-------------------------------+
//   |cc type|cc flag|   reserved    |   tx timestamp (reflected)    |
//   +-------+-------+---------------+-------------------------------+
struct NethLayout {
  using Type = Bits<"type", 0, 4>;
  using NextHeader = Bits<"nh", 4, 5>;
  using Reserved1 = Bits<"reserved1", 9, 7>;
  using Reason = Bits<"reason", 16, 8>;
  using VendorInfo = Bits<"vendor_info", 24, 8>;
  using Entropy = Bits<"entropy", 32, 32>;
  using SourceId = Bits<"spdcid", 64, 16>;
  using DestinationId = Bits<"dpdcid", 80, 16>;
  using Reserved2 = Bits<"reserved2", 96, 8>;
  using NackPsn = Bits<"psn", 104, 24>;
  using CcType = Bits<"cc_type", 128, 4>;
  using CcFlags = Bits<"cc_flags", 132, 4>;
  using Reserved3 = Bits<"reserved3", 136, 8>;
  using Timestamp = Bits<"timestamp", 144, 16>;
  using Fields =
      FieldList<Type, NextHeader, Reserved1, Reason, VendorInfo, Entropy, SourceId, DestinationId,
                Reserved2, NackPsn, CcType, CcFlags, Reserved3, Timestamp>;
};
using NethView = HeaderView<NethLayout>;
inline constexpr std::size_t kNethSize = kWireSize<NethLayout>;

// MRC 7.5.3 (WIRE-66; Table 7-3). All but the last ask for a retransmission.
enum class NackReason : std::uint8_t {
  kTrimmed = 0x01,         // cut by a switch on the way: the path is congested
  kTrimmedLastHop = 0x02,  // cut by the last switch: the receiver is overloaded, not the path
  kNoBitmap = 0x06,        // the responder has no room to track this PSN
  kNoPacketBuffer = 0x07,
  kNoResource = 0x0a,
  kPsnOutOfWindow = 0x0b,
  kUnexpectedEvent = 0x19,  // not retried: the queue pair goes to ERROR
};

inline constexpr std::array kNackReasons{NackReason::kTrimmed,        NackReason::kTrimmedLastHop,
                                         NackReason::kNoBitmap,       NackReason::kNoPacketBuffer,
                                         NackReason::kNoResource,     NackReason::kPsnOutOfWindow,
                                         NackReason::kUnexpectedEvent};

constexpr std::string_view name(NackReason reason) {
  switch (reason) {
    case NackReason::kTrimmed: return "TRIMMED";
    case NackReason::kTrimmedLastHop: return "TRIMMED_LASTHOP";
    case NackReason::kNoBitmap: return "NO_BITMAP";
    case NackReason::kNoPacketBuffer: return "NO_PKT_BUFFER";
    case NackReason::kNoResource: return "NO_RESOURCE";
    case NackReason::kPsnOutOfWindow: return "PSN_OOR_WINDOW";
    case NackReason::kUnexpectedEvent: return "UNEXP_EVENT";
  }
  return {};
}

// Sent in the cc_type field of every NACK; readers of the specification differ on it, so it is
// ignored on receive (WIRE-68).
inline constexpr std::uint8_t kNackCcType = 2;

// WIRE-69
struct Neth {
  NackReason reason = NackReason::kNoResource;
  std::uint8_t vendor_info = 0;
  Ev entropy{};  // of the packet that is refused
  ConnectionId spdcid{};
  ConnectionId dpdcid{};
  Psn psn{};                   // that is refused
  std::uint8_t cc_flags = 0;   // 4 bits
  std::uint16_t tx_ticks = 0;  // timestamp of the packet that is refused

  bool operator==(const Neth&) const = default;

  using View = NethView;
  [[nodiscard]] static constexpr Result<void, Reject> check(NethView view) {
    using L = NethLayout;
    if (name(static_cast<NackReason>(view.get<L::Reason>())).empty()) {
      return failure(Reject::kNackReasonUnknown);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Neth read(NethView view) {
    using L = NethLayout;
    return {.reason = static_cast<NackReason>(view.get<L::Reason>()),
            .vendor_info = view.get<L::VendorInfo>(),
            .entropy = Ev(view.get<L::Entropy>()),
            .spdcid = ConnectionId(view.get<L::SourceId>()),
            .dpdcid = ConnectionId(view.get<L::DestinationId>()),
            .psn = Psn(view.get<L::NackPsn>()),
            .cc_flags = view.get<L::CcFlags>(),
            .tx_ticks = view.get<L::Timestamp>()};
  }

  constexpr void write(std::span<std::byte, kNethSize> out) const {
    using L = NethLayout;
    write_fields<L>(out, L::Reason::of(static_cast<std::uint8_t>(reason)),
                    L::VendorInfo::of(vendor_info), L::Entropy::of(entropy.raw()),
                    L::SourceId::of(spdcid.raw()), L::DestinationId::of(dpdcid.raw()),
                    L::NackPsn::of(psn.raw()), L::CcType::of(kNackCcType), L::CcFlags::of(cc_flags),
                    L::Timestamp::of(tx_ticks));
  }
};

}  // namespace openmrc::wire
