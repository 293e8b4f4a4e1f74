// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::tools {

// The same scenario as people would run it without MRC: with reliable connections of RoCEv2, which
// know one path, over one plane in which a link is as fast as those of all planes together. A host
// has the same bandwidth. A fault of any plane hits the same link of the one plane. Switches pause
// rather than trim, because RC cannot use what is left of a trimmed packet, and mark at every hop.
sim::Scenario as_rc(sim::Scenario scenario);

// What as_rc has changed, for people.
std::string describe_rc(const sim::Scenario& original);

}  // namespace openmrc::tools
