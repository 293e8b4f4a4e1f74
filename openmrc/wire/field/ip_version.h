// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/wire/field/ip_address.h"

namespace openmrc::wire {

// Addresses of IPv4 are mapped ones everywhere but in IP headers and sockets.
enum class IpVersion : std::uint8_t { kV4 = 4, kV6 = 6 };

constexpr IpVersion version_of(const Ipv6Address& address) {
  return is_mapped_ipv4(address) ? IpVersion::kV4 : IpVersion::kV6;
}

}  // namespace openmrc::wire
