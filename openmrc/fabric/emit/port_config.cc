// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/port_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "openmrc/text/file_limits.h"

namespace openmrc::fabric {
namespace {

// Columns that CONFIG_DB has under the same name; others are for the platform's own programs.
constexpr std::array<std::string_view, 6> kColumns{"lanes", "alias", "index",
                                                   "speed", "fec",   "autoneg"};
constexpr std::size_t kWordsMax = 32;

std::vector<std::string_view> columns_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> words;
  while (words.size() < kWordsMax) {
    const std::size_t begin = line.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// They are written into JSON as they are.
bool is_plain(std::string_view word) {
  return std::ranges::all_of(word,
                             [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

// "# name" or "#name" and the names behind it; nothing of another comment.
std::vector<std::string_view> columns_in(const std::vector<std::string_view>& words) {
  const bool apart = words.front() == "#" && words.size() > 1;
  std::vector names(words.begin() + (apart ? 1 : 0), words.end());
  if (names.front() != "name" && names.front() != "#name") names.clear();
  return names;
}

text::FileError port_error(std::uint32_t line, std::string message) {
  return {.line = line, .message = std::move(message)};
}

}  // namespace

Result<PortConfig, text::FileError> parse_port_config(std::string_view text) {
  if (auto fits = text::check_size(text, kPortConfigBytesMax); !fits) return failure(fits.error());
  PortConfig ports;
  std::vector<std::string_view> columns;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> words = columns_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    if (words.front().starts_with('#')) {
      if (auto names = columns_in(words); !names.empty()) columns = std::move(names);
      continue;
    }
    if (columns.empty()) return failure(port_error(number, "no line '# name lanes ...' before it"));
    if (!std::ranges::all_of(words, is_plain)) {
      return failure(port_error(number, "has characters that no name or number has"));
    }
    auto& fields = ports[std::string(words.front())];
    if (!fields.empty()) {
      return failure(port_error(number, fmt::format("'{}' for the second time", words.front())));
    }
    for (std::size_t i = 1; i < std::min(words.size(), columns.size()); ++i) {
      if (std::ranges::find(kColumns, columns[i]) == kColumns.end()) continue;
      fields.emplace_back(columns[i], words[i]);
    }
  }
  if (ports.empty()) return failure(port_error(0, "names no port"));
  return ports;
}

}  // namespace openmrc::fabric
