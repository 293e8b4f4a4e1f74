// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

// Reads all [[fault]] of the file and adds what they do to the scenario. Each draws from a stream
// of its own, by the scenario's seed and the fault's place.
void read_faults(text::TableReader& file, const fabric::Fabric& fabric, Scenario& scenario);
// Where there is no fabric: only what they are.
void read_fault_kinds(text::TableReader& file);

}  // namespace openmrc::sim
