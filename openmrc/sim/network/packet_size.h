// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/sim/network/packet.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/header/aeth.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/eeth.h"
#include "openmrc/wire/header/erth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/neth.h"
#include "openmrc/wire/header/peth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/header/tseth.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/icrc.h"
#include "openmrc/wire/trim.h"

// How many bytes packets take on the wire: IPv6 in IPv6, and all that Ethernet adds.
namespace openmrc::sim {

inline constexpr std::uint32_t kOutside =
    kEthernetOverhead + 2 * wire::kIpv6Size + wire::kUdpSize + wire::kBthSize + wire::kIcrcSize;

constexpr std::uint32_t write_size(std::uint32_t payload, bool has_immediate) {
  return static_cast<std::uint32_t>(kOutside + wire::kMethSize + wire::kTsethSize +
                                    wire::kRethSize + (has_immediate ? wire::kImmdtSize : 0) +
                                    wire::padded_size(payload));
}

inline constexpr std::uint32_t kTrimmedSize =
    kEthernetOverhead + 2 * wire::kIpv6Size + wire::kTrimKept;
inline constexpr std::uint32_t kSackSize = kOutside + wire::kSethSize + wire::kCcStateSize;

// Any packet of MRC.
std::uint32_t size_on_wire(const wire::Body& body);

}  // namespace openmrc::sim
