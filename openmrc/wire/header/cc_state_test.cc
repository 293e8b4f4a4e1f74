// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/cc_state.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::from_hex;
using test::read_header;
using test::write_header;

// The last 8 bytes of a SACK worked out by hand; seth_test.cc has the rest.
constexpr std::string_view kGolden =
    "beef 1234"   // timestamp; 1234 packets out of order
    "95 abcdef";  // restore cwnd 1, penalty 15; abcdef times 256 bytes

constexpr CcState kHeader{.tx_ticks = 0xbeef,
                          .ooo_count = 0x1234,
                          .restore_cwnd = true,
                          .receiver_penalty = 0x15,
                          .received_units = 0xabcdef};

// WIRE-64
TEST(CcState, ReadsTheGoldenBytes) { EXPECT_EQ(read_header<CcState>(kGolden), kHeader); }

// WIRE-64
TEST(CcState, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

// WIRE-2
TEST(CcState, IgnoresTheReservedBitOnReceive) {
  EXPECT_EQ(read_header<CcState>("beef 9234 95abcdef"), kHeader);
}

TEST(CcState, FieldsEndWhereTheNextBegins) {
  constexpr CcState kCounts{.ooo_count = 0x7fff, .receiver_penalty = 0x7f};
  EXPECT_EQ(write_header(kCounts), from_hex("0000 7fff 7f 000000"));
  EXPECT_EQ(read_header<CcState>("0000 7fff 7f 000000"), kCounts);
}

// CC-11, WIRE-65
TEST(CcState, CountsReceivedBytesInUnitsRoundedUp) {
  EXPECT_EQ(received_units(ByteCount(0)), 0u);
  EXPECT_EQ(received_units(ByteCount(1)), 1u);
  EXPECT_EQ(received_units(ByteCount(256)), 1u);
  EXPECT_EQ(received_units(ByteCount(257)), 2u);
}

// WIRE-65
TEST(CcState, ReceivedUnitsWrapAtTwentyFourBits) {
  EXPECT_EQ(received_units(ByteCount(std::int64_t{0xffffff} * 256)), 0xffffffu);
  EXPECT_EQ(received_units(ByteCount(std::int64_t{0x1000000} * 256)), 0u);
  EXPECT_EQ(received_units(ByteCount(std::int64_t{0xabcd000001} * 256)), 1u);
}

}  // namespace
}  // namespace openmrc::wire
