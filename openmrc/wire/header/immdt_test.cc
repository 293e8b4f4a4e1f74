// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/immdt.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden = "01020304";  // in network order
constexpr Immdt kHeader{Immediate(0x01020304)};

TEST(Immdt, ReadsTheGoldenBytes) { EXPECT_EQ(test::read_header<Immdt>(kGolden), kHeader); }

// WIRE-56
TEST(Immdt, WritesTheGoldenBytes) {
  EXPECT_EQ(test::write_header(kHeader), test::from_hex(kGolden));
}

}  // namespace
}  // namespace openmrc::wire
