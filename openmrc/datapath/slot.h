// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/strong.h"
#include "openmrc/wire/packet.h"

namespace openmrc::datapath {

// A shard's place among all shards, of all processes, that share the UDP port of a host. Its number
// stands in what peers send back, so that the kernel can tell whose a packet is: in the upper bits
// of queue pair numbers, and of the ids of endpoint requests.
inline constexpr std::size_t kSlotBits = 6;
using Slot = Strong<struct SlotTag, std::uint8_t, kSlotBits>;
inline constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

inline constexpr std::uint32_t kQpnSlotShift = 24 - kSlotBits;
inline constexpr std::uint32_t kRequestIdSlotShift = 16 - kSlotBits;

// The first of a slot's queue pair numbers, and how many it has; the first three are reserved.
constexpr Qpn first_qpn(Slot slot) {
  return slot == Slot(0) ? kFirstUsableQpn : Qpn(std::uint32_t{slot.raw()} << kQpnSlotShift);
}
inline constexpr std::size_t kQpnsPerSlot =
    (std::size_t{1} << kQpnSlotShift) - kFirstUsableQpn.raw();

constexpr wire::EndpointRequestId first_request_id(Slot slot) {
  return wire::EndpointRequestId(static_cast<std::uint16_t>(slot.raw() << kRequestIdSlotShift));
}
inline constexpr std::size_t kRequestIdsPerSlot = std::size_t{1} << kRequestIdSlotShift;

constexpr Slot slot_of(Qpn qpn) {
  return Slot(static_cast<std::uint8_t>(qpn.raw() >> kQpnSlotShift));
}
constexpr Slot slot_of(wire::EndpointRequestId id) {
  return Slot(static_cast<std::uint8_t>(id.raw() >> kRequestIdSlotShift));
}

}  // namespace openmrc::datapath
