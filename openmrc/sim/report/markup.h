// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace openmrc::sim {

// Text as it stands between tags and in quoted attributes of HTML and SVG: whatever it says, it
// stays text. Characters that XML has no way to write become a replacement character.
std::string escaped(std::string_view text);

}  // namespace openmrc::sim
