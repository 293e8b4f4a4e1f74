// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Socket options of linux/in6.h and linux/udp.h, which cannot be included beside the headers of the
// C library.
namespace openmrc::datapath {

inline constexpr int kIpv6FlowInfo = 11;
inline constexpr int kIpv6AutoFlowLabel = 70;
inline constexpr int kUdpNoCheck6Tx = 101;
inline constexpr int kUdpNoCheck6Rx = 102;
inline constexpr int kUdpSegment = 103;
inline constexpr int kUdpGro = 104;

}  // namespace openmrc::datapath
