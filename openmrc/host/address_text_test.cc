// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/address_text.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

TEST(ParseAddress, TakesBothVersions) {
  EXPECT_EQ(parse_address("fd00::1"), wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}));
  const auto ipv4 = wire::mapped(wire::Ipv4Address(0x0a00'0102));
  EXPECT_EQ(parse_address("10.0.1.2"), ipv4);
  EXPECT_EQ(parse_address("::ffff:10.0.1.2"), ipv4);
  EXPECT_EQ(parse_address(to_string(ipv4)), ipv4);
}

TEST(ParseAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "10.0.1", "10.0.1.256", "10.0.1.2/24", "fd00::1%eth0", "host"}) {
    EXPECT_EQ(parse_address(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace openmrc::host
