// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/wire/packet.h"

// Packets in and out of the machine, in bursts.
namespace openmrc::datapath {

struct Outgoing {
  const wire::Packet* packet = nullptr;  // its payload is sent from where it lies
  Plane plane{};
  bool is_spoilt = false;  // for tests: sent with a wrong ICRC, as if a bit had flipped on the way
};

struct Incoming {
  wire::Packet packet{};  // its payload refers to a buffer of the data path
  Instant at{};
  Plane plane{};
};

// A set of planes; bit p stands for plane p.
using PlaneBits = std::uint32_t;

// One shard's way to the network: a port in each plane. Owned by one thread at a time.
class Datapath {
 public:
  virtual ~Datapath() = default;

  // Takes all of them. What the kernel has no room for is copied, and goes first the next time; its
  // planes are blocked until then. What cannot be sent at all is counted and dropped, as a network
  // would. Afterwards the payloads are no longer looked at.
  virtual void send(std::span<const Outgoing> burst) = 0;

  // Planes for which something is held back. send({}) tries again.
  [[nodiscard]] virtual PlaneBits blocked() const = 0;

  // Takes what has arrived, without waiting; returns how many. `now` becomes their arrival time.
  // What is no packet of ours is counted by its reason. Payloads stay until the next call.
  [[nodiscard]] virtual std::size_t receive(Instant now, std::span<Incoming> into) = 0;

  // To wait for: each becomes readable when receive would find something.
  [[nodiscard]] virtual std::span<const int> descriptors() const = 0;

  // Which of the shards that share the port this is. Packets to queue pairs from first_qpn(slot())
  // on and answers to endpoint requests from first_request_id(slot()) on arrive here.
  [[nodiscard]] virtual Slot slot() const = 0;

  [[nodiscard]] virtual const Counters& counters() const = 0;

  // What is done otherwise than asked for, and why: each is added once, when it is found out.
  [[nodiscard]] virtual std::span<const Error> notices() const = 0;
};

}  // namespace openmrc::datapath
