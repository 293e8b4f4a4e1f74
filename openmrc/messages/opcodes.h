// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/messages/work.h"

namespace openmrc::messages {

constexpr bool is_request(Opcode opcode) {
  return opcode == Opcode::kRead || opcode == Opcode::kCompareAndSwap ||
         opcode == Opcode::kFetchAndAdd;
}
constexpr bool is_atomic(Opcode opcode) { return is_request(opcode) && opcode != Opcode::kRead; }
constexpr bool is_send(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kSendWithImmediate;
}
constexpr bool takes_receive(Opcode opcode) {
  return is_send(opcode) || opcode == Opcode::kWriteWithImmediate;
}

}  // namespace openmrc::messages
