// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <cstddef>
#include <ostream>
#include <string_view>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"

// Bytes as people write them. A test puts the bytes of a header or packet down as hex text, in
// groups as they stand in its diagram, with the fields beside them.
namespace openmrc::test {

// Bytes that a failing test prints as hex.
struct Bytes : std::vector<std::byte> {
  using std::vector<std::byte>::vector;

  static Bytes copy_of(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

  // NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for.
  friend void PrintTo(const Bytes& bytes, std::ostream* out) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i > 0 && i % 4 == 0) *out << ' ';
      const auto value = std::to_integer<unsigned>(bytes[i]);
      *out << kDigits[value >> 4] << kDigits[value & 0xf];
    }
  }
};

inline unsigned hex_digit(char digit) {
  const auto lower = std::tolower(static_cast<unsigned char>(digit));
  OPENMRC_CHECK(std::isxdigit(lower) != 0, "not a hex digit");
  return static_cast<unsigned>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
}

// Two digits are a byte; spaces between bytes are for the reader.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    OPENMRC_CHECK(i + 1 < text.size(), "half a byte");
    bytes.push_back(static_cast<std::byte>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1])));
    i += 2;
  }
  return bytes;
}

// The view of a header, for `use`: the bytes live as long as the call.
template <class Header, class Use>
auto with_view(std::string_view hex, Use use) {
  const Bytes bytes = from_hex(hex);
  OPENMRC_CHECK(bytes.size() == Header::View::kSize, "not the size of the header");
  return use(*Header::View::over(bytes));
}

// A header both ways, and its check: the three things that each header's test asks for.
template <class Header>
Header read_header(std::string_view hex) {
  return with_view<Header>(hex, [](auto view) { return Header::read(view); });
}
template <class Header>
auto check_header(std::string_view hex) {
  return with_view<Header>(hex, [](auto view) { return Header::check(view); });
}
// What lay in the buffer before must not show through, so it is not zero.
template <class Header>
Bytes write_header(const Header& header) {
  Bytes bytes(Header::View::kSize, std::byte{0xee});
  header.write(std::span<std::byte, Header::View::kSize>(bytes));
  return bytes;
}

}  // namespace openmrc::test
