// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/messages/attributes.h"
#include "openmrc/messages/work.h"
#include "tests/world/world_options.h"

namespace openmrc::test {

// What is wrong with a request, and not with the network.
enum class Wrong : std::uint8_t {
  kNothing,
  kKey,       // there is no such region
  kReserved,  // the layer's own key
  kDomain,    // memory of another protection domain
  kRight,     // memory that is not for peers
  kBounds,    // behind the end of the region
  kLocalKey,
  kUnaligned,  // atomic operations
};

// A request that the application of `side` will post.
struct PlannedRequest {
  std::uint32_t number = 0;  // by which others name it
  Side side = Side::kA;
  std::size_t queue_pair = 0;
  Duration at{};
  messages::Opcode opcode = messages::Opcode::kSend;
  std::vector<std::uint32_t> pieces{};  // of local memory
  std::uint32_t reads = 0;              // READ: what this WRITE wrote; 0: what was always there
  bool on_shared_word = false;          // fetch-and-add: of 1, to what all queue pairs add to
  std::uint64_t operand = 0;
  std::uint64_t swap = 0;
  bool signaled = true;
  bool fenced = false;
  bool solicited = false;
  bool copied = false;
  Wrong wrong = Wrong::kNothing;

  [[nodiscard]] bool is_write() const {
    return opcode == messages::Opcode::kWrite || opcode == messages::Opcode::kWriteWithImmediate;
  }
  [[nodiscard]] bool is_send() const {
    return opcode == messages::Opcode::kSend || opcode == messages::Opcode::kSendWithImmediate;
  }
  [[nodiscard]] bool is_read() const { return opcode == messages::Opcode::kRead; }
  [[nodiscard]] bool is_atomic() const { return !is_write() && !is_send() && !is_read(); }
  [[nodiscard]] bool takes_receive() const {
    return is_send() || opcode == messages::Opcode::kWriteWithImmediate;
  }
  [[nodiscard]] std::uint32_t length() const;
};

struct PlannedReceive {
  Side side = Side::kA;
  std::size_t queue_pair = 0;  // if it has its own
  Duration at{};
  std::vector<std::uint32_t> pieces{};
  bool keys_ok = true;
};

// The application has enough of a queue pair.
struct PlannedEnd {
  Side side = Side::kA;
  std::size_t queue_pair = 0;
  Duration at{};
  bool destroys = false;  // otherwise it goes to ERROR
};

struct MessageHostOptions {
  bool shares_receives = false;
  messages::ResponderAttributes responder{};
  messages::RequesterAttributes requester{};
  std::size_t sends = 64;          // that may be outstanding
  bool is_small = false;           // the endpoint takes as few writes as it can
  Duration ready_to_send_after{};  // stays in RTR until then
};

// Everything about a world of the message layer.
struct MessageWorldOptions {
  WorldOptions network;  // and hosts and faults; it has no writes
  std::array<MessageHostOptions, 2> hosts{};
  std::vector<PlannedRequest> requests{};
  std::vector<PlannedReceive> receives{};
  std::vector<PlannedEnd> ends{};
};

MessageWorldOptions random_message_world(std::uint64_t seed);

// For people; several lines.
std::string describe(const MessageWorldOptions& options);

}  // namespace openmrc::test
