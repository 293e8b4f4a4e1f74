// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"

namespace openmrc::wire {

// An entropy value travels in two halves (MRC 9.1): the high one in the low 16 bits of the IPv6
// flow label, the low one in the UDP source port. IPv4 has no flow label, so only the low half
// travels and the high one reads as zero (WIRE-16, WIRE-18).

constexpr std::uint16_t ev_high(Ev ev) { return static_cast<std::uint16_t>(ev.raw() >> 16); }
constexpr std::uint16_t ev_low(Ev ev) { return static_cast<std::uint16_t>(ev.raw() & 0xffff); }

// The upper four bits of the flow label are not part of the EV; they are sent as 0 and ignored.
// WIRE-17
constexpr Ev join_ev(std::uint32_t flow_label, std::uint16_t udp_source_port) {
  return Ev((flow_label & 0xffff) << 16 | udp_source_port);
}

}  // namespace openmrc::wire
