// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace openmrc::tools {

// Prints the scenarios of a folder with their titles; of those that come with OpenMRC if `folder`
// is empty. The exit code: 0, 1 if a scenario is wrong, or 2 if there is no such folder.
int list_scenarios(const std::string& folder);

}  // namespace openmrc::tools
