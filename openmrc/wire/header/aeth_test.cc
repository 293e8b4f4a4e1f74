// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/aeth.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGoldenAck = "1f fedcba";  // ACK, no credit; MSN fedcba
constexpr Aeth kAck{.syndrome = AckSyndrome::kAck, .msn = AckMsn(0xfedcba)};

constexpr std::string_view kGoldenNak = "61 000007";  // NAK, invalid request; MSN 7
constexpr Aeth kNak{.syndrome = AckSyndrome::kNakInvalidRequest, .msn = AckMsn(7)};

// WIRE-57
TEST(Aeth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Aeth>(kGoldenAck));
  EXPECT_EQ(read_header<Aeth>(kGoldenAck), kAck);
  EXPECT_TRUE(check_header<Aeth>(kGoldenNak));
  EXPECT_EQ(read_header<Aeth>(kGoldenNak), kNak);
}

// WIRE-57
TEST(Aeth, WritesTheGoldenBytes) {
  EXPECT_EQ(write_header(kAck), from_hex(kGoldenAck));
  EXPECT_EQ(write_header(kNak), from_hex(kGoldenNak));
}

// WIRE-58
TEST(Aeth, IgnoresTheCreditOfAnAck) {
  EXPECT_TRUE(check_header<Aeth>("00 fedcba"));
  EXPECT_EQ(read_header<Aeth>("00 fedcba"), kAck);
  EXPECT_EQ(read_header<Aeth>("15 fedcba"), kAck);
}

// WIRE-57
TEST(Aeth, RejectsWhatMrcDoesNotUse) {
  EXPECT_EQ(check_header<Aeth>("20 000000"), failure(Reject::kAckSyndromeUnknown)) << "RNR NAK";
  EXPECT_EQ(check_header<Aeth>("3f 000000"), failure(Reject::kAckSyndromeUnknown)) << "RNR NAK";
  EXPECT_EQ(check_header<Aeth>("40 000000"), failure(Reject::kAckSyndromeUnknown)) << "reserved";
  EXPECT_EQ(check_header<Aeth>("64 000000"), failure(Reject::kAckSyndromeUnknown))
      << "invalid RD request";
  EXPECT_EQ(check_header<Aeth>("9f 000000"), failure(Reject::kAckSyndromeUnknown))
      << "bit 7 is reserved";
}

TEST(Aeth, NamesEverySyndrome) {
  for (const auto syndrome :
       {AckSyndrome::kAck, AckSyndrome::kNakSequenceError, AckSyndrome::kNakInvalidRequest,
        AckSyndrome::kNakRemoteAccess, AckSyndrome::kNakRemoteOperation}) {
    EXPECT_FALSE(name(syndrome).empty());
    EXPECT_EQ(syndrome_of(static_cast<std::uint8_t>(syndrome)), syndrome);
  }
}

}  // namespace
}  // namespace openmrc::wire
