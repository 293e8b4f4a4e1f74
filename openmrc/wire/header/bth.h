// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/opcode.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// MRC 6.2 (Tables 6-3, 6-4) and 7.5.5 (Tables 7-10, 7-11): base transport header, in every packet.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+-+-+---+-------+-------------------------------+
//   |    opcode     |S|M|Pad| TVer  |             P_Key             |
//   +---------------+-+-+---+-------+-------------------------------+
//   | variant resv. |             destination queue pair            |
//   +-+-+-+-+-------+-----------------------------------------------+
//   |A|R|X|T| resv. |                      PSN                      |
//   +-+-+-+-+-------+-----------------------------------------------+
//   S solicited event, M migration, A acknowledge request, R reserved,
//   X (RTX) retransmission, T (TS) a TSETH follows the METH (WIRE-32, WIRE-46)
struct BthLayout {
  using OpcodeByte = Bits<"opcode", 0, 8>;
  using SolicitedEvent = Bits<"se", 8, 1>;
  using Migration = Bits<"m", 9, 1>;
  using PadCount = Bits<"pad", 10, 2>;
  using Version = Bits<"tver", 12, 4>;
  using PartitionKey = Bits<"pkey", 16, 16>;
  using VariantReserved = Bits<"variant_reserved", 32, 8>;  // the byte that the ICRC leaves out
  using DestinationQp = Bits<"dqp", 40, 24>;
  using AckRequest = Bits<"ackreq", 64, 1>;
  using Reserved1 = Bits<"reserved1", 65, 1>;
  using Retransmission = Bits<"rtx", 66, 1>;
  using TimestampPresent = Bits<"ts", 67, 1>;
  using Reserved2 = Bits<"reserved2", 68, 4>;
  using PacketSeq = Bits<"psn", 72, 24>;
  using Fields = FieldList<OpcodeByte, SolicitedEvent, Migration, PadCount, Version, PartitionKey,
                           VariantReserved, DestinationQp, AckRequest, Reserved1, Retransmission,
                           TimestampPresent, Reserved2, PacketSeq>;
};
using BthView = HeaderView<BthLayout>;
inline constexpr std::size_t kBthSize = kWireSize<BthLayout>;

// Bits S and M and the reserved ones are sent as 0 and ignored on receive (WIRE-34).
struct Bth {
  Opcode opcode = Opcode::kWriteOnly;
  std::uint8_t pad_count = 0;  // 0 to 3
  PKey pkey = kPKeyDefault;
  Qpn destination_qp{};
  bool ack_request = false;
  bool retransmission = false;
  bool has_timestamp = false;
  Psn psn{};  // what it means depends on the packet: Table 7-6

  bool operator==(const Bth&) const = default;

  using View = BthView;
  // WIRE-36
  [[nodiscard]] static constexpr Result<void, Reject> check(BthView view) {
    using L = BthLayout;
    const std::uint8_t opcode = view.get<L::OpcodeByte>();
    if (!is_defined_opcode(opcode)) {
      return failure(is_mrc_opcode(opcode) ? Reject::kOpcodeUnknown : Reject::kOpcodeNotMrc);
    }
    if (view.get<L::Version>() != 0) return failure(Reject::kBthVersion);
    return {};
  }
  // The view has passed `check`.
  static constexpr Bth read(BthView view) {
    using L = BthLayout;
    return {.opcode = static_cast<Opcode>(view.get<L::OpcodeByte>()),
            .pad_count = view.get<L::PadCount>(),
            .pkey = PKey(view.get<L::PartitionKey>()),
            .destination_qp = Qpn(view.get<L::DestinationQp>()),
            .ack_request = view.get<L::AckRequest>() != 0,
            .retransmission = view.get<L::Retransmission>() != 0,
            .has_timestamp = view.get<L::TimestampPresent>() != 0,
            .psn = Psn(view.get<L::PacketSeq>())};
  }

  constexpr void write(std::span<std::byte, kBthSize> out) const {
    using L = BthLayout;
    write_fields<L>(out, L::OpcodeByte::of(static_cast<std::uint8_t>(opcode)),
                    L::PadCount::of(pad_count), L::PartitionKey::of(pkey.raw()),
                    L::DestinationQp::of(destination_qp.raw()), L::AckRequest::of(ack_request),
                    L::Retransmission::of(retransmission), L::TimestampPresent::of(has_timestamp),
                    L::PacketSeq::of(psn.raw()));
  }
};

}  // namespace openmrc::wire
