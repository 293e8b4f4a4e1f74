// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace openmrc::tools {

// Text in lines of at most 80 characters; an empty line in it stays one. Ends with a line break if
// there is anything.
std::string wrapped(std::string_view text);

}  // namespace openmrc::tools
