// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/layout.h"

namespace openmrc::wire {

// MRC 6.2 (WIRE-51; Tables 6-8, 6-9): message extended transport header, in every request packet.
//
//    0               2               4
//   +---------------+---------------+
//   |     RQMSN     |      MSN      |
//   +---------------+---------------+
struct MethLayout {
  using ReceiveMessageSeq = Bits<"rqmsn", 0, 16>;
  using MessageSeq = Bits<"msn", 16, 16>;
  using Fields = FieldList<ReceiveMessageSeq, MessageSeq>;
};
using MethView = HeaderView<MethLayout>;
inline constexpr std::size_t kMethSize = kWireSize<MethLayout>;

struct Meth {
  Rqmsn rqmsn{};  // one more for each WRITE with immediate; the same in all packets of a message
  Msn msn{};      // one more for each message; the same in all its packets

  bool operator==(const Meth&) const = default;

  using View = MethView;
  static constexpr Meth read(MethView view) {
    return {.rqmsn = Rqmsn(view.get<MethLayout::ReceiveMessageSeq>()),
            .msn = Msn(view.get<MethLayout::MessageSeq>())};
  }
  constexpr void write(std::span<std::byte, kMethSize> out) const {
    write_fields<MethLayout>(out, MethLayout::ReceiveMessageSeq::of(rqmsn.raw()),
                             MethLayout::MessageSeq::of(msn.raw()));
  }
};

}  // namespace openmrc::wire
