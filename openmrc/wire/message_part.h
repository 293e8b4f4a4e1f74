// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/wire/field/opcode.h"
#include "openmrc/wire/header/immdt.h"

namespace openmrc::wire {

constexpr bool is_write(Opcode opcode) {
  return opcode >= Opcode::kWriteFirst && opcode <= Opcode::kWriteOnlyImmediate;
}
constexpr bool has_immediate(Opcode opcode) {
  return opcode == Opcode::kWriteLastImmediate || opcode == Opcode::kWriteOnlyImmediate;
}

// The opcodes that are writes, and no others.
enum class WriteKind : std::uint8_t {
  kFirst = static_cast<std::uint8_t>(Opcode::kWriteFirst),
  kMiddle = static_cast<std::uint8_t>(Opcode::kWriteMiddle),
  kLast = static_cast<std::uint8_t>(Opcode::kWriteLast),
  kLastImmediate = static_cast<std::uint8_t>(Opcode::kWriteLastImmediate),
  kOnly = static_cast<std::uint8_t>(Opcode::kWriteOnly),
  kOnlyImmediate = static_cast<std::uint8_t>(Opcode::kWriteOnlyImmediate),
};
constexpr Opcode opcode_of(WriteKind kind) { return static_cast<Opcode>(kind); }
// `opcode` is one of the writes.
constexpr WriteKind write_kind(Opcode opcode) {
  OPENMRC_DCHECK(is_write(opcode), "not a write");
  return static_cast<WriteKind>(opcode);
}

// Which part of a message a WRITE packet carries. Only the packet that ends a message can have an
// immediate, and then its opcode says so.
class MessagePart {
 public:
  constexpr MessagePart() = default;
  static constexpr MessagePart first() { return {WriteKind::kFirst, Immediate{}}; }
  static constexpr MessagePart middle() { return {WriteKind::kMiddle, Immediate{}}; }
  static constexpr MessagePart last() { return {WriteKind::kLast, Immediate{}}; }
  static constexpr MessagePart last(Immediate data) { return {WriteKind::kLastImmediate, data}; }
  static constexpr MessagePart only() { return {WriteKind::kOnly, Immediate{}}; }
  static constexpr MessagePart only(Immediate data) { return {WriteKind::kOnlyImmediate, data}; }

  [[nodiscard]] constexpr WriteKind kind() const { return kind_; }
  [[nodiscard]] constexpr Opcode opcode() const { return opcode_of(kind_); }
  [[nodiscard]] constexpr bool begins_message() const {
    return kind_ == WriteKind::kFirst || kind_ >= WriteKind::kOnly;
  }
  [[nodiscard]] constexpr bool ends_message() const { return kind_ >= WriteKind::kLast; }
  [[nodiscard]] constexpr bool has_immediate() const {
    return kind_ == WriteKind::kLastImmediate || kind_ == WriteKind::kOnlyImmediate;
  }
  [[nodiscard]] constexpr std::optional<Immediate> immediate() const {
    if (!has_immediate()) return std::nullopt;
    return immediate_;
  }
  bool operator==(const MessagePart&) const = default;

  // For the decoder: `opcode` is one of the writes; `immediate` counts only if it has one.
  static constexpr MessagePart of(Opcode opcode, Immediate immediate) {
    return {write_kind(opcode), wire::has_immediate(opcode) ? immediate : Immediate{}};
  }

 private:
  constexpr MessagePart(WriteKind kind, Immediate immediate) : kind_(kind), immediate_(immediate) {}

  WriteKind kind_ = WriteKind::kOnly;
  Immediate immediate_;
};

}  // namespace openmrc::wire
