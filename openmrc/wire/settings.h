// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/dscp.h"

namespace openmrc::wire {

enum class IcrcCheck : std::uint8_t {
  kVerify,
  kSkip,  // something else vouches for the bytes: memory that they never left, or the NIC
};

// What a deployment chooses about the wire; both ends must choose alike.
struct WireSettings {
  DscpMap dscp{};
  UdpPort udp_port = kUdpPortRoce;              // where packets are expected
  std::optional<UdpPort> udp_port_alternate{};  // where they are accepted as well
  IcrcCheck icrc_check = IcrcCheck::kVerify;
};

}  // namespace openmrc::wire
