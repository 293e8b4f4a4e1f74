// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/meth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden = "0102 f0e0";  // RQMSN 0102, MSN f0e0
constexpr Meth kHeader{.rqmsn = Rqmsn(0x0102), .msn = Msn(0xf0e0)};

// WIRE-51
TEST(Meth, ReadsTheGoldenBytes) { EXPECT_EQ(test::read_header<Meth>(kGolden), kHeader); }

// WIRE-51
TEST(Meth, WritesTheGoldenBytes) {
  EXPECT_EQ(test::write_header(kHeader), test::from_hex(kGolden));
}

}  // namespace
}  // namespace openmrc::wire
