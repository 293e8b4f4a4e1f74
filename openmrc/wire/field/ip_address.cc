// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/ip_address.h"

#include <fmt/format.h>

namespace openmrc::wire {
namespace {

struct Run {
  std::size_t start = 0;
  std::size_t length = 0;
};

// The longest run of zero groups, the first of equals; only a run of two or more is shortened.
Run longest_zero_run(const Ipv6Address& address) {
  Run best;
  Run current;
  for (std::size_t i = 0; i < 8; ++i) {
    current = address.group(i) == 0 ? Run{i - current.length, current.length + 1} : Run{};
    if (current.length > best.length) best = current;
  }
  return best.length >= 2 ? best : Run{};
}

}  // namespace

std::string to_string(Ipv4Address address) {
  const std::uint32_t a = address.raw();
  return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 0xff, a >> 8 & 0xff, a & 0xff);
}

std::string to_string(const Ipv6Address& address) {
  if (is_mapped_ipv4(address)) return to_string(unmapped(address));
  const Run zeros = longest_zero_run(address);
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (zeros.length > 0 && i == zeros.start) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", address.group(i));
  }
  return text;
}

}  // namespace openmrc::wire
