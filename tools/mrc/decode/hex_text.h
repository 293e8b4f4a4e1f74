// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"

namespace openmrc::tools {

// Bytes from pairs of hex digits. White space, colons and a leading 0x are passed over. On failure
// says what is wrong and where.
Result<std::vector<std::byte>, std::string> parse_hex(std::string_view text);

}  // namespace openmrc::tools
