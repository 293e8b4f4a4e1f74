// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "openmrc/sim/result/origin.h"

namespace openmrc::tools {

// Makes the run of these inputs, silently, and writes its result to a file: whole or not at all.
// For a process of its own. 0 if it is there; errors are on standard error. A workload that did not
// finish is a result too.
int make_result(const sim::RunInputs& inputs, const std::string& path, std::size_t threads);

}  // namespace openmrc::tools
