// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/parts.h"

namespace openmrc::tools {

// The fabric that a file describes: an htsim topology if its name ends in .topo, otherwise TOML, a
// fabric or the section [fabric] of a scenario; - is standard input. Or what is wrong, with the
// name of the file in it.
Result<fabric::Fabric, std::string> load_fabric(const std::string& path);

// The same for what needs addresses, which fabrics with several links to a T1 do not have.
Result<fabric::Fabric, std::string> load_addressed_fabric(const std::string& path);

Result<fabric::Parts, std::string> load_parts(const std::string& path);

}  // namespace openmrc::tools
