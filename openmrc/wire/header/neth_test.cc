// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/neth.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

// Worked out by hand from the table.
constexpr std::string_view kGolden =
    "0000 0b 77"   // type 0, next header 0; PSN_OOR_WINDOW; vendor info 77
    "cafef00d"     // EV
    "0011 0022"    // spdcid, dpdcid
    "00 123456"    // NACK PSN
    "23 00 4321";  // cc type 2, cc flags 3; timestamp

constexpr Neth kHeader{.reason = NackReason::kPsnOutOfWindow,
                       .vendor_info = 0x77,
                       .entropy = Ev(0xcafef00d),
                       .spdcid = ConnectionId(0x0011),
                       .dpdcid = ConnectionId(0x0022),
                       .psn = Psn(0x123456),
                       .cc_flags = 3,
                       .tx_ticks = 0x4321};

// WIRE-66, WIRE-69
TEST(Neth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Neth>(kGolden));
  EXPECT_EQ(read_header<Neth>(kGolden), kHeader);
}

// WIRE-66, WIRE-68
TEST(Neth, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

// WIRE-2, WIRE-68
TEST(Neth, IgnoresTypeNextHeaderCcTypeAndReservedBitsOnReceive) {
  // Readers of the specification differ on the cc type: 0 must be as good as 2.
  EXPECT_EQ(read_header<Neth>("00000b77 cafef00d 00110022 00123456 03 004321"), kHeader);
  constexpr std::string_view kAllSet = "ffff0b77 cafef00d 00110022 ff123456 f3ff4321";
  EXPECT_TRUE(check_header<Neth>(kAllSet));
  EXPECT_EQ(read_header<Neth>(kAllSet), kHeader);
}

// WIRE-66
TEST(Neth, AcceptsExactlyTheReasonsOfTheTable) {
  for (unsigned raw = 0; raw < 256; ++raw) {
    test::Bytes bytes = from_hex(kGolden);
    bytes[2] = static_cast<std::byte>(raw);
    const bool defined = raw == 0x01 || raw == 0x02 || raw == 0x06 || raw == 0x07 || raw == 0x0a ||
                         raw == 0x0b || raw == 0x19;
    const Result<void, Reject> expected =
        defined ? Result<void, Reject>() : failure(Reject::kNackReasonUnknown);
    EXPECT_EQ(Neth::check(*NethView::over(bytes)), expected) << "reason " << raw;
  }
}

TEST(Neth, NamesEveryReason) {
  EXPECT_EQ(kNackReasons.size(), 7u);
  EXPECT_TRUE(std::ranges::none_of(kNackReasons, [](auto reason) { return name(reason).empty(); }));
  EXPECT_EQ(name(NackReason::kTrimmedLastHop), "TRIMMED_LASTHOP");
}

}  // namespace
}  // namespace openmrc::wire
