// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace openmrc::tools {

enum class Colour : std::uint8_t {
  kGood,     // green
  kWarning,  // yellow
  kBad,      // red
  kStrong,   // bold: heads of tables
};

// Whether what is written there is for people who want colours: a terminal that has them, and no
// NO_COLOR in the environment (https://no-color.org).
bool wants_colour(int descriptor);

// The text in that colour, or as it is. Fill it up to its width before: what colours it has no
// width, but counts as characters.
std::string painted(std::string_view text, Colour colour, bool coloured);

}  // namespace openmrc::tools
