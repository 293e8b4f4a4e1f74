// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/payload.h"

// What the application posts, and how it is kept until it is done.
namespace openmrc::core {

// MRC 5.1, 6.2 (QP-22): RDMA WRITE, with immediate or without.
struct WriteRequest {
  WorkId id = 0;
  // The data; it must stay until the completion. Only a length where the bytes do not matter.
  wire::Payload data{};  // up to 4 GiB - 1; of none, key and address do not matter
  std::uint64_t remote_address = 0;
  RKey rkey{};
  std::optional<wire::Immediate> immediate{};
};

// An endpoint request (MRC 7.3) that a controller sends by a path of its own choice, whether the
// receiver is a known peer or not.
struct DirectRequest {
  wire::Ipv6Address destination{};  // the receiver's address in the plane
  Plane plane{};
  Ev ev{};                                     // what flow label and source port carry
  std::optional<wire::Ipv6Address> outer{};    // SRv6: destination of the outer header
  std::optional<wire::Ipv6Address> segment{};  // and of its routing header
  std::optional<std::uint32_t> port_status{};  // MRC 7.4.8; none: an EV probe
  std::uint32_t tag = 0;                       // which the answer will have
};

enum class PostError : std::uint8_t {
  kNoQueuePair,   // there is none of this number
  kState,         // writes need RTS, receives INIT, RTR or RTS
  kAddressWraps,  // remote address + length does not fit into 64 bits
  kLimit,         // the endpoint's limit of outstanding work is reached, or the queue is full
  kTooLong,       // a datagram is longer than the MTU
  kDestination,   // of a datagram: no such EV profile, queue pair, or number of planes
};

// A write that has been posted and is not complete.
struct SendMessage {
  WorkId id = 0;
  const std::byte* data = nullptr;
  std::uint64_t remote_address = 0;
  std::int64_t first_psn = 0;  // unwrapped; once it has begun
  std::uint32_t length = 0;
  std::uint32_t packets = 0;
  RKey rkey{};
  wire::Immediate immediate{};
  Rqmsn rqmsn{};
  Msn msn{};
  bool has_immediate = false;
  PoolIndex next = kNoElement;
};

// A part of its data.
inline wire::Payload payload_of(const SendMessage& message, std::uint32_t offset,
                                std::uint32_t size) {
  if (message.data == nullptr) return wire::Payload::of_length(size);
  return wire::Payload::of_bytes({message.data + offset, size});
}

struct PostedReceive {
  WorkId id = 0;
  PoolIndex next = kNoElement;
};

// An immediate that has arrived and waits for what was sent before it (MRC 6.3).
struct EarlyImmediate {
  std::int64_t psn = 0;  // unwrapped, of the packet that ended the message
  std::uint32_t length = 0;
  wire::Immediate immediate{};
  Rqmsn rqmsn{};
  Msn msn{};
  PoolIndex next = kNoElement;
  RKey rkey{};  // these two are told to a MessageHandler
  std::uint64_t remote_address = 0;
};

// A packet that has arrived before others, and is placed after them (MSG-45).
struct HeldPacket {
  RKey rkey{};
  std::uint32_t length = 0;
  std::uint64_t address = 0;
  std::array<std::byte, kMtuMax> bytes;
};

}  // namespace openmrc::core
