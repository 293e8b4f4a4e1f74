// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/sim/scenario/scenario_training.h"

namespace openmrc::sim {

// A job from Chakra traces: the files `trace`.0.et, `trace`.1.et, ... of as many ranks as hosts.
WorkloadSettings read_trace(text::TableReader& section, const WorkloadPlace& place,
                            const ReadFile& read_file);

}  // namespace openmrc::sim
