// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

// Reads all [[failures]] of the file, draws what happens by the scenario's seed and each one's
// place, and adds that to the scenario's faults.
void read_failures(text::TableReader& file, const fabric::Fabric& fabric, Scenario& scenario);

// Where there is no fabric, they are not looked at.
void skip_failures(text::TableReader& file);

}  // namespace openmrc::sim
