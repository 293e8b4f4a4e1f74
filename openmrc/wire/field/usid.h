// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/base/strong.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::wire {

// A micro-segment: names one switch or the last link. 0 means "no more" (WIRE-21).
using Usid = Strong<struct UsidTag, std::uint16_t>;
inline constexpr Usid kEndOfCarrier{0};

// An IPv6 destination address that carries a path (MRC 9.2; RFC 9800 NEXT-C-SID, format F3216):
//
//    0               4       6       8      10      12      14      16
//   +---------------+-------+-------+-------+-------+-------+-------+
//   | block (32)    | uSID1 | uSID2 | uSID3 | uSID4 | uSID5 | uSID6 |
//   +---------------+-------+-------+-------+-------+-------+-------+
//
// The switch that owns uSID1 shifts the rest one place to the left and forwards by the new uSID1.
// WIRE-20, WIRE-22
class UsidCarrier {
 public:
  static constexpr std::size_t kUsidsMax = 6;
  using List = FixedVector<Usid, kUsidsMax>;

  struct Peeled;

  constexpr explicit UsidCarrier(const Ipv6Address& address) : address_(address) {}

  // A carrier for `usids` in order of travel. Nothing if there are more than fit, or if one is
  // zero: it would end the path early (and one switch family drops a packet whose next uSID is 0).
  static constexpr std::optional<UsidCarrier> of(std::uint32_t block, std::span<const Usid> usids) {
    if (usids.size() > kUsidsMax) return std::nullopt;
    Ipv6Address address;
    address.set_group(0, static_cast<std::uint16_t>(block >> 16));
    address.set_group(1, static_cast<std::uint16_t>(block & 0xffff));
    for (std::size_t i = 0; i < usids.size(); ++i) {
      if (usids[i] == kEndOfCarrier) return std::nullopt;
      address.set_group(kBlockGroups + i, usids[i].raw());
    }
    return UsidCarrier(address);
  }

  [[nodiscard]] constexpr const Ipv6Address& address() const { return address_; }
  [[nodiscard]] constexpr std::uint32_t block() const {
    return std::uint32_t{address_.group(0)} << 16 | address_.group(1);
  }
  [[nodiscard]] constexpr Usid active() const { return Usid(address_.group(kBlockGroups)); }

  // The uSIDs still to be visited, the active one first.
  [[nodiscard]] constexpr List remaining() const {
    List list;
    for (std::size_t i = 0; i < kUsidsMax; ++i) {
      const Usid usid(address_.group(kBlockGroups + i));
      if (usid == kEndOfCarrier) break;
      list.push_back(usid);
    }
    return list;
  }

  // What a switch does on its own uSID (uN): drop it, move the rest up, fill with zero.
  [[nodiscard]] constexpr UsidCarrier shift() const {
    UsidCarrier shifted = *this;
    for (std::size_t i = kBlockGroups; i + 1 < kGroups; ++i) {
      shifted.address_.set_group(i, address_.group(i + 1));
    }
    shifted.address_.set_group(kGroups - 1, 0);
    return shifted;
  }

  // The next uSID to visit and the carrier after it; nothing at the end of the path.
  [[nodiscard]] constexpr std::optional<Peeled> peel() const;

  bool operator==(const UsidCarrier&) const = default;

 private:
  static constexpr std::size_t kGroups = 8;
  static constexpr std::size_t kBlockGroups = 2;

  Ipv6Address address_;
};

struct UsidCarrier::Peeled {
  Usid usid;
  UsidCarrier rest;

  bool operator==(const Peeled&) const = default;
};

constexpr std::optional<UsidCarrier::Peeled> UsidCarrier::peel() const {
  if (active() == kEndOfCarrier) return std::nullopt;
  return Peeled{active(), shift()};
}

}  // namespace openmrc::wire
