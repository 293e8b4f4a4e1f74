// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/bytes.h"
#include "openmrc/base/hold.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/plain_headers.h"
#include "openmrc/wire/settings.h"

namespace openmrc::wire {
namespace detail {

inline constexpr std::size_t kMethAt = kBthAt + kBthSize;
inline constexpr std::size_t kTsethAt = kMethAt + kMethSize;
inline constexpr std::size_t kRethAt = kTsethAt + kTsethSize;
inline constexpr std::size_t kPayloadAt = kRethAt + kRethSize;

// One bit for each opcode that is a write without immediate, counted from the first.
inline constexpr std::uint32_t kPlainWrites = [] {
  std::uint32_t plain = 0;
  for (const Opcode opcode : kOpcodes) {
    if (is_write(opcode) && !has_immediate(opcode)) {
      plain |= 1u << (static_cast<unsigned>(opcode) - static_cast<unsigned>(Opcode::kWriteFirst));
    }
  }
  return plain;
}();

constexpr bool is_plain_write(std::uint8_t opcode) {
  const unsigned index = opcode - static_cast<unsigned>(Opcode::kWriteFirst);
  return index < 32 && (kPlainWrites >> index & 1) != 0;
}

}  // namespace detail

// Fills `into` if `packet` is the one that a busy receiver sees most: a well-formed WRITE with a
// timestamp and no immediate, untrimmed, in plain IPv6. Otherwise returns false, with `into` left
// as it was, and it is for the general decoder to find out what the bytes are.
//
// Why it is here: naming the reason of each rejection costs as many instructions as the decoding.
// This asks only whether all checks pass (bench/wire_cost.cc measures it). Whatever it accepts, the
// general decoder accepts with the same result; a property test holds the two together. It checks
// no ICRC.
[[gnu::always_inline]] inline bool fill_plain_write(ConstBytes packet, const WireSettings& settings,
                                                    Packet& into) {
  using namespace detail;
  if (packet.size() <= kPayloadAt + kIcrcSize) return false;
  const PlainHeaders headers(packet.data());
  const auto& bth = headers.bth;
  const auto tseth = view_at<Tseth, kTsethAt>(packet.data());
  const auto reth = view_at<Reth, kRethAt>(packet.data());

  const std::uint8_t opcode = bth.get<BthLayout::OpcodeByte>();
  const std::size_t padded = packet.size() - kPayloadAt - kIcrcSize;
  if (!headers.fit(packet.size(), settings)) return false;
  if (!is_plain_write(opcode)) return false;
  if (bth.get<BthLayout::TimestampPresent>() == 0) return false;
  if (tseth.get<TsethLayout::Format>() != kTimestampFormat) return false;
  if (padded % 4 != 0) return false;
  const Dscp dscp = dscp_of(headers.ip.get<Ipv6Layout::TrafficByte>());
  const TrafficClass traffic_class = settings.dscp.traffic_class(dscp);
  if (traffic_class == TrafficClass::kUnknown) return false;
  const std::size_t payload_size = padded - bth.get<BthLayout::PadCount>();
  if (payload_size == 0 || payload_size > reth.get<RethLayout::DmaLength>()) return false;

  headers.fill(settings, into);
  into.traffic_class = traffic_class;
  auto& write = hold<RdmaWrite>(into.transport.body);
  write.destination_qp = Qpn(bth.get<BthLayout::DestinationQp>());
  write.psn = Psn(bth.get<BthLayout::PacketSeq>());
  write.ack_request = bth.get<BthLayout::AckRequest>() != 0;
  write.retransmission = bth.get<BthLayout::Retransmission>() != 0;
  write.part = MessagePart::of(static_cast<Opcode>(opcode), Immediate{});
  write.meth = Meth::read(view_at<Meth, kMethAt>(packet.data()));
  write.sent = Tseth::read(tseth).sent;
  write.reth = Reth::read(reth);
  write.payload = Payload::of_bytes(packet.subspan(kPayloadAt, payload_size));
  return true;
}

}  // namespace openmrc::wire
