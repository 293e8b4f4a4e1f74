// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/ip_address.h"

#include <gtest/gtest.h>

#include "openmrc/wire/field/ip_version.h"

namespace openmrc::wire {
namespace {

std::string text(const std::array<std::uint16_t, 8>& groups) {
  return to_string(Ipv6Address::of(groups));
}

TEST(IpAddress, GroupsAreInNetworkOrder) {
  const auto address = Ipv6Address::of({0xfd00, 0x1122, 0, 0, 0, 0, 0, 0x0a0b});
  EXPECT_EQ(address.bytes[0], std::byte{0xfd});
  EXPECT_EQ(address.bytes[2], std::byte{0x11});
  EXPECT_EQ(address.bytes[3], std::byte{0x22});
  EXPECT_EQ(address.bytes[15], std::byte{0x0b});
  EXPECT_EQ(address.group(0), 0xfd00);
  EXPECT_EQ(address.group(7), 0x0a0b);
}

TEST(IpAddress, AddressesAreOrderedAsTheyAreWritten) {
  EXPECT_LT(Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2}),
            Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 1, 1}));
}

TEST(IpAddress, Ipv4IsPrintedInFourParts) {
  EXPECT_EQ(to_string(Ipv4Address(0x0a000001)), "10.0.0.1");
  EXPECT_EQ(to_string(Ipv4Address(0xfffefdfc)), "255.254.253.252");
}

TEST(IpAddress, Ipv6IsPrintedInLowerCaseWithoutLeadingZeros) {
  EXPECT_EQ(text({0x2001, 0x0db8, 0xABCD, 1, 2, 3, 4, 0x000f}), "2001:db8:abcd:1:2:3:4:f");
}

TEST(IpAddress, TheLongestRunOfZerosIsShortened) {
  EXPECT_EQ(text({0, 0, 0, 0, 0, 0, 0, 0}), "::");
  EXPECT_EQ(text({0, 0, 0, 0, 0, 0, 0, 1}), "::1");
  EXPECT_EQ(text({0xfe80, 0, 0, 0, 0, 0, 0, 0}), "fe80::");
  EXPECT_EQ(text({0xfd00, 0, 0, 5, 0, 0, 0, 1}), "fd00:0:0:5::1");
}

TEST(IpAddress, OfEqualRunsTheFirstIsShortened) {
  EXPECT_EQ(text({0x2001, 0xdb8, 0, 0, 1, 0, 0, 1}), "2001:db8::1:0:0:1");
}

TEST(IpAddress, AMappedAddressIsPrintedAsTheIpv4AddressThatItStandsFor) {
  EXPECT_EQ(to_string(mapped(Ipv4Address(0x0a010203))), "10.1.2.3");
  EXPECT_EQ(version_of(mapped(Ipv4Address(0))), IpVersion::kV4);
  EXPECT_EQ(version_of(Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1})), IpVersion::kV6);
}

TEST(IpAddress, OneZeroGroupIsNotShortened) {
  EXPECT_EQ(text({0x2001, 0xdb8, 0, 1, 1, 1, 1, 1}), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(text({0, 1, 2, 3, 4, 5, 6, 0}), "0:1:2:3:4:5:6:0");
}

}  // namespace
}  // namespace openmrc::wire
