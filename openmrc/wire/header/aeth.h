// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// MRC 6.3 (WIRE-57): acknowledge extended transport header, as InfiniBand has it.
//
//    0               1                                               4
//   +---------------+-----------------------------------------------+
//   |   syndrome    |                      MSN                      |
//   +---------------+-----------------------------------------------+
struct AethLayout {
  using SyndromeByte = Bits<"syndrome", 0, 8>;
  using CompletedMessages = Bits<"msn", 8, 24>;
  using Fields = FieldList<SyndromeByte, CompletedMessages>;
};
using AethView = HeaderView<AethLayout>;
inline constexpr std::size_t kAethSize = kWireSize<AethLayout>;

// What the responder's transport says of a message. MRC has no credits: an ACK is sent with the
// value for "no credit", and whatever credit a received one has is ignored. There is no RNR either.
// WIRE-58
enum class AckSyndrome : std::uint8_t {
  kAck = 0x1f,
  kNakSequenceError = 0x60,
  kNakInvalidRequest = 0x61,
  kNakRemoteAccess = 0x62,
  kNakRemoteOperation = 0x63,
};

constexpr std::string_view name(AckSyndrome syndrome) {
  switch (syndrome) {
    case AckSyndrome::kAck: return "ACK";
    case AckSyndrome::kNakSequenceError: return "NAK sequence error";
    case AckSyndrome::kNakInvalidRequest: return "NAK invalid request";
    case AckSyndrome::kNakRemoteAccess: return "NAK remote access error";
    case AckSyndrome::kNakRemoteOperation: return "NAK remote operation error";
  }
  return {};
}

// All acknowledgements are one, whatever credit they carry.
constexpr AckSyndrome syndrome_of(std::uint8_t raw) {
  constexpr unsigned kCredit = 0x1f;
  return (raw & ~kCredit) == 0 ? AckSyndrome::kAck : static_cast<AckSyndrome>(raw);
}

struct Aeth {
  AckSyndrome syndrome = AckSyndrome::kAck;
  AckMsn msn{};

  bool operator==(const Aeth&) const = default;

  using View = AethView;
  [[nodiscard]] static constexpr Result<void, Reject> check(AethView view) {
    if (name(syndrome_of(view.get<AethLayout::SyndromeByte>())).empty()) {
      return failure(Reject::kAckSyndromeUnknown);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Aeth read(AethView view) {
    return {.syndrome = syndrome_of(view.get<AethLayout::SyndromeByte>()),
            .msn = AckMsn(view.get<AethLayout::CompletedMessages>())};
  }
  constexpr void write(std::span<std::byte, kAethSize> out) const {
    write_fields<AethLayout>(out, AethLayout::SyndromeByte::of(static_cast<std::uint8_t>(syndrome)),
                             AethLayout::CompletedMessages::of(msn.raw()));
  }
};

}  // namespace openmrc::wire
