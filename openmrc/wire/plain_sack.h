// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "openmrc/base/bytes.h"
#include "openmrc/base/hold.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/plain_headers.h"
#include "openmrc/wire/settings.h"

namespace openmrc::wire {

// The same as fill_plain_write for what a busy sender receives most: a well-formed SACK in plain
// IPv6, of the control class. Same contract; the same property test holds it to the general
// decoder.
[[gnu::always_inline]] inline bool fill_plain_sack(ConstBytes packet, const WireSettings& settings,
                                                   Packet& into) {
  using namespace detail;
  constexpr std::size_t kSethAt = kBthAt + kBthSize;
  constexpr std::size_t kCcStateAt = kSethAt + kSethSize;
  constexpr std::size_t kSackPacketSize = kCcStateAt + kCcStateSize + kIcrcSize;
  if (packet.size() != kSackPacketSize) return false;
  const PlainHeaders headers(packet.data());
  const auto& bth = headers.bth;
  const auto seth = view_at<Seth, kSethAt>(packet.data());

  if (bth.get<BthLayout::OpcodeByte>() != static_cast<unsigned>(Opcode::kSack)) return false;
  if (!headers.fit(packet.size(), settings)) return false;
  if (bth.get<BthLayout::PadCount>() != 0) return false;
  const Dscp dscp = dscp_of(headers.ip.get<Ipv6Layout::TrafficByte>());
  if (dscp != settings.dscp.control) return false;
  if (!Seth::check(seth)) return false;

  headers.fill(settings, into);
  into.traffic_class = TrafficClass::kControl;
  auto& sack = hold<Sack>(into.transport.body);
  sack.destination_qp = Qpn(bth.get<BthLayout::DestinationQp>());
  sack.retransmission = bth.get<BthLayout::Retransmission>() != 0;
  sack.seth = Seth::read(seth);
  sack.cc_state = CcState::read(view_at<CcState, kCcStateAt>(packet.data()));
  return true;
}

}  // namespace openmrc::wire
