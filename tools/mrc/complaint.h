// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "openmrc/host/error.h"

namespace openmrc::tools {

// Prints an error on standard error, with the name of the command before it ("mrc lab: ..."), and
// below it how to fix it, where that is known. Returns 1, the exit code for it.
int complain(std::string_view command, std::string_view what, std::string_view fix = {});
int complain(std::string_view command, const host::Error& error);

}  // namespace openmrc::tools
