// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace openmrc::tools {

// To standard error, with the name of the command before it.
void complain(std::string_view what);

// Text in lines of at most 80 characters; an empty line in it stays one. Ends with a line break if
// there is anything.
std::string wrapped(std::string_view text);

}  // namespace openmrc::tools
