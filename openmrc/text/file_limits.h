// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"

// What a text may have at most before it is parsed. Parsers build trees, and what walks a tree
// calls itself once for each level: a text of a few hundred kilobytes could use up the stack.
namespace openmrc::text {

// The largest scenario with a list of flows has some hundred kilobytes.
inline constexpr std::size_t kTomlBytesMax = std::size_t{4} * 1024 * 1024;
// Our files have keys of at most three parts, and lists of tables of lists.
inline constexpr std::size_t kTomlKeyPartsMax = 16;
inline constexpr std::size_t kTomlNestingMax = 16;
inline constexpr std::size_t kJsonNestingMax = 32;

// Results of the simulator have a record for each flow; this is about a million of them.
inline constexpr std::size_t kJsonBytesMax = std::size_t{256} * 1024 * 1024;
// A traffic file of a million flows has some 50 MiB.
inline constexpr std::size_t kTrafficBytesMax = std::size_t{256} * 1024 * 1024;
// The files of htsim have some twenty lines.
inline constexpr std::size_t kTopologyBytesMax = std::size_t{1024} * 1024;

[[nodiscard]] Result<void, FileError> check_toml_limits(std::string_view text);

// The error says what is wrong.
[[nodiscard]] Result<void, std::string> check_json_depth(std::string_view text);

// "has more than 4MiB", or nothing wrong.
[[nodiscard]] Result<void, FileError> check_size(std::string_view text, std::size_t bytes_max);

}  // namespace openmrc::text
