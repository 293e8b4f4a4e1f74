// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/settings.h"

namespace openmrc::wire {

// How much of a packet a trimming switch keeps behind the (inner) IP header (WIRE-83).
inline constexpr std::size_t kTrimKept = 64;

enum class TrimRefusal : std::uint8_t {
  kMalformed,     // no IP packet with UDP inside
  kNotTrimmable,  // its traffic class says not to
};

// Which headers a switch changes when it marks or trims a packet.
enum class MarkedHeaders : std::uint8_t {
  kAll,  // the inner one too, so that the mark survives a kernel that decapsulates; lengths
         // are corrected, because kernels drop packets that are shorter than they say (WIRE-80)
  kOutermost,  // as switch hardware does: lengths stay as they were
};

// Does to an IP packet, in place, what a switch does when the packet does not fit into its queue:
// cuts the data off and marks the rest. Returns the new length.
Result<std::size_t, TrimRefusal> trim_packet(MutableBytes packet, TrimPlace place,
                                             const DscpMap& dscp,
                                             MarkedHeaders headers = MarkedHeaders::kAll);

}  // namespace openmrc::wire
