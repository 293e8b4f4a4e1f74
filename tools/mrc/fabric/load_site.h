// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/fabric/emit/emit.h"

namespace openmrc::tools {

// All that configuration of a kind is written from: the fabric, the site, if there is a file for it
// (otherwise the path is empty), and the files that the site names. It is checked.
Result<fabric::EmitInput, std::string> load_emit_input(fabric::EmitKind kind,
                                                       const std::string& fabric_path,
                                                       const std::string& site_path);

}  // namespace openmrc::tools
