// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "openmrc/base/strong.h"

namespace openmrc::wire {

// 10.0.0.1 is Ipv4Address(0x0a000001).
using Ipv4Address = Strong<struct Ipv4AddressTag, std::uint32_t>;

// In network order.
struct Ipv6Address {
  std::array<std::byte, 16> bytes{};

  constexpr auto operator<=>(const Ipv6Address&) const = default;
  // Two words at a time: this is asked of every packet.
  constexpr bool operator==(const Ipv6Address& other) const {
    using Words = std::array<std::uint64_t, 2>;
    const auto a = std::bit_cast<Words>(bytes);
    const auto b = std::bit_cast<Words>(other.bytes);
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
  }

  // From eight groups, as it is written: {0xfd00, 0, 0, 0, 0, 0, 0, 1} is fd00::1.
  static constexpr Ipv6Address of(const std::array<std::uint16_t, 8>& groups) {
    Ipv6Address address;
    for (std::size_t i = 0; i < groups.size(); ++i) address.set_group(i, groups[i]);
    return address;
  }

  [[nodiscard]] constexpr std::uint16_t group(std::size_t index) const {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[2 * index]) << 8 |
                                      std::to_integer<unsigned>(bytes[2 * index + 1]));
  }
  constexpr void set_group(std::size_t index, std::uint16_t value) {
    bytes[2 * index] = static_cast<std::byte>(value >> 8);
    bytes[2 * index + 1] = static_cast<std::byte>(value & 0xff);
  }

  // The ones of both: the parts of an SRv6 path, each of which is zero where others speak.
  constexpr Ipv6Address operator|(const Ipv6Address& other) const {
    Ipv6Address both = *this;
    for (std::size_t i = 0; i < bytes.size(); ++i) both.bytes[i] |= other.bytes[i];
    return both;
  }
};

// An IPv4 address in the form of an IPv6 one: ::ffff:a.b.c.d.
constexpr Ipv6Address mapped(Ipv4Address address) {
  return Ipv6Address::of({0, 0, 0, 0, 0, 0xffff, static_cast<std::uint16_t>(address.raw() >> 16),
                          static_cast<std::uint16_t>(address.raw() & 0xffff)});
}
constexpr bool is_mapped_ipv4(const Ipv6Address& address) {
  constexpr Ipv6Address kPrefix = mapped(Ipv4Address(0));
  return std::equal(kPrefix.bytes.begin(), kPrefix.bytes.begin() + 12, address.bytes.begin());
}
// `address` is one of these.
constexpr Ipv4Address unmapped(const Ipv6Address& address) {
  return Ipv4Address(std::uint32_t{address.group(6)} << 16 | address.group(7));
}

std::string to_string(Ipv4Address address);
std::string to_string(const Ipv6Address& address);  // as RFC 5952 recommends

}  // namespace openmrc::wire
