// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/mapper/tally.h"

namespace openmrc::mapper {

// Losses of probes over an uplink, of as many of each kind.
struct OneWayEvidence {
  double both = 0;  // that cross it there and back
  double up = 0;    // that cross it in one direction, and links of others
  double down = 0;
  double up_usual = 0;  // what other uplinks of the T0 have lost so, in the mean: these are losses
  double down_usual = 0;  // of links elsewhere, and of other bad ones of the T0
};

// The direction in which a link loses packets, if the losses are a thousand times likelier than for
// any other.
Direction likely_direction(const OneWayEvidence& lost);

}  // namespace openmrc::mapper
