// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// What one tick of a transmit timestamp is (the TSR bit).
enum class TickUnit : std::uint8_t { k128Ns = 0, kVendor = 1 };

// When a packet left, in ticks of the sender's clock; 16 bits of 128 ns wrap after 8.4 ms. The
// receiver gives the number back untouched, so only the sender has to know what it means.
struct TxTimestamp {
  std::uint16_t ticks = 0;
  TickUnit unit = TickUnit::k128Ns;

  bool operator==(const TxTimestamp&) const = default;
};

// The only timestamp format that is defined (the ftype field) (WIRE-53).
inline constexpr std::uint8_t kTimestampFormat = 1;

// MRC 6.2 (Tables 6-6, 6-7): timestamp extended transport header, after the METH when BTH.TS is
// set. PETH and ERTH end in the same four bytes.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------------------------------+-+---------------------+-------+
//   |         tx timestamp          |R|      reserved       | ftype |
//   +-------------------------------+-+---------------------+-------+
//   R (TSR) timestamp resolution (WIRE-52)
struct TsethLayout {
  using Timestamp = Bits<"timestamp", 0, 16>;
  using Resolution = Bits<"tsr", 16, 1>;
  using Reserved = Bits<"reserved", 17, 11>;
  using Format = Bits<"ftype", 28, 4>;
  using Fields = FieldList<Timestamp, Resolution, Reserved, Format>;
};
using TsethView = HeaderView<TsethLayout>;
inline constexpr std::size_t kTsethSize = kWireSize<TsethLayout>;

struct Tseth {
  TxTimestamp sent{};

  bool operator==(const Tseth&) const = default;

  using View = TsethView;
  [[nodiscard]] static constexpr Result<void, Reject> check(TsethView view) {
    using L = TsethLayout;
    if (view.get<L::Format>() != kTimestampFormat) return failure(Reject::kTimestampFormat);
    return {};
  }
  // The view has passed `check`.
  static constexpr Tseth read(TsethView view) {
    using L = TsethLayout;
    return {{.ticks = view.get<L::Timestamp>(),
             .unit = static_cast<TickUnit>(view.get<L::Resolution>())}};
  }
  constexpr void write(std::span<std::byte, kTsethSize> out) const {
    using L = TsethLayout;
    write_fields<L>(out, L::Timestamp::of(sent.ticks),
                    L::Resolution::of(static_cast<std::uint8_t>(sent.unit)),
                    L::Format::of(kTimestampFormat));
  }
};

}  // namespace openmrc::wire
