// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

// Reads `devices`, [switches] and [nics].
void read_devices(text::TableReader& file, Scenario& scenario);
// When everything else has been read: whether the devices go with the fabric and the transport.
void check_devices(text::TableReader& file, const Scenario& scenario);

}  // namespace openmrc::sim
