// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/random_lengths.h"

#include <algorithm>
#include <array>
#include <bit>

#include "openmrc/base/check.h"
#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

constexpr int kFractionBits = 32;
constexpr std::uint64_t kLn2 = 2'977'044'472;           // in 2^-32
constexpr std::int64_t kLog2E = 6'196'328'019;          // 1 / ln 2, in 2^-32
constexpr int kRootBits = 62;                           // behind the point of kRoots
constexpr std::int64_t kShiftMax = 128;                 // of a Unsigned128
constexpr std::int64_t kDrawn = std::int64_t{1} << 31;  // a coordinate of draw_normal, as one

constexpr Unsigned128 square_root(Unsigned128 number) {
  Unsigned128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Unsigned128 larger = root | (Unsigned128{1} << bit);
    if (larger * larger <= number) root = larger;
  }
  return root;
}

// 2^(1/2), 2^(1/4), ...: the product of some of them is any power of 2 between 2^0 and 2^1.
constexpr auto kRoots = [] {
  std::array<std::uint64_t, kFractionBits> roots{};
  Unsigned128 root = Unsigned128{2} << kRootBits;
  for (std::uint64_t& each : roots) {
    root = square_root(root << kRootBits);
    each = static_cast<std::uint64_t>(root);
  }
  return roots;
}();

Picoseconds limited(Unsigned128 length) {
  return Picoseconds(static_cast<std::int64_t>(std::min<Unsigned128>(length, text::kAmountMax)));
}

// mean * 2^exponent, the exponent in 2^-32.
Picoseconds scaled(Picoseconds mean, std::int64_t exponent) {
  const std::int64_t whole = exponent >> kFractionBits;  // rounded down
  const auto fraction = static_cast<std::uint64_t>(exponent - whole * kFixedOne);
  Unsigned128 factor = Unsigned128{1} << kRootBits;
  for (int i = 0; i < kFractionBits; ++i) {
    if ((fraction >> (kFractionBits - 1 - i) & 1) != 0) {
      factor = (factor * kRoots[static_cast<std::size_t>(i)]) >> kRootBits;
    }
  }
  const Unsigned128 length = (static_cast<Unsigned128>(mean.raw()) * factor) >> kRootBits;
  if (whole < 0) return limited(whole <= -kShiftMax ? 0 : length >> -whole);
  return limited(whole >= kRootBits ? text::kAmountMax : length << whole);
}

}  // namespace

// Its logarithm to base 2 bit by bit: the square of a number between 1 and 2 is beyond 2 if the
// next bit is set.
std::uint64_t minus_ln(std::uint64_t number) {
  OPENMRC_CHECK(number > 0, "it has no logarithm");
  const int whole = 63 - std::countl_zero(number);
  Unsigned128 mantissa = Unsigned128{number} << (63 - whole);  // in 2^-63
  std::uint64_t fraction = 0;
  for (int i = 0; i < kFractionBits; ++i) {
    mantissa = (mantissa * mantissa) >> 63;
    const bool beyond = mantissa >> 64 != 0;
    fraction = fraction << 1 | (beyond ? 1 : 0);
    if (beyond) mantissa >>= 1;
  }
  const auto log2 = (static_cast<std::uint64_t>(whole) << kFractionBits) + fraction;
  const std::uint64_t below_64 = (std::uint64_t{64} << kFractionBits) - log2;
  return static_cast<std::uint64_t>((Unsigned128{below_64} * kLn2) >> kFractionBits);
}

// Marsaglia's polar method: a point in the unit circle gives a direction and a distance.
std::int64_t draw_normal(Rng& rng) {
  constexpr std::uint64_t kCircle = std::uint64_t{1} << 62;
  constexpr std::uint64_t kTooNear = std::uint64_t{1} << 30;  // its quotient would be too large
  while (true) {
    const auto coordinate = [&] {
      return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(kDrawn) * 2)) - kDrawn;
    };
    const std::int64_t x = coordinate();
    const std::int64_t y = coordinate();
    const auto square = static_cast<std::uint64_t>(x * x) + static_cast<std::uint64_t>(y * y);
    if (square >= kCircle || square < kTooNear) continue;
    const Unsigned128 quotient = ((Unsigned128{minus_ln(square << 2)} * 2) << 62) / square;
    const auto distance = static_cast<std::int64_t>(square_root(quotient << kFractionBits));
    const Unsigned128 size =
        static_cast<Unsigned128>(x < 0 ? -x : x) * static_cast<std::uint64_t>(distance);
    const auto drawn = static_cast<std::int64_t>(size / static_cast<std::uint64_t>(kDrawn));
    return x < 0 ? -drawn : drawn;
  }
}

Picoseconds draw_exponential(Rng& rng, Picoseconds mean) {
  const std::uint64_t number = std::max<std::uint64_t>(1, rng.next());
  return limited((static_cast<Unsigned128>(mean.raw()) * minus_ln(number)) >> kFractionBits);
}

// exp(sigma * normal - sigma^2 / 2) has the mean 1.
Picoseconds draw_lognormal(Rng& rng, Picoseconds mean, std::uint32_t sigma_percent) {
  OPENMRC_CHECK(sigma_percent <= kSigmaPercentMax, "its powers would not fit");
  const std::int64_t sigma = sigma_percent;
  const std::int64_t normal = draw_normal(rng);
  const std::int64_t exponent = normal * sigma / 100 - sigma * sigma * kFixedOne / 20'000;
  // In two halves, each of which fits.
  const std::int64_t whole = exponent / kFixedOne;
  const std::int64_t part = exponent % kFixedOne;
  const auto product = whole * kLog2E + (part < 0 ? -1 : 1) *
                                            static_cast<std::int64_t>(
                                                (static_cast<Unsigned128>(part < 0 ? -part : part) *
                                                 static_cast<std::uint64_t>(kLog2E)) >>
                                                kFractionBits);
  return scaled(mean, product);
}

}  // namespace openmrc::sim
