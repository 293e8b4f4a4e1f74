// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/deth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden =
    "11223344"    // Q_Key
    "00 abcdef";  // reserved; from queue pair abcdef

constexpr Deth kHeader{.qkey = QKey(0x11223344), .source_qp = Qpn(0xabcdef)};

// UD-1
TEST(Deth, ReadsTheGoldenBytes) { EXPECT_EQ(test::read_header<Deth>(kGolden), kHeader); }

// UD-1
TEST(Deth, WritesTheGoldenBytes) {
  EXPECT_EQ(test::write_header(kHeader), test::from_hex(kGolden));
}

// WIRE-2
TEST(Deth, IgnoresReservedBitsOnReceive) {
  EXPECT_EQ(test::read_header<Deth>("11223344 ff abcdef"), kHeader);
}

}  // namespace
}  // namespace openmrc::wire
