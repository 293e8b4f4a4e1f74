// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/text.h"

#include <sstream>

namespace openmrc::tools {
namespace {

constexpr std::size_t kWidth = 80;

std::string wrapped_paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  std::size_t column = 0;
  for (std::string word; words >> word; column += word.size()) {
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= kWidth;
      out += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    out += word;
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace

std::string wrapped(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    const std::string paragraph = wrapped_paragraph(std::string(text.substr(begin, end - begin)));
    if (!out.empty() && !paragraph.empty()) out += '\n';
    out += paragraph;
    begin = end + 2;
  }
  return out;
}

}  // namespace openmrc::tools
