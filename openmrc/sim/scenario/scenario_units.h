// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/result.h"

// Amounts as people write them: a number, perhaps with a fraction, perhaps a space, and a unit.
// They are exact: what is no whole number of picoseconds, bytes or billionths is an error. An error
// says what would be right, to be put behind the name of the key.
namespace openmrc::sim {

// The longest: eleven days, far more than any run, and a few of them can be added.
inline constexpr Picoseconds kTimeMax{1'000'000'000'000'000'000};

// "12us", "500 ns", "1.5 ms".
Result<Picoseconds, std::string> parse_time(std::string_view text);

// "64 KiB", "2 MB", "1.5 GiB", "100 B".
Result<std::uint64_t, std::string> parse_bytes(std::string_view text);

// A share of one as billionths: "20 %", "0.1%".
inline constexpr std::uint32_t kBillion = 1'000'000'000;
Result<std::uint32_t, std::string> parse_share(std::string_view text);

}  // namespace openmrc::sim
