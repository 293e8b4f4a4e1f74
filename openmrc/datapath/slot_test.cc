// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/slot.h"

#include <gtest/gtest.h>

namespace openmrc::datapath {
namespace {

TEST(Slot, HasItsOwnQueuePairs) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot slot(static_cast<std::uint8_t>(i));
    const std::uint32_t first = first_qpn(slot).raw();
    EXPECT_GE(first_qpn(slot), kFirstUsableQpn);
    EXPECT_EQ(slot_of(Qpn(first)), slot);
    EXPECT_EQ(slot_of(Qpn(first + kQpnsPerSlot - 1)), slot);
  }
}

TEST(Slot, HasItsOwnRequests) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot slot(static_cast<std::uint8_t>(i));
    const std::uint16_t id = first_request_id(slot).raw();
    EXPECT_EQ(slot_of(wire::EndpointRequestId(id)), slot);
    EXPECT_EQ(
        slot_of(wire::EndpointRequestId(static_cast<std::uint16_t>(id + kRequestIdsPerSlot - 1))),
        slot);
  }
}

// SEC-1
TEST(Slot, IsTheUpperSixBits) {
  EXPECT_EQ(slot_of(Qpn(0xfc0000)), Slot(63));
  EXPECT_EQ(slot_of(Qpn(0x040000)), Slot(1));
  EXPECT_EQ(slot_of(wire::EndpointRequestId(0x0400)), Slot(1));
}

}  // namespace
}  // namespace openmrc::datapath
