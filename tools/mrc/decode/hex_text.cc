// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/decode/hex_text.h"

#include <fmt/format.h>

#include <optional>

namespace openmrc::tools {
namespace {

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ':' || c == '-';
}

}  // namespace

Result<std::vector<std::byte>, std::string> parse_hex(std::string_view text) {
  std::vector<unsigned> digits;
  const std::size_t start = text.starts_with("0x") || text.starts_with("0X") ? 2 : 0;
  for (std::size_t i = start; i < text.size(); ++i) {
    if (is_separator(text[i])) continue;
    const auto value = digit(text[i]);
    if (!value) {
      return failure(fmt::format("invalid hex digit '{}' at position {}", text[i], i + 1));
    }
    digits.push_back(*value);
  }
  if (digits.empty()) return failure(std::string("no hex digits"));
  if (digits.size() % 2 != 0) return failure(std::string("the last byte has only one digit"));
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digits[2 * i] << 4 | digits[2 * i + 1]);
  }
  return bytes;
}

}  // namespace openmrc::tools
