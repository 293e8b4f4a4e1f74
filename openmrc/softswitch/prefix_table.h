// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/softswitch/address_key.h"
#include "openmrc/softswitch/limits.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::softswitch {

// The addresses that agree with `address` in their first `length` bits; its other bits are zero.
struct Prefix {
  wire::Ipv6Address address{};
  std::uint8_t length = 0;

  static constexpr std::uint8_t kLengthMax = 128;

  // The same for IPv4; `length` is at most 32. Written ::ffff:a.b.c.d/96+length, as everywhere.
  static constexpr Prefix of(wire::Ipv4Address address, std::uint8_t length) {
    return {wire::mapped(address), static_cast<std::uint8_t>(96 + length)};
  }

  bool operator==(const Prefix&) const = default;
};

// Which ports lead to a destination: any of them will do.
struct PrefixRoute {
  Prefix prefix{};
  std::vector<PortIndex> ports{};
};

// Finds the longest prefix that covers an address. Made once; a search takes as many steps as the
// number of prefixes has binary digits, and then one for each prefix that lies around the first one
// found, which are at most 129.
//
// No IPv6 prefix but those within ::ffff:0:0/96 covers an IPv4 address: ::/0 is no route for IPv4.
class PrefixTable {
 public:
  // The routes are sound: lengths are at most 128, bits behind them zero, no prefix is there twice.
  explicit PrefixTable(std::span<const PrefixRoute> routes);

  // The ports of the longest prefix; none if no prefix covers it.
  [[nodiscard]] std::span<const PortIndex> find(const AddressKey& address) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Entry {
    AddressKey first;
    AddressKey mask;
    std::uint32_t around = kNone;  // the longest of the prefixes that contain this one
    std::uint32_t ports_from = 0;
    std::uint32_t ports_count = 0;

    [[nodiscard]] bool covers(const AddressKey& key) const { return key.under(mask) == first; }
  };

  void add(const Prefix& prefix, std::span<const PortIndex> ports);

  // By first address; of those with the same, the shorter prefix first. So an entry comes behind
  // all that contain it.
  std::vector<Entry> entries_;
  std::vector<PortIndex> ports_;
};

}  // namespace openmrc::softswitch
