// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/diagnostics.h"

#include <algorithm>
#include <utility>

namespace openmrc::text {

void Diagnostics::add_key(std::string name, std::uint32_t line) {
  lines_.insert_or_assign(std::move(name), line);
}

void Diagnostics::error(std::uint32_t line, std::string_view key, std::string message) {
  errors_.push_back({.line = line, .key = std::string(key), .message = std::move(message)});
}

void Diagnostics::error(std::string_view key, std::string message) {
  const std::uint32_t line = line_of(key);
  error(line != 0 ? line : line_of(key.substr(0, key.rfind('.'))), key, std::move(message));
}

bool Diagnostics::is_valid(std::string_view key) const {
  return has(key) && std::ranges::find(errors_, key, &FileError::key) == errors_.end();
}

std::uint32_t Diagnostics::line_of(std::string_view key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? 0 : found->second;
}

std::vector<FileError> Diagnostics::take() {
  std::ranges::stable_sort(errors_, {}, &FileError::line);
  return std::exchange(errors_, {});
}

}  // namespace openmrc::text
