// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/text/file_error.h"

namespace openmrc::text {

// Collects everything that is wrong with one file, and knows which sections and keys the file has
// and where: "paths", "paths.evs".
class Diagnostics {
 public:
  void add_key(std::string name, std::uint32_t line);

  void error(std::uint32_t line, std::string_view key, std::string message);
  // At the key; if the file does not have it, at its section.
  void error(std::string_view key, std::string message);

  [[nodiscard]] bool has(std::string_view key) const { return lines_.contains(key); }
  // The file has it, and so far nothing is wrong with it.
  [[nodiscard]] bool is_valid(std::string_view key) const;
  [[nodiscard]] std::uint32_t line_of(std::string_view key) const;  // 0: the file has no such key
  [[nodiscard]] std::size_t count() const { return errors_.size(); }

  // In the order of the file.
  [[nodiscard]] std::vector<FileError> take();

 private:
  std::map<std::string, std::uint32_t, std::less<>> lines_;
  std::vector<FileError> errors_;
};

}  // namespace openmrc::text
