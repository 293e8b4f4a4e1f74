// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace openmrc {

// SHA-256 (FIPS 180-4) of some bytes as 64 hexadecimal digits, to tell files apart. Not for
// secrets.
std::string sha256_hex(std::string_view bytes);

}  // namespace openmrc
