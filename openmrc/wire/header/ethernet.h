// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/strong.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// Ethernet II, no tag.
//
//    0                   6                   12        14
//   +-------------------+-------------------+---------+
//   |  destination MAC  |    source MAC     |  type   |
//   +-------------------+-------------------+---------+
struct EthernetLayout {
  using Destination = Bits<"destination", 0, 48>;
  using Source = Bits<"source", 48, 48>;
  using Type = Bits<"type", 96, 16>;
  using Fields = FieldList<Destination, Source, Type>;
};
using EthernetView = HeaderView<EthernetLayout>;

using MacAddress = Strong<struct MacAddressTag, std::uint64_t, 48>;

struct Ethernet {
  MacAddress destination{};
  MacAddress source{};
  EtherType type = EtherType::kIpv6;

  using View = EthernetView;
  bool operator==(const Ethernet&) const = default;

  constexpr void write(std::span<std::byte, kWireSize<EthernetLayout>> out) const {
    using L = EthernetLayout;
    write_fields<L>(out, L::Destination::of(destination.raw()), L::Source::of(source.raw()),
                    L::Type::of(static_cast<std::uint16_t>(type)));
  }
};

}  // namespace openmrc::wire
