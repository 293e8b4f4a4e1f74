// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/peth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

// Worked out by hand from the table.
constexpr std::string_view kGolden =
    "0000 00 00"  // type 0, next header 0; vendor info 0
    "9999 0000"   // probe id
    "0022 0011"   // spdcid, dpdcid
    "1111 8001";  // timestamp; TSR 1: the vendor's ticks; ftype 1

constexpr Peth kHeader{.vendor_info = 0,
                       .id = ProbeId(0x9999),
                       .spdcid = ConnectionId(0x0022),
                       .dpdcid = ConnectionId(0x0011),
                       .sent = {.ticks = 0x1111, .unit = TickUnit::kVendor}};

// WIRE-70
TEST(Peth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Peth>(kGolden));
  EXPECT_EQ(read_header<Peth>(kGolden), kHeader);
}

// WIRE-70
TEST(Peth, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

// WIRE-69
TEST(Peth, KeepsTheVendorInfoApart) {
  Peth with_vendor_info = kHeader;
  with_vendor_info.vendor_info = 0xa5;
  EXPECT_EQ(write_header(with_vendor_info), from_hex("000000a5 99990000 00220011 11118001"));
  EXPECT_EQ(read_header<Peth>("000000a5 99990000 00220011 11118001"), with_vendor_info);
}

// WIRE-2
TEST(Peth, IgnoresTypeNextHeaderAndReservedBitsOnReceive) {
  constexpr std::string_view kAllSet = "ffffff00 9999ffff 00220011 1111fff1";
  EXPECT_TRUE(check_header<Peth>(kAllSet));
  EXPECT_EQ(read_header<Peth>(kAllSet), kHeader);
}

// WIRE-53
TEST(Peth, RejectsAnotherTimestampFormat) {
  EXPECT_EQ(check_header<Peth>("00000000 99990000 00220011 11118000"),
            failure(Reject::kTimestampFormat));
  EXPECT_EQ(check_header<Peth>("00000000 99990000 00220011 11118003"),
            failure(Reject::kTimestampFormat));
}

}  // namespace
}  // namespace openmrc::wire
