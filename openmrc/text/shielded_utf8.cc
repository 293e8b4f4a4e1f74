// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/shielded_utf8.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace openmrc::text {
namespace {

// U+100080 to U+1000FF are these two bytes, 0x82 or 0x83, and six bits.
constexpr std::string_view kPrivatePlane = "\xf4\x80";
constexpr std::size_t kShieldedBytes = 4;
constexpr unsigned kUpperHalf = 0x40;  // of the bytes that are not ASCII
constexpr unsigned kSixBits = 0x3f;

unsigned byte_of(char c) { return static_cast<std::uint8_t>(c); }
char char_of(unsigned byte) { return static_cast<char>(static_cast<std::uint8_t>(byte)); }
bool continues(char c) { return byte_of(c) >> 6 == 2; }

// 0 if no character begins with this byte.
std::size_t bytes_of_character(char first) {
  const int ones = std::countl_one(static_cast<std::uint8_t>(first));
  if (ones == 0) return 1;
  return ones >= 2 && ones <= 4 ? static_cast<std::size_t>(ones) : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = bytes_of_character(text.front());
    if (bytes == 0 || bytes > text.size()) return false;
    if (!std::ranges::all_of(text.substr(1, bytes - 1), continues)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string shielded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (byte_of(c) < 0x80) {
      result += c;
      continue;
    }
    result += kPrivatePlane;
    result += char_of((byte_of(c) & kUpperHalf) != 0 ? 0x83 : 0x82);
    result += char_of(0x80 | (byte_of(c) & kSixBits));
  }
  return result;
}

std::string unshielded(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t next = std::min(text.find(kPrivatePlane), text.size());
    result += text.substr(0, next);
    text.remove_prefix(next);
    if (text.size() < kShieldedBytes) return result += text;
    const unsigned half = byte_of(text[2]);
    if (half == 0x82 || half == 0x83) {
      result += char_of((half == 0x83 ? 0xc0U : 0x80U) | (byte_of(text[3]) & kSixBits));
    } else {
      result += text.substr(0, kShieldedBytes);  // another private character, written as an escape
    }
    text.remove_prefix(kShieldedBytes);
  }
  return result;
}

}  // namespace openmrc::text
