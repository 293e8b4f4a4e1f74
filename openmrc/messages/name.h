// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/serial.h"

namespace openmrc::messages {

// What a write to core::kMessageKey is for (MSG-6).
enum class Kind : std::uint8_t {
  kSend = 1,
  kReadRequest = 2,
  kAtomicRequest = 3,
  kReadResponse = 4,
  kAtomicResponse = 5,
  kCredit = 6,
  kAsk = 7,
  kWriteNotice = 8,
};

// Counts what takes a receive: SENDs and WRITEs with immediate (MSG-10). And READs and atomic
// operations, each by itself (MSG-31).
using Sequence = Serial<struct SequenceTag, std::uint32_t, 24>;
using UnwrappedSequence = Unwrapped<Sequence>;

// The remote address of such a write (MSG-6):
//
//   63    60 59    56 55               32 31               0
//  +--------+--------+-------------------+------------------+
//  | flags  |  kind  |     sequence      |      offset      |
//  +--------+--------+-------------------+------------------+
struct Name {
  Kind kind{};
  bool has_immediate = false;  // SEND: the immediate is the user's
  bool solicited = false;      // SEND and WRITE notice
  Sequence sequence{};
  std::uint32_t offset = 0;  // of the first byte in the message; WRITE notice: what was written

  static constexpr unsigned kImmediateBit = 0x10;
  static constexpr unsigned kSolicitedBit = 0x20;

  // Its kind may be one that there is not.
  static constexpr Name read(std::uint64_t address) {
    const auto top = static_cast<unsigned>(address >> 56);
    return {.kind = static_cast<Kind>(top & 0xf),
            .has_immediate = (top & kImmediateBit) != 0,
            .solicited = (top & kSolicitedBit) != 0,
            .sequence = Sequence(static_cast<std::uint32_t>(address >> 32)),
            .offset = static_cast<std::uint32_t>(address)};
  }
  [[nodiscard]] constexpr std::uint64_t address() const {
    const unsigned top = static_cast<unsigned>(kind) | (has_immediate ? kImmediateBit : 0) |
                         (solicited ? kSolicitedBit : 0);
    return std::uint64_t{top} << 56 | std::uint64_t{sequence.raw()} << 32 | offset;
  }
};

}  // namespace openmrc::messages
