// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/rng.h"

#include <bit>
#include <limits>

#include "openmrc/base/check.h"

namespace openmrc {
namespace {

__extension__ using Uint128 = unsigned __int128;

}  // namespace

Rng::Rng(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

std::uint64_t Rng::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

// Lemire's method: the high half of a 64x64 product is in [0, bound); the few low halves that
// would favour some results are drawn again.
std::uint64_t Rng::below(std::uint64_t bound) {
  OPENMRC_CHECK(bound > 0, "there is no number below zero");
  Uint128 product = Uint128{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Uint128{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t Rng::between(std::uint64_t low, std::uint64_t high) {
  OPENMRC_CHECK(low <= high, "the range is empty");
  if (high - low == std::numeric_limits<std::uint64_t>::max()) return next();
  return low + below(high - low + 1);
}

Rng Rng::fork(std::uint64_t stream) const {
  std::uint64_t mix = state_[0] ^ std::rotl(state_[2], 32) ^ stream;
  return Rng(split_mix(mix) ^ stream);
}

}  // namespace openmrc
