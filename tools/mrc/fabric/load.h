// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"

namespace openmrc::tools {

// The fabric that a file describes: an htsim topology if its name ends in .topo, otherwise TOML; -
// is standard input. Or what is wrong, with the name of the file in it.
Result<fabric::Fabric, std::string> load_fabric(const std::string& path);

}  // namespace openmrc::tools
