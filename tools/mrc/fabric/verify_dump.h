// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/verify/dump.h"

namespace openmrc::tools {

// Kinds of switches whose own tables can be read from files.
bool can_be_dumped(fabric::EmitKind kind);

// Compares what a switch printed, in the folder of its name below `folder`: routes.json of FRR;
// appl_db.json of SONiC, and as far as they are there config_db.json and asic_db.json.
Result<std::vector<fabric::Finding>, std::string> verify_dump(const std::string& folder,
                                                              const fabric::Device& device,
                                                              fabric::EmitKind kind,
                                                              std::uint32_t block);

}  // namespace openmrc::tools
