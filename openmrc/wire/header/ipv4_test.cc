// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/ipv4.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

// The checksum by hand: 4529 + 0080 + 0000 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0102 = dabd, and
// its complement is 2542.
constexpr std::string_view kGolden =
    "45 29 0080"  // version 4, 5 words; DSCP 10, ECT(1); total length 128
    "0000 4000"   // identification 0; don't fragment
    "40 11 2542"  // TTL 64, UDP, checksum
    "0a00 0001"   // 10.0.0.1
    "0a00 0102";  // 10.0.1.2

constexpr Ipv4 kHeader{.dscp = Dscp(10),
                       .ecn = Ecn::kCapable1,
                       .total_length = 128,
                       .time_to_live = 64,
                       .source = Ipv4Address(0x0a000001),
                       .destination = Ipv4Address(0x0a000102)};

// A header whose checksum is right, so that a test sees what else is wrong with it.
Result<void, Reject> check_with_right_sum(std::string_view hex) {
  test::Bytes bytes = from_hex(hex);
  set_ipv4_checksum(std::span<std::byte, kIpv4Size>(bytes));
  return Ipv4::check(*Ipv4View::over(bytes));
}

TEST(Ipv4, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Ipv4>(kGolden));
  EXPECT_EQ(read_header<Ipv4>(kGolden), kHeader);
}

// WIRE-9
TEST(Ipv4, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

TEST(Ipv4, SumsTheWorkedExampleOfTheTextbooks) {
  // RFC 1071 arithmetic on a header that many texts work through: its checksum is b861.
  test::Bytes header = from_hex("4500 0073 0000 4000 4011 0000 c0a8 0001 c0a8 00c7");
  set_ipv4_checksum(std::span<std::byte, kIpv4Size>(header));
  EXPECT_EQ(header, from_hex("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7"));
  EXPECT_EQ(ipv4_sum(std::span<const std::byte, kIpv4Size>(header)), 0xffff);
}

TEST(Ipv4, FoldsTheCarryOfTheCarry) {
  // The words sum to 0x2ffff: one fold gives 0x10001, and only the second gives 0x0002.
  const test::Bytes header = from_hex("ffff ffff ffff 0002 0000 0000 0000 0000 0000 0000");
  EXPECT_EQ(ipv4_sum(std::span<const std::byte, kIpv4Size>(header)), 0x0002);
}

TEST(Ipv4, IgnoresIdentificationAndTheFlagsThatDoNotFragment) {
  // Identification 1234, the reserved flag set, don't fragment clear.
  EXPECT_TRUE(check_with_right_sum("45290080 1234 8000 40110000 0a000001 0a000102"));
  EXPECT_EQ(read_header<Ipv4>("45290080 1234 8000 40110000 0a000001 0a000102"), kHeader);
}

TEST(Ipv4, RejectsAnotherVersion) {
  EXPECT_EQ(check_with_right_sum("65290080 00004000 40110000 0a000001 0a000102"),
            failure(Reject::kIpVersionUnknown));
}

// WIRE-8
TEST(Ipv4, RejectsOptionsAndAHeaderThatIsTooShort) {
  EXPECT_EQ(check_with_right_sum("46290080 00004000 40110000 0a000001 0a000102"),
            failure(Reject::kIpv4Options));
  EXPECT_EQ(check_with_right_sum("44290080 00004000 40110000 0a000001 0a000102"),
            failure(Reject::kIpv4Options));
}

// WIRE-8
TEST(Ipv4, RejectsTheFirstAndTheLastFragment) {
  EXPECT_EQ(check_with_right_sum("45290080 0000 2000 40110000 0a000001 0a000102"),
            failure(Reject::kIpv4Fragment));
  EXPECT_EQ(check_with_right_sum("45290080 0000 0001 40110000 0a000001 0a000102"),
            failure(Reject::kIpv4Fragment));
}

TEST(Ipv4, RejectsEveryFlippedBitByItsChecksumOrSooner) {
  for (std::size_t bit = 0; bit < kIpv4Size * 8; ++bit) {
    test::Bytes bytes = from_hex(kGolden);
    bytes[bit / 8] ^= static_cast<std::byte>(0x80u >> bit % 8);
    EXPECT_FALSE(Ipv4::check(*Ipv4View::over(bytes))) << "bit " << bit;
  }
}

// WIRE-8
TEST(Ipv4, RejectsAWrongChecksum) {
  EXPECT_EQ(check_header<Ipv4>("45290080 00004000 4011 2543 0a000001 0a000102"),
            failure(Reject::kIpv4Checksum));
}

// WIRE-8
TEST(Ipv4, RejectsAnotherProtocolThanUdp) {
  EXPECT_EQ(check_with_right_sum("45290080 00004000 40 06 0000 0a000001 0a000102"),
            failure(Reject::kIpv4NotUdp));
}

}  // namespace
}  // namespace openmrc::wire
