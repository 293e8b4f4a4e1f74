// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/ids.h"

#include <gtest/gtest.h>

#include <concepts>

namespace openmrc {
namespace {

TEST(Ids, DifferentThingsAreDifferentTypes) {
  static_assert(!std::convertible_to<std::uint32_t, Qpn>);
  static_assert(!std::convertible_to<Qpn, Psn>);
  static_assert(!std::equality_comparable_with<Msn, Rqmsn>);
  static_assert(!std::totally_ordered<Psn>, "a wire serial number has no order");
  static_assert(std::totally_ordered<UnwrappedPsn>);
}

// PATH-1, WIRE-73
TEST(Ids, PortsCountFromOneAndPlanesFromZero) {
  EXPECT_EQ(port_of(Plane(0)), PortNumber(1));
  EXPECT_EQ(port_of(Plane(7)), PortNumber(8));
}

// WIRE-45
TEST(Ids, TheEndpointQueuePairIsReserved) { EXPECT_LT(kEndpointQpn, kFirstUsableQpn); }

#ifdef OPENMRC_DEBUG_CHECKS
TEST(IdsDeathTest, TooWideANumberIsOurBug) { EXPECT_DEATH(Qpn(0x1000000), "wider than its type"); }
#endif

}  // namespace
}  // namespace openmrc
