// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/scenario/scenario_toml.h"

namespace openmrc::sim {

// Reads [workload]. What is wrong is in the section's error; otherwise the workload fits the
// fabric.
WorkloadSettings read_workload(TomlSection& section, const fabric::Fabric& fabric,
                               ReadFile read_file);

// A host as a file names it, by its number or as in "h17"; 0 if it is wrong.
std::uint32_t read_host(TomlSection& section, std::string_view key, const toml::node& node,
                        const fabric::Fabric& fabric);

}  // namespace openmrc::sim
