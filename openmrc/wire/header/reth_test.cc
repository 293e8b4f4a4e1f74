// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/reth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden =
    "00007f00 12345678"  // address 00007f0012345678
    "deadbeef"           // R_Key
    "00100001";          // the message has 1 MiB and a byte

constexpr Reth kHeader{
    .virtual_address = 0x00007f0012345678, .rkey = RKey(0xdeadbeef), .dma_length = 0x00100001};

// WIRE-54
TEST(Reth, ReadsTheGoldenBytes) { EXPECT_EQ(test::read_header<Reth>(kGolden), kHeader); }

// WIRE-54
TEST(Reth, WritesTheGoldenBytes) {
  EXPECT_EQ(test::write_header(kHeader), test::from_hex(kGolden));
}

}  // namespace
}  // namespace openmrc::wire
