// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "openmrc/base/result.h"

namespace openmrc::tools {

// What a program prints on standard output; no shell looks at its arguments. The error is what it
// said on standard error, or that it took too long or printed more than `bytes_max`; it is ended
// then.
Result<std::string, std::string> output_of(const std::vector<std::string>& words,
                                           std::size_t bytes_max, std::chrono::seconds time_max);

}  // namespace openmrc::tools
