// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/serial.h"
#include "openmrc/base/strong.h"

namespace openmrc {

// Queue pair number. 0, 1 and 2 are reserved; 2 is the endpoint itself (MRC 7.3; WIRE-45).
using Qpn = Strong<struct QpnTag, std::uint32_t, 24>;
inline constexpr Qpn kEndpointQpn{2};
inline constexpr Qpn kFirstUsableQpn{3};

// Packet sequence number: one per request packet of a queue pair.
using Psn = Serial<struct PsnTag, std::uint32_t, 24>;
using UnwrappedPsn = Unwrapped<Psn>;

// Message sequence number of the requestor (METH): one per message.
using Msn = Serial<struct MsnTag, std::uint16_t, 16>;
using UnwrappedMsn = Unwrapped<Msn>;

// Receive queue message sequence number (METH): one per WRITE with immediate.
using Rqmsn = Serial<struct RqmsnTag, std::uint16_t, 16>;
using UnwrappedRqmsn = Unwrapped<Rqmsn>;

// The responder's count of completed messages in an acknowledgement (AETH).
using AckMsn = Serial<struct AckMsnTag, std::uint32_t, 24>;

// Entropy value: names one path through the network (MRC 9.1).
using Ev = Strong<struct EvTag, std::uint32_t>;

// One independent network. A host has one port in each; planes count from 0.
using Plane = Strong<struct PlaneTag, std::uint8_t>;

// A local port as mrc.h counts them: from 1, port n+1 being the port in plane n (MRC 11.5; PATH-1).
using PortNumber = Strong<struct PortNumberTag, std::uint8_t>;
constexpr PortNumber port_of(Plane plane) {
  return PortNumber(static_cast<std::uint8_t>(plane.raw() + 1));
}

// Partition key and remote memory key, as in InfiniBand.
using PKey = Strong<struct PKeyTag, std::uint16_t>;
using RKey = Strong<struct RKeyTag, std::uint32_t>;

}  // namespace openmrc
