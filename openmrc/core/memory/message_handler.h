// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/payload.h"

namespace openmrc::core {

// The key that names no memory but the layer behind a queue pair (docs/protocol/messages.md). No
// region ever has it. The remote address of a write with this key is a name, for the layer to
// read; how many bytes of its message are before them is added to it, as to every address.
inline constexpr RKey kMessageKey{0xffffffff};

// The layer behind a queue pair that was created with it: it takes what is written to the key
// above, and all immediates. It is called while the endpoint handles a packet, and must not call
// the endpoint then. Everything that it is told comes from the network.
class MessageHandler {
 public:
  MessageHandler() = default;
  MessageHandler(const MessageHandler&) = delete;
  MessageHandler& operator=(const MessageHandler&) = delete;

  enum class Verdict : std::uint8_t {
    kTaken,
    kNotNow,         // there is no room for a part: it is to be retransmitted
    kInvalid,        // as if there were no receive, and so on: the queue pair is done
    kNoAccess,       // not with this key, or not there
    kCannotOperate,  // the fault is ours
  };

  // A packet with kMessageKey, in whatever order they come, each once. Those without payload are
  // not shown: nothing is to be placed.
  struct Part {
    std::uint64_t name = 0;            // of its first byte
    std::uint32_t message_length = 0;  // of the whole message
    bool ends_message = false;
    wire::Payload payload{};
  };
  [[nodiscard]] virtual Verdict on_part(const Part& part) = 0;

  // An immediate, of any key, in the order in which they were sent and after everything that was
  // sent before it has been placed. kNotNow cannot be said of it.
  struct Delivery {
    RKey key{};
    std::uint64_t name = 0;  // of the message's first byte: its remote address
    std::uint32_t length = 0;
    wire::Immediate immediate{};
  };
  [[nodiscard]] virtual Verdict on_delivery(const Delivery& delivery) = 0;

 protected:
  ~MessageHandler() = default;
};

}  // namespace openmrc::core
