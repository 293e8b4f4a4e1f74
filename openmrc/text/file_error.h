// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace openmrc::text {

// What is wrong with a file that somebody wrote, and where.
struct FileError {
  std::uint32_t line = 0;  // from 1; 0: nowhere in particular
  std::string key{};       // "paths.evs"; empty: no key in particular
  std::string message{};   // what is wrong and what would be right
  std::string file{};      // empty: the text came from no file

  bool operator==(const FileError&) const = default;
};

std::string to_string(
    const FileError& error);  // "openmrc.toml:3: paths.evs: ...", or "line 3: ..."
// A line each, and how many are left out: nobody reads more than the first ones.
inline constexpr std::size_t kErrorsShownMax = 50;
std::string to_string(const std::vector<FileError>& errors);

}  // namespace openmrc::text
