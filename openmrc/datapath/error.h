// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace openmrc::datapath {

// What is missing, and what to do about it.
struct Error {
  std::string what{};
  std::string remedy{};

  bool operator==(const Error&) const = default;
};
inline std::string to_string(const Error& error) {
  return error.remedy.empty() ? error.what : error.what + "; " + error.remedy;
}

}  // namespace openmrc::datapath
