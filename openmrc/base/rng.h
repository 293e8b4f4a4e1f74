// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace openmrc {

// A chance as a ratio of integers, so that it is the same on every machine.
struct Ratio {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

// Spreads one number over 64 bits; successive calls walk a sequence (SplitMix64).
constexpr std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A seeded generator (xoshiro256++) that gives the same numbers with every compiler and on every
// machine. It uses no floating point and no standard distribution, because those differ. Not for
// secrets.
class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Rng(std::uint64_t seed);
  explicit Rng(const State& state) : state_(state) {}

  std::uint64_t next();

  // A number in [0, bound), each equally likely. `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);

  // A number in [low, high], each equally likely.
  std::uint64_t between(std::uint64_t low, std::uint64_t high);

  bool chance(Ratio ratio) { return below(ratio.denominator) < ratio.numerator; }

  // A generator of its own for part `stream` of the work, so that one part can draw more or fewer
  // numbers without changing what another part sees. Does not disturb this one.
  [[nodiscard]] Rng fork(std::uint64_t stream) const;

 private:
  State state_;
};

}  // namespace openmrc
