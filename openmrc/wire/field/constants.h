// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/strong.h"

// The numbers of the wire format that stand in no header of ours. They are frozen: what is retired
// keeps its number, and nothing is given a number that was used before.
namespace openmrc::wire {

using UdpPort = Strong<struct UdpPortTag, std::uint16_t>;
inline constexpr UdpPort kUdpPortRoce{4791};  // IANA's RoCEv2 port, the default (WIRE-11)
// WIRE-12
inline constexpr UdpPort kUdpPortAlternate{4971};  // printed by some readers of the specification

enum class EtherType : std::uint16_t { kIpv4 = 0x0800, kIpv6 = 0x86dd };
enum class IpProtocol : std::uint8_t { kUdp = 17, kIpv6 = 41, kRouting = 43 };

inline constexpr std::uint8_t kHopLimitDefault = 64;
// WIRE-37
inline constexpr PKey kPKeyDefault{0xffff};
inline constexpr std::size_t kIcrcSize = 4;

}  // namespace openmrc::wire
