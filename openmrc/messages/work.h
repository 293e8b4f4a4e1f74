// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/wire/header/immdt.h"

// What is posted to the message layer, and what comes of it: the words of InfiniBand's verbs.
namespace openmrc::messages {

using core::WorkId;

// A piece of the application's memory.
struct Segment {
  std::byte* data = nullptr;
  std::uint32_t length = 0;
};

enum class Opcode : std::uint8_t {
  kWrite,
  kWriteWithImmediate,
  kSend,
  kSendWithImmediate,
  kRead,
  kCompareAndSwap,  // of 8 bytes
  kFetchAndAdd,
};

struct SendRequest {
  WorkId id = 0;
  Opcode opcode = Opcode::kSend;
  // What to send, or where to put what is read. The memory must stay until the completion, except
  // with `copied`; the list itself need not.
  std::span<const Segment> segments{};
  std::uint64_t remote_address = 0;  // not of SEND
  RKey rkey{};
  wire::Immediate immediate{};
  std::uint64_t operand = 0;  // to compare with, or to add
  std::uint64_t swap = 0;     // what to put there if it was equal
  bool signaled = true;       // has a completion also if it succeeds
  bool fenced = false;        // begins when all READs and atomic operations before it are complete
  bool solicited = false;
  bool copied = false;  // take the bytes now ("inline")
  bool keys_ok = true;  // false: a local key is wrong, which is said when it is its turn
};

struct ReceiveRequest {
  WorkId id = 0;
  std::span<const Segment> segments{};
  bool keys_ok = true;  // false: said when a message is for it
};

enum class PostError : std::uint8_t {
  kNoQueuePair,  // there is none of this number; or it has a shared receive queue, for receives
  kState,        // sends need RTS, receives INIT, RTR or RTS; in ERROR both are taken and flushed
  kFull,         // as many are outstanding as there may be
  kSegments,     // more than the queue pair was created for
  kTooLong,      // of `copied`
};

enum class Status : std::uint8_t {
  kSuccess,
  kLocalLength,           // too long; or a receive that was too short for its message
  kLocalOperation,        // READ or atomic operation where none may be outstanding
  kLocalProtection,       // a local key is wrong
  kFlushed,               // the queue pair went to ERROR before
  kRemoteAccess,          // key, bounds or permission at the peer
  kRemoteInvalidRequest,  // too long for the peer's receive, not aligned, not allowed
  kRemoteOperation,       // the peer could not go on
  kRetryExceeded,         // the peer is silent
  kRnrRetryExceeded,      // the peer posted no receive
};

constexpr std::string_view name(Status status) {
  switch (status) {
    case Status::kSuccess: return "success";
    case Status::kLocalLength: return "local length error";
    case Status::kLocalOperation: return "local queue pair operation error";
    case Status::kLocalProtection: return "local protection error";
    case Status::kFlushed: return "flushed";
    case Status::kRemoteAccess: return "remote access error";
    case Status::kRemoteInvalidRequest: return "remote invalid request";
    case Status::kRemoteOperation: return "remote operation error";
    case Status::kRetryExceeded: return "retry counter exceeded";
    case Status::kRnrRetryExceeded: return "receiver not ready, retry counter exceeded";
  }
  return {};
}

enum class CompletionKind : std::uint8_t {
  kSent,           // of SendRequest: see `opcode`
  kReceived,       // a SEND
  kReceivedWrite,  // the immediate of a WRITE
};

struct Completion {
  WorkId id = 0;
  Qpn qpn{};
  CompletionKind kind = CompletionKind::kSent;
  Opcode opcode = Opcode::kSend;  // of what was sent
  Status status = Status::kSuccess;
  std::uint32_t length = 0;                    // of the message; 8 of atomic operations
  std::optional<wire::Immediate> immediate{};  // of what was received
  bool solicited = false;                      // its sender wants the receiver woken, or it failed
};

enum class EventKind : std::uint8_t {
  kFailed,            // the queue pair is in ERROR; comes before the two below
  kAccessRefused,     // because the peer asked for what it may not have
  kRequestRefused,    // because the peer asked for something that cannot be
  kLastReceiveTaken,  // it takes nothing more from its shared receive queue
  kReceivesLow,       // a shared receive queue has fewer than its limit
};
struct Event {
  EventKind kind = EventKind::kFailed;
  Qpn qpn{};
  std::uint32_t shared_queue = 0;  // of kReceivesLow
};

}  // namespace openmrc::messages
