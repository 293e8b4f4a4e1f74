// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace openmrc::core {

// A destination's place in the endpoint's table.
using PeerIndex = std::uint32_t;

}  // namespace openmrc::core
