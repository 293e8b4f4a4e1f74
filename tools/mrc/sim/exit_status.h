// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace openmrc::tools {

// Of `mrc sim` (docs/man/mrc-sim.1).
inline constexpr int kAllWell = 0;
inline constexpr int kNotFinished = 1;  // a run, or some of them; or a result could not be written
inline constexpr int kNothingRun = 2;   // or nothing to collect

}  // namespace openmrc::tools
