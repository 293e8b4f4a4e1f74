// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/srh.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGolden =
    "29 02 04 01"  // IPv6 follows, 2 more words, type 4, 1 segment left
    "00 00 0000"   // last entry 0, no flags, tag 0
    "fcbb bb00 0007 0008 0000 0000 0000 0000";  // the segment: fcbb:bb00:7:8::

constexpr Srh kHeader{.segment = Ipv6Address::of({0xfcbb, 0xbb00, 7, 8, 0, 0, 0, 0}),
                      .segments_left = 1};

std::string with_first_words(std::string_view words) {
  return std::string(words) + "fcbbbb00000700080000000000000000";
}

TEST(Srh, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Srh>(kGolden));
  EXPECT_EQ(read_header<Srh>(kGolden), kHeader);
}

TEST(Srh, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

TEST(Srh, HasNoSegmentsLeftOnceTheSegmentIsTheDestination) {
  const std::string used = with_first_words("29 02 04 00 00000000");
  EXPECT_TRUE(check_header<Srh>(used));
  EXPECT_EQ(read_header<Srh>(used).segments_left, 0);
}

// WIRE-25
TEST(Srh, IgnoresFlagsAndTagOnReceive) {
  const std::string marked = with_first_words("29020401 00 ff abcd");
  EXPECT_TRUE(check_header<Srh>(marked));
  EXPECT_EQ(read_header<Srh>(marked), kHeader);
}

// WIRE-25
TEST(Srh, RejectsAnotherTypeOfRoutingHeader) {
  EXPECT_EQ(check_header<Srh>(with_first_words("29 02 03 01 00000000")),
            failure(Reject::kSrhNotSegmentRouting));
}

// WIRE-25
TEST(Srh, RejectsOtherThanOneSegment) {
  // Two segments by length, a TLV behind the segment, and two segments by last entry.
  EXPECT_EQ(check_header<Srh>(with_first_words("29 04 04 01 01000000")),
            failure(Reject::kSrhNotOneSegment));
  EXPECT_EQ(check_header<Srh>(with_first_words("29 03 04 01 00000000")),
            failure(Reject::kSrhNotOneSegment));
  EXPECT_EQ(check_header<Srh>(with_first_words("29 02 04 01 01000000")),
            failure(Reject::kSrhNotOneSegment));
}

// WIRE-25
TEST(Srh, RejectsMoreSegmentsLeftThanThereAre) {
  EXPECT_EQ(check_header<Srh>(with_first_words("29 02 04 02 00000000")),
            failure(Reject::kSrhSegmentsLeft));
}

// WIRE-25
TEST(Srh, RejectsAnythingButIpv6Inside) {
  EXPECT_EQ(check_header<Srh>(with_first_words("11 02 04 01 00000000")),
            failure(Reject::kSrv6InnerNotIpv6));
}

}  // namespace
}  // namespace openmrc::wire
