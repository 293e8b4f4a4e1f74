// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// What a path policy hears of congestion (MRC 9.3.1).
struct PathCongestion {
  PathIndex path;
  Plane plane;
  bool trimmed = false;  // a switch cut the packet; otherwise it was ECN-marked
  Instant now;
  Duration rtt;  // as it has been of late
};

}  // namespace openmrc::core
