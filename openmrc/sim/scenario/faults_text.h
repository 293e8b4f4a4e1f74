// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "openmrc/sim/scenario/faults.h"

namespace openmrc::sim {

// Faults as the [[fault]] of a scenario file, with nothing left to chance: what reads them gets the
// same faults in the same order. Links that go through the same are one.
std::string faults_text(std::span<const LinkFault> faults);

}  // namespace openmrc::sim
