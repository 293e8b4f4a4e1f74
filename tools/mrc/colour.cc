// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace openmrc::tools {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// ECMA-48, select graphic rendition.
int code_of(Colour colour) {
  switch (colour) {
    case Colour::kGood: return 32;
    case Colour::kWarning: return 33;
    case Colour::kBad: return 31;
    case Colour::kStrong: return 1;
  }
  return 0;
}

}  // namespace

bool wants_colour(int descriptor) {
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" &&
         isatty(descriptor) == 1;
}

std::string painted(std::string_view text, Colour colour, bool coloured) {
  return coloured ? fmt::format("\x1b[{}m{}\x1b[0m", code_of(colour), text) : std::string(text);
}

}  // namespace openmrc::tools
