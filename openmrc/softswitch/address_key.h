// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "openmrc/wire/field/byte_order.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::softswitch {

// An IPv6 address as two numbers: what a switch does with it, to compare and to mask, takes a
// few instructions then.
struct AddressKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  constexpr auto operator<=>(const AddressKey&) const = default;

  // From and to the 16 bytes of an address in a packet.
  static constexpr AddressKey load(const std::byte* bytes) {
    return {wire::load_be<std::uint64_t>(bytes), wire::load_be<std::uint64_t>(bytes + 8)};
  }
  constexpr void store(std::byte* bytes) const {
    wire::store_be(bytes, high);
    wire::store_be(bytes + 8, low);
  }
  static constexpr AddressKey of(const wire::Ipv6Address& address) {
    return load(address.bytes.data());
  }
  // As everywhere, in the form ::ffff:a.b.c.d.
  static constexpr AddressKey of(wire::Ipv4Address address) {
    return {0, std::uint64_t{0xffff} << 32 | address.raw()};
  }

  // The first `length` bits are one, the others zero.
  static constexpr AddressKey mask(std::uint8_t length) {
    return {leading_ones(std::min<unsigned>(length, 64)),
            leading_ones(std::max<unsigned>(length, 64) - 64)};
  }
  [[nodiscard]] constexpr AddressKey under(const AddressKey& mask) const {
    return {high & mask.high, low & mask.low};
  }

  // The parts of a uSID carrier; wire::UsidCarrier has the picture.
  [[nodiscard]] constexpr std::uint32_t block() const {
    return static_cast<std::uint32_t>(high >> 32);
  }
  // The block and the active uSID: 48 bits.
  [[nodiscard]] constexpr std::uint64_t locator() const { return high >> 16; }
  [[nodiscard]] constexpr wire::Usid active_usid() const {
    return wire::Usid(static_cast<std::uint16_t>(high >> 16 & 0xffff));
  }
  [[nodiscard]] constexpr wire::Usid next_usid() const {
    return wire::Usid(static_cast<std::uint16_t>(high & 0xffff));
  }
  [[nodiscard]] constexpr bool ends_with_active() const { return (high << 48 | low) == 0; }

 private:
  static constexpr std::uint64_t leading_ones(unsigned count) {
    return count == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() << (64 - count);
  }
};

}  // namespace openmrc::softswitch
