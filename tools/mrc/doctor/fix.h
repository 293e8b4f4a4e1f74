// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "tools/mrc/doctor/findings.h"

namespace openmrc::tools::doctor {

// Lists the commands that the findings of `examine` name, runs them and says what came of each.
// What one of them makes possible is done in a further round; no command runs twice. Returns what
// is found afterwards. Without root nothing is run.
Findings fix(const std::function<Findings()>& examine, bool coloured);

}  // namespace openmrc::tools::doctor
