// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/tseth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGolden = "beef 0001";  // timestamp beef; TSR 0: 128 ns; ftype 1
constexpr Tseth kHeader{{.ticks = 0xbeef, .unit = TickUnit::k128Ns}};

constexpr std::string_view kGoldenVendor = "beef 8001";  // the same with TSR 1
constexpr Tseth kHeaderVendor{{.ticks = 0xbeef, .unit = TickUnit::kVendor}};

// WIRE-52
TEST(Tseth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Tseth>(kGolden));
  EXPECT_EQ(read_header<Tseth>(kGolden), kHeader);
  EXPECT_EQ(read_header<Tseth>(kGoldenVendor), kHeaderVendor);
}

// WIRE-52
TEST(Tseth, WritesTheGoldenBytes) {
  EXPECT_EQ(write_header(kHeader), from_hex(kGolden));
  EXPECT_EQ(write_header(kHeaderVendor), from_hex(kGoldenVendor));
}

// WIRE-2
TEST(Tseth, IgnoresReservedBitsOnReceive) {
  EXPECT_TRUE(check_header<Tseth>("beef 7ff1"));
  EXPECT_EQ(read_header<Tseth>("beef 7ff1"), kHeader);
}

// WIRE-53
TEST(Tseth, RejectsEveryFormatButOne) {
  EXPECT_EQ(check_header<Tseth>("beef 0000"), failure(Reject::kTimestampFormat));
  EXPECT_EQ(check_header<Tseth>("beef 0002"), failure(Reject::kTimestampFormat));
  EXPECT_EQ(check_header<Tseth>("beef 8009"), failure(Reject::kTimestampFormat));
}

}  // namespace
}  // namespace openmrc::wire
