// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmrc/base/time.h"
#include "openmrc/core/context/context.h"

namespace openmrc::core {

// How long ago a timestamp was set. Its 16 bits wrap (MRC 6.2): of all times that they can mean,
// the one nearest to `about`.
[[nodiscard]] inline Duration time_since(Instant now, std::uint16_t tx_ticks, Duration about) {
  constexpr Duration kTurn = ticks_long(0xffff) + ticks_long(1);
  const Duration remainder = ticks_long(static_cast<std::uint16_t>(ticks_at(now) - tx_ticks));
  const std::int64_t turns = (about - remainder + kTurn / 2).raw() / kTurn.raw();
  return remainder + kTurn * std::max<std::int64_t>(turns, 0);
}

}  // namespace openmrc::core
