// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/slot.h"

// How several shards, also of several processes, share one UDP port.
//
// Each has a socket of its own in every plane, joined by SO_REUSEPORT. A small program in the
// kernel reads the slot in a packet and takes it as the number of the socket. Sockets are numbered
// in the order in which they joined, so slots are given out in that order (port_sharing.h); when a
// process has died, the numbers shift and some packets reach the wrong shard. These are passed on
// (forwarding.h).
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

}  // namespace openmrc::datapath
