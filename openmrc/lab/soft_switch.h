// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/lab/spec.h"

// The switches of a lab as one process, in place of the kernel's forwarding. The process is in the
// namespace of the management network: it is found there, and ended with all others of the lab.
namespace openmrc::lab {

// Returns when it forwards.
Result<void, std::string> start_soft_switch(const Spec& spec);
bool soft_switch_runs(const std::string& lab);

// Is that process: says on standard output that it is ready, or why it cannot be, and goes on until
// it is told to end. The result is the exit code.
int be_soft_switch(const Spec& spec);

}  // namespace openmrc::lab
