// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// MRC 6.2 (Table 6-5): RDMA extended transport header. Unlike in RoCE it is in every data packet,
// so that each packet can be placed on its own, in whatever order it comes.
//
//    0               4               8              12              16
//   +---------------+---------------+---------------+---------------+
//   |     virtual address (64)      |     R_Key     |   DMA length  |
//   +---------------+---------------+---------------+---------------+
// WIRE-54
struct RethLayout {
  using VirtualAddress = Bits<"va", 0, 64>;
  using RemoteKey = Bits<"rkey", 64, 32>;
  using DmaLength = Bits<"dmalen", 96, 32>;
  using Fields = FieldList<VirtualAddress, RemoteKey, DmaLength>;
};
using RethView = HeaderView<RethLayout>;
inline constexpr std::size_t kRethSize = kWireSize<RethLayout>;

struct Reth {
  std::uint64_t virtual_address = 0;  // where this packet's payload goes
  RKey rkey{};
  std::uint32_t dma_length = 0;  // bytes in the whole message, the same in all its packets

  bool operator==(const Reth&) const = default;

  using View = RethView;
  static constexpr Reth read(RethView view) {
    return {.virtual_address = view.get<RethLayout::VirtualAddress>(),
            .rkey = RKey(view.get<RethLayout::RemoteKey>()),
            .dma_length = view.get<RethLayout::DmaLength>()};
  }
  constexpr void write(std::span<std::byte, kRethSize> out) const {
    write_fields<RethLayout>(out, RethLayout::VirtualAddress::of(virtual_address),
                             RethLayout::RemoteKey::of(rkey.raw()),
                             RethLayout::DmaLength::of(dma_length));
  }
};

}  // namespace openmrc::wire
