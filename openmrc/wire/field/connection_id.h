// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/strong.h"

namespace openmrc::wire {

// The spdcid and dpdcid fields of control headers, named after the packet delivery contexts of
// Ultra Ethernet. MRC has no such contexts; the low 16 bits of the two queue pair numbers stand
// there (WIRE-62).
using ConnectionId = Strong<struct ConnectionIdTag, std::uint16_t>;

constexpr ConnectionId connection_id(Qpn qpn) {
  return ConnectionId(static_cast<std::uint16_t>(qpn.raw() & 0xffff));
}

// Names a reliability probe; the SACK that answers it carries the same number.
using ProbeId = Strong<struct ProbeIdTag, std::uint16_t>;

}  // namespace openmrc::wire
