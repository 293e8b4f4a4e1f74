// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"

namespace openmrc {

// Time inside the simulator, a span or a point counted from the start: integer picoseconds, because
// a packet takes no whole number of nanoseconds to leave a port.
using Picoseconds = Quantity<struct PicosecondsTag>;

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
inline constexpr Picoseconds kNoTime{std::numeric_limits<std::int64_t>::max()};

constexpr Picoseconds picoseconds(Duration span) { return Picoseconds(span.raw() * 1'000); }
// The core counts nanoseconds; it is notified in the nanosecond in which things happen.
constexpr Instant instant_of(Picoseconds when) { return Instant(when.raw() / 1'000); }
constexpr Picoseconds picoseconds(Instant when) { return Picoseconds(when.ns() * 1'000); }

// For what is shown; the simulation itself counts in integers.
constexpr double number(Picoseconds time) { return static_cast<double>(time.raw()); }

// How long so many bytes take to leave; rounded up, so that no link is ever faster than it is.
constexpr Picoseconds serialisation_time(std::uint32_t bytes, std::int64_t bits_per_second) {
  const std::int64_t bits = std::int64_t{bytes} * 8 * kPicosecondsPerSecond;  // 1 MB fits
  return Picoseconds((bits + bits_per_second - 1) / bits_per_second);
}

}  // namespace openmrc
