// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/sim/network/packet.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/header/aeth.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/udp.h"

// How many bytes the packets of RoCEv2 take on the wire: IPv6 with nothing around it, and all that
// Ethernet adds.
namespace openmrc::sim {

inline constexpr std::size_t kRcOutside =
    kEthernetOverhead + wire::kIpv6Size + wire::kUdpSize + wire::kBthSize + wire::kIcrcSize;

// The first packet of a message says where it goes, the last one has the immediate.
constexpr std::uint16_t rc_data_size(const wire::MessagePart& part, std::uint32_t payload) {
  return static_cast<std::uint16_t>(kRcOutside + (part.begins_message() ? wire::kRethSize : 0) +
                                    (part.has_immediate() ? wire::kImmdtSize : 0) +
                                    wire::padded_size(payload));
}

inline constexpr std::uint16_t kRcAckSize = kRcOutside + wire::kAethSize;

// Beside what has arrived without gaps it names the packet that has arrived ahead (as in IRN).
inline constexpr std::size_t kSelectiveField = 4;
inline constexpr std::uint16_t kRcSelectiveSize = kRcAckSize + kSelectiveField;

// A congestion notification has 16 reserved bytes behind its BTH.
inline constexpr std::size_t kCnpReserved = 16;
inline constexpr std::uint16_t kRcCongestionSize = kRcOutside + kCnpReserved;

}  // namespace openmrc::sim
