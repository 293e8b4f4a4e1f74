// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"

// Lengths of time drawn by chance, in integers throughout, so that the same seed gives the same
// ones on every machine. None is longer than text::kAmountMax, so that two can be added.
namespace openmrc::sim {

// 32 bits before the point and 32 behind it.
inline constexpr std::int64_t kFixedOne = std::int64_t{1} << 32;

// -ln of (number / 2^64), in 2^-32. `number` is above 0.
std::uint64_t minus_ln(std::uint64_t number);

// Of the normal distribution with mean 0 and deviation 1, in 2^-32.
std::int64_t draw_normal(Rng& rng);

Picoseconds draw_exponential(Rng& rng, Picoseconds mean);

// Its logarithm has a deviation of `sigma_percent` / 100, at most kSigmaPercentMax.
inline constexpr std::uint32_t kSigmaPercentMax = 300;
Picoseconds draw_lognormal(Rng& rng, Picoseconds mean, std::uint32_t sigma_percent);

}  // namespace openmrc::sim
