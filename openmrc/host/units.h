// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/time.h"

// Amounts as people write them: a number, perhaps with a fraction, and a unit. They are exact: what
// is no whole number of nanoseconds, bytes or bits is none. What is printed can be read again.
namespace openmrc::host {

std::optional<Duration> parse_time(std::string_view text);           // "100ms", "1.5 us"
std::optional<std::uint64_t> parse_bytes(std::string_view text);     // "4MiB", "64 kB"
std::optional<std::uint64_t> parse_bit_rate(std::string_view text);  // "4gbit", a second

std::string time_text(Duration time);
std::string bytes_text(std::uint64_t bytes);
std::string bit_rate_text(std::uint64_t bits_per_second);

}  // namespace openmrc::host
