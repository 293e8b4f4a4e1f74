// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/secret_numbers.h"

#include <bit>
#include <limits>

#include "openmrc/base/check.h"

namespace openmrc {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

constexpr std::uint64_t kMessageBytes = 8;

}  // namespace

std::uint64_t sip_hash(const SecretNumbers::Key& key, std::uint64_t message) {
  SipState state{.v0 = key[0] ^ 0x736f6d6570736575,
                 .v1 = key[1] ^ 0x646f72616e646f6d,
                 .v2 = key[0] ^ 0x6c7967656e657261,
                 .v3 = key[1] ^ 0x7465646279746573};
  state.absorb(message);
  state.absorb(kMessageBytes << 56);  // the length, and no byte left over
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

SecretNumbers::Key derived(const SecretNumbers::Key& key, std::uint64_t purpose) {
  return {sip_hash(key, purpose * 2), sip_hash(key, purpose * 2 + 1)};
}

std::uint64_t SecretNumbers::next() { return sip_hash(key_, count_++); }

std::uint64_t SecretNumbers::below(std::uint64_t bound) {
  OPENMRC_CHECK(bound > 0, "there is no number below 0");
  // What is left of the range after whole multiples of the bound would make some more likely.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  for (;;) {
    const std::uint64_t number = next();
    if (number < limit) return number % bound;
  }
}

}  // namespace openmrc
