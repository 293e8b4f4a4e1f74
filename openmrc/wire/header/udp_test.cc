// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/udp.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden =
    "abcd 12b7"   // source port abcd, destination port 4791
    "0040 0000";  // 64 bytes with this header, no checksum

constexpr Udp kHeader{.source_port = 0xabcd, .destination_port = UdpPort(4791), .length = 64};

TEST(Udp, ReadsTheGoldenBytes) { EXPECT_EQ(test::read_header<Udp>(kGolden), kHeader); }

// WIRE-13
TEST(Udp, WritesTheGoldenBytes) { EXPECT_EQ(test::write_header(kHeader), test::from_hex(kGolden)); }

// WIRE-13
TEST(Udp, IgnoresTheChecksumOnReceive) {
  EXPECT_EQ(test::read_header<Udp>("abcd 12b7 0040 5a5a"), kHeader);
}

// WIRE-11
TEST(Udp, GoesToThePortOfRoceByDefault) {
  EXPECT_EQ(Udp{}.destination_port, UdpPort(4791));
  EXPECT_EQ(kUdpPortAlternate, UdpPort(4971));
}

}  // namespace
}  // namespace openmrc::wire
