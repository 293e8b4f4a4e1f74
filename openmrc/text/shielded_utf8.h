// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

// Characters that are not ASCII, hidden from a parser that cannot take all of them. toml++ asks of
// characters whether they are white space, and for most of those between U+00A0 and U+FEFF its code
// ends in __builtin_unreachable. Above, it is sound: so each byte that is not ASCII becomes one of
// the private characters U+100080 to U+1000FF, and what comes out of the parser is taken back.
namespace openmrc::text {

bool is_utf8(std::string_view text);
std::string shielded(std::string_view text);
std::string unshielded(std::string_view text);

}  // namespace openmrc::text
