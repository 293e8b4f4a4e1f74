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

TEST(IsListenAddress, TakesAnAddressAndAPort) {
  for (const char* text : {"127.0.0.1:9471", "0.0.0.0:1", "[::]:9471", "[fd00::1]:65535"}) {
    EXPECT_TRUE(is_listen_address(text)) << text;
  }
  for (const char* text :
       {"", "9471", ":9471", "::1:9471", "127.0.0.1", "127.0.0.1:0", "host:80", "127.0.0.1:65536",
        "127.0.0.1:80s", "[127.0.0.1]:80", "[::1]", "[::1]:", "127.0.0.1:80,[::]:81"}) {
    EXPECT_FALSE(is_listen_address(text)) << text;
  }
}

}  // namespace
}  // namespace openmrc::host
