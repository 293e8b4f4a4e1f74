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

// Does to an IP packet, in place, what a switch does when the packet does not fit into its queue:
// cuts the data off and marks the rest. Returns the new length.
//
// A switch marks the outermost header. This marks the inner one too, so that the mark survives a
// kernel that decapsulates, and corrects the lengths, because kernels drop packets that are shorter
// than they say (WIRE-80).
Result<std::size_t, TrimRefusal> trim_packet(MutableBytes packet, TrimPlace place,
                                             const DscpMap& dscp);

}  // namespace openmrc::wire
