// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/file_error.h"

#include <fmt/format.h>

#include <ranges>

namespace openmrc::text {
namespace {

std::string position(const FileError& error) {
  if (error.file.empty()) return error.line > 0 ? fmt::format("line {}: ", error.line) : "";
  if (error.line > 0) return fmt::format("{}:{}: ", error.file, error.line);
  return fmt::format("{}: ", error.file);
}

}  // namespace

std::string to_string(const FileError& error) {
  return fmt::format("{}{}{}{}", position(error), error.key, error.key.empty() ? "" : ": ",
                     error.message);
}

std::string to_string(const std::vector<FileError>& errors) {
  std::string text;
  for (const FileError& error : errors | std::views::take(kErrorsShownMax)) {
    text += (text.empty() ? "" : "\n") + to_string(error);
  }
  if (errors.size() > kErrorsShownMax) {
    text += fmt::format("\nand {} more errors", errors.size() - kErrorsShownMax);
  }
  return text;
}

}  // namespace openmrc::text
