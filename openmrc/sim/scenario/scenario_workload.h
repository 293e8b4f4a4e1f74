// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {

// Where there is no fabric: only what it is.
void read_workload_kind(text::TableReader& section);

// Reads [workload]. Without errors in the section the workload fits the fabric.
WorkloadSettings read_workload(text::TableReader& section, const fabric::Fabric& fabric,
                               const ReadFile& read_file);
// The same in a [[job]], which has hosts of its own.
WorkloadSettings read_workload_of_job(text::TableReader& section, const fabric::Fabric& own,
                                      const fabric::Fabric& fabric, const ReadFile& read_file);

// A host as a file names it, by its number or as in "h17"; 0 if it is wrong.
std::uint32_t read_host(text::TableReader& section, std::string_view key, const text::Value& value,
                        const fabric::Fabric& fabric);

}  // namespace openmrc::sim
