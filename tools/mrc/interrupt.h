// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace openmrc::tools {

// From now on Ctrl-C is noted, so that a run can end in order; a second one ends the program.
void watch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace openmrc::tools
