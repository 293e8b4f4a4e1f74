// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/base/strong.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// Which datagrams a queue pair takes: those that carry its own. Everybody who may send to it knows
// it, so it keeps mistakes away rather than attackers.
using QKey = Strong<struct QKeyTag, std::uint32_t>;

// RoCEv2 (UD-1): datagram extended transport header, behind the BTH of an unreliable datagram.
//
//    0                               4               5               8
//   +-------------------------------+---------------+---------------+
//   |             Q_Key             |   reserved    |   source QP   |
//   +-------------------------------+---------------+---------------+
struct DethLayout {
  using Key = Bits<"qkey", 0, 32>;
  using Reserved = Bits<"reserved", 32, 8>;
  using SourceQp = Bits<"sqp", 40, 24>;
  using Fields = FieldList<Key, Reserved, SourceQp>;
};
using DethView = HeaderView<DethLayout>;
inline constexpr std::size_t kDethSize = kWireSize<DethLayout>;

struct Deth {
  QKey qkey{};
  Qpn source_qp{};  // whom to answer

  bool operator==(const Deth&) const = default;

  using View = DethView;
  static constexpr Deth read(DethView view) {
    return {.qkey = QKey(view.get<DethLayout::Key>()),
            .source_qp = Qpn(view.get<DethLayout::SourceQp>())};
  }
  constexpr void write(std::span<std::byte, kDethSize> out) const {
    write_fields<DethLayout>(out, DethLayout::Key::of(qkey.raw()),
                             DethLayout::SourceQp::of(source_qp.raw()));
  }
};

}  // namespace openmrc::wire
