// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/result/result.h"

// A result as a file: JSON for programs, one record per line so that files can be compared by line.
// Whole numbers, picoseconds and bytes; the same result gives the same bytes. docs/reports.md has
// the fields.
namespace openmrc::sim {

inline constexpr std::string_view kResultFormat = "openmrc-run";
inline constexpr std::uint32_t kResultVersion = 1;

// The origin, if given, is one line of it.
std::string write_result_json(const RunResult& result, const Origin* origin = nullptr);

// What was written, to the last digit; or what is wrong with the text, and where in it. A result
// that was read keeps the promises of one that a run gave: no time runs backwards, every slice of
// time has a number for every plane.
Result<RunResult, std::string> read_result_json(std::string_view text);

}  // namespace openmrc::sim
