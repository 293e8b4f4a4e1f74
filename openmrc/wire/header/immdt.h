// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/strong.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// MRC 6.2 (WIRE-56): immediate data, after the RETH of the last packet of a WRITE with immediate.
//
//    0                               4
//   +-------------------------------+
//   |        immediate data         |
//   +-------------------------------+
struct ImmdtLayout {
  using Data = Bits<"immediate", 0, 32>;
  using Fields = FieldList<Data>;
};
using ImmdtView = HeaderView<ImmdtLayout>;
inline constexpr std::size_t kImmdtSize = kWireSize<ImmdtLayout>;

// The number that a program passes along with a write; its four bytes travel in network order.
using Immediate = Strong<struct ImmediateTag, std::uint32_t>;

struct Immdt {
  Immediate data{};

  bool operator==(const Immdt&) const = default;

  using View = ImmdtView;
  static constexpr Immdt read(ImmdtView view) { return {Immediate(view.get<ImmdtLayout::Data>())}; }
  constexpr void write(std::span<std::byte, kImmdtSize> out) const {
    write_fields<ImmdtLayout>(out, ImmdtLayout::Data::of(data.raw()));
  }
};

}  // namespace openmrc::wire
