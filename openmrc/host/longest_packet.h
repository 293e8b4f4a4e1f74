// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/host/config.h"
#include "openmrc/wire/field/ip_version.h"

namespace openmrc::host {

// Bytes of the longest packet with so much payload, from the outermost IP header on: the least MTU
// that a port needs.
[[nodiscard]] std::uint32_t longest_packet(datapath::Mode mode, wire::IpVersion version,
                                           std::uint32_t mtu);

// The largest of the payload sizes that every implementation knows (256 to 4096) whose packets fit
// into this MTU of an interface.
[[nodiscard]] std::optional<std::uint32_t> payload_for(datapath::Mode mode, wire::IpVersion version,
                                                       std::uint32_t interface_mtu);

}  // namespace openmrc::host
