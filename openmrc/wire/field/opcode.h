// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace openmrc::wire {

// Byte 0 of the BTH. MRC owns the block whose three high bits are 110; where a packet has a
// counterpart in the reliable connection of InfiniBand, the value is that one plus 0xc0 (WIRE-47).
// Of RoCEv2's other blocks only the two packets of unreliable datagrams are known here (UD-1).
enum class Opcode : std::uint8_t {
  kUdSendOnly = 0x64,
  kUdSendOnlyImmediate = 0x65,
  kWriteFirst = 0xc6,
  kWriteMiddle = 0xc7,
  kWriteLast = 0xc8,
  kWriteLastImmediate = 0xc9,
  kWriteOnly = 0xca,
  kWriteOnlyImmediate = 0xcb,
  kAcknowledge = 0xd1,
  kEndpointRequest = 0xd8,
  kEndpointResponse = 0xd9,
  kSack = 0xdc,
  kNack = 0xdd,
  kReliabilityProbe = 0xde,
};

// Those of MRC.
inline constexpr std::array kOpcodes{Opcode::kWriteFirst,
                                     Opcode::kWriteMiddle,
                                     Opcode::kWriteLast,
                                     Opcode::kWriteLastImmediate,
                                     Opcode::kWriteOnly,
                                     Opcode::kWriteOnlyImmediate,
                                     Opcode::kAcknowledge,
                                     Opcode::kEndpointRequest,
                                     Opcode::kEndpointResponse,
                                     Opcode::kSack,
                                     Opcode::kNack,
                                     Opcode::kReliabilityProbe};

constexpr bool is_mrc_opcode(std::uint8_t raw) { return raw >> 5 == 0b110; }
constexpr bool is_datagram(Opcode opcode) {
  return opcode == Opcode::kUdSendOnly || opcode == Opcode::kUdSendOnlyImmediate;
}

constexpr std::string_view name(Opcode opcode) {
  switch (opcode) {
    case Opcode::kUdSendOnly: return "UD SEND Only";
    case Opcode::kUdSendOnlyImmediate: return "UD SEND Only+Imm";
    case Opcode::kWriteFirst: return "WRITE First";
    case Opcode::kWriteMiddle: return "WRITE Middle";
    case Opcode::kWriteLast: return "WRITE Last";
    case Opcode::kWriteLastImmediate: return "WRITE Last+Imm";
    case Opcode::kWriteOnly: return "WRITE Only";
    case Opcode::kWriteOnlyImmediate: return "WRITE Only+Imm";
    case Opcode::kAcknowledge: return "ACK";
    case Opcode::kEndpointRequest: return "Endpoint Request";
    case Opcode::kEndpointResponse: return "Endpoint Response";
    case Opcode::kSack: return "SACK";
    case Opcode::kNack: return "NACK";
    case Opcode::kReliabilityProbe: return "Reliability Probe";
  }
  return {};
}

// One bit for each value of the block that is defined (WIRE-33).
inline constexpr std::uint32_t kOpcodesDefined = [] {
  std::uint32_t defined = 0;
  for (const Opcode opcode : kOpcodes) defined |= 1u << (static_cast<unsigned>(opcode) & 0x1f);
  return defined;
}();

constexpr bool is_defined_opcode(std::uint8_t raw) {
  return is_mrc_opcode(raw) ? (kOpcodesDefined >> (raw & 0x1f) & 1) != 0
                            : is_datagram(static_cast<Opcode>(raw));
}

}  // namespace openmrc::wire
