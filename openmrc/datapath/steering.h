// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/wire/field/constants.h"

// How several shards, also of several processes, share one UDP port.
//
// Each has a socket of its own in every plane, joined by SO_REUSEPORT. A small program in the
// kernel reads the slot in a packet and takes it as the number of the socket. Sockets are numbered
// in the order in which they joined, so slots are given out in that order; when a process has died,
// the numbers shift and some packets reach the wrong shard. These are passed on (forwarding.h).
namespace openmrc::datapath {

// Whose packet this is, from BTH on; nothing: whoever gets it may keep it. The kernel's program
// says the same.
std::optional<Slot> owner_of(ConstBytes datagram);

// A request to the endpoint itself, which several shards are. Each has peers of its own: all must
// hear of a peer's ports, and a probe is answered over paths that only its peer knows to work.
bool is_endpoint_request(ConstBytes datagram);

// Gives the group of sockets that this one has joined its program. Not before: the kernel lets no
// socket join that has one already.
[[nodiscard]] Result<void, Error> attach_steering(int socket);

// The abstract UNIX name of a slot. Abstract names live in a network namespace, as UDP ports do,
// and vanish with the process.
class SlotAddress {
 public:
  static SlotAddress of(wire::UdpPort port, Slot slot);
  static SlotAddress of_lock(wire::UdpPort port);

  [[nodiscard]] const sockaddr_un* get() const { return &address_; }
  [[nodiscard]] socklen_t size() const {
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length_);
  }
  [[nodiscard]] std::string_view text() const { return {address_.sun_path + 1, length_}; }

 private:
  explicit SlotAddress(std::string_view name);

  sockaddr_un address_{};
  std::size_t length_;
};

// Held by whoever takes a slot and binds its sockets, so that the order of both is the same. Lost
// with the process.
class JoinLock {
 public:
  static Result<JoinLock, Error> take(wire::UdpPort port);

 private:
  explicit JoinLock(FileDescriptor socket) : socket_(std::move(socket)) {}
  FileDescriptor socket_;
};

// A slot, and the socket by which others pass packets on to it. The slot is free again when this is
// gone, or the process.
struct SlotClaim {
  Slot slot{};
  FileDescriptor socket{};
};
Result<SlotClaim, Error> claim_slot(wire::UdpPort port, const JoinLock& lock);

}  // namespace openmrc::datapath
