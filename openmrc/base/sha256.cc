// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace openmrc {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kRounds = 64;

// FIPS 180-4, 4.2.2: of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, kRounds> kConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  void add_block(std::string_view block) {
    const auto words = schedule(block);
    std::array<std::uint32_t, 8> s = state_;
    for (std::size_t i = 0; i < kRounds; ++i) {
      const std::uint32_t sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const std::uint32_t first = s[7] + sum1 + choice + kConstants[i] + words[i];
      const std::uint32_t sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      std::ranges::copy_backward(s.begin(), s.end() - 1, s.end());
      s[4] += first;
      s[0] = first + sum0 + majority;
    }
    for (std::size_t i = 0; i < s.size(); ++i) state_[i] += s[i];
  }

  [[nodiscard]] std::string hex() const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15U];
    }
    return text;
  }

 private:
  static std::array<std::uint32_t, kRounds> schedule(std::string_view block) {
    std::array<std::uint32_t, kRounds> words{};
    for (std::size_t i = 0; i < kBlockBytes; ++i) {
      words[i / 4] = (words[i / 4] << 8) | static_cast<unsigned char>(block[i]);
    }
    for (std::size_t i = 16; i < kRounds; ++i) {
      const std::uint32_t a = words[i - 15];
      const std::uint32_t b = words[i - 2];
      words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + words[i - 7] +
                 (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    return words;
  }

  // FIPS 180-4, 5.3.3: of the square roots of the first 8 primes.
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

// What is left of the bytes, a one bit, zeros, and the number of bits.
std::string last_blocks(std::string_view rest, std::uint64_t bytes) {
  std::string out(rest);
  out += '\x80';
  while (out.size() % kBlockBytes != kBlockBytes - kLengthBytes) out += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>((bytes * 8) >> shift);
  return out;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 sum;
  std::string_view rest = bytes;
  for (; rest.size() >= kBlockBytes; rest.remove_prefix(kBlockBytes)) {
    sum.add_block(rest.substr(0, kBlockBytes));
  }
  const std::string last = last_blocks(rest, bytes.size());
  for (std::size_t at = 0; at < last.size(); at += kBlockBytes) {
    sum.add_block(std::string_view(last).substr(at, kBlockBytes));
  }
  return sum.hex();
}

}  // namespace openmrc
