// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "openmrc/base/result.h"

namespace openmrc::tools {

// A capture is read as a whole. Larger ones are cut with other tools first.
inline constexpr std::size_t kCaptureBytesMax = std::size_t{1024} * 1024 * 1024;

// All of a file, or of standard input if the path is "-". The error names the file and the reason,
// also if it has more than `bytes_max`: nothing beyond that is read.
Result<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace openmrc::tools
