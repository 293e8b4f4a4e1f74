// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"

// Quantities as people write them: a number, possibly with a fraction, and a unit. They are exact:
// what is not a whole number of nanoseconds, bytes or bits is an error, never rounded. Errors are
// complete messages. What a format function prints, its parse function reads back.
namespace openmrc::text {

// The largest quantity of any kind; some can be added in 64 bits. Of picoseconds it is 11 days.
inline constexpr std::uint64_t kAmountMax = 1'000'000'000'000'000'000;

Result<Duration, std::string> parse_duration(std::string_view text);        // "100ms", "1.5 us"
Result<Picoseconds, std::string> parse_picoseconds(std::string_view text);  // also "3ps", "0.5ns"
Result<std::uint64_t, std::string> parse_size(std::string_view text);       // "4MiB", "64 kB"
Result<std::uint64_t, std::string> parse_bit_rate(std::string_view text);   // "4gbit", per second

// A share of one, in billionths: "20%", "0.1 %", "0.2".
inline constexpr std::uint32_t kShareOne = 1'000'000'000;
Result<std::uint32_t, std::string> parse_share(std::string_view text);

std::string format_duration(Duration time);
std::string format_duration(Picoseconds time);
std::string format_size(std::uint64_t bytes);
std::string format_bit_rate(std::uint64_t bits_per_second);

}  // namespace openmrc::text
