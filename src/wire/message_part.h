// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/opcode.h"

namespace openmrc::wire {

constexpr bool is_write(Opcode opcode) {
  return opcode >= Opcode::kWriteFirst && opcode <= Opcode::kWriteOnlyImmediate;
}
constexpr bool has_immediate(Opcode opcode) {
  return opcode == Opcode::kWriteLastImmediate || opcode == Opcode::kWriteOnlyImmediate;
}

// Which part of a message a WRITE packet carries. Only the packet that ends a message can have an
// immediate, and then its opcode says so.
class MessagePart {
 public:
  constexpr MessagePart() = default;
  static constexpr MessagePart first() { return {Opcode::kWriteFirst, Immediate{}}; }
  static constexpr MessagePart middle() { return {Opcode::kWriteMiddle, Immediate{}}; }
  static constexpr MessagePart last() { return {Opcode::kWriteLast, Immediate{}}; }
  static constexpr MessagePart last(Immediate data) { return {Opcode::kWriteLastImmediate, data}; }
  static constexpr MessagePart only() { return {Opcode::kWriteOnly, Immediate{}}; }
  static constexpr MessagePart only(Immediate data) { return {Opcode::kWriteOnlyImmediate, data}; }

  [[nodiscard]] constexpr Opcode opcode() const { return opcode_; }
  [[nodiscard]] constexpr bool begins_message() const {
    return opcode_ == Opcode::kWriteFirst || opcode_ >= Opcode::kWriteOnly;
  }
  [[nodiscard]] constexpr bool ends_message() const { return opcode_ >= Opcode::kWriteLast; }
  [[nodiscard]] constexpr std::optional<Immediate> immediate() const {
    if (!has_immediate(opcode_)) return std::nullopt;
    return immediate_;
  }
  bool operator==(const MessagePart&) const = default;

  // For the decoder: `opcode` is one of the writes; `immediate` counts only if it has one.
  static constexpr MessagePart of(Opcode opcode, Immediate immediate) {
    OPENMRC_DCHECK(is_write(opcode), "only writes carry a part of a message");
    return {opcode, has_immediate(opcode) ? immediate : Immediate{}};
  }

 private:
  constexpr MessagePart(Opcode opcode, Immediate immediate)
      : opcode_(opcode), immediate_(immediate) {}

  Opcode opcode_ = Opcode::kWriteOnly;
  Immediate immediate_;
};

}  // namespace openmrc::wire
