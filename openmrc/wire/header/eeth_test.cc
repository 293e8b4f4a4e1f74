// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/eeth.h"

#include <gtest/gtest.h>

#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/seth.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGolden =
    "0010 0000"                   // op 1 in bits 5:4 of byte 1: EV Probe
    "00000000 00000000 00000000"  // reserved
    "00000000 00000000 00000000"  // reserved
    "4321 0000"                   // timestamp of the request
    "00000000";                   // reserved

constexpr Eeth kHeader{.op = EndpointOp::kEvProbe, .tx_ticks = 0x4321};

TEST(Eeth, ReadsTheGoldenBytes) { EXPECT_EQ(read_header<Eeth>(kGolden), kHeader); }

TEST(Eeth, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

TEST(Eeth, AnswersAPortStatusUpdateWithZeros) {
  constexpr Eeth kStatus{.op = EndpointOp::kPortStatusUpdate, .tx_ticks = 0xffff};
  test::Bytes zeros(kEethSize);
  zeros[28] = zeros[29] = std::byte{0xff};
  EXPECT_EQ(write_header(kStatus), zeros);
  EXPECT_EQ(Eeth::read(*EethView::over(zeros)), kStatus);
}

TEST(Eeth, IgnoresReservedBitsOnReceive) {
  test::Bytes all_set(kEethSize, std::byte{0xff});
  all_set[1] = std::byte{0xdf};  // op 1
  all_set[28] = std::byte{0x43};
  all_set[29] = std::byte{0x21};
  EXPECT_EQ(Eeth::read(*EethView::over(all_set)), kHeader);
}

TEST(Eeth, ReadsWhateverOperationAnotherReaderOfTheSpecificationPutThere) {
  // EV Probe in bits 3:2, where others place it, and the two undefined values.
  for (const std::string_view first_word : {"0004 0000", "0020 0000", "0030 0000"}) {
    test::Bytes bytes = from_hex(first_word);
    bytes.resize(kEethSize);
    EXPECT_EQ(Eeth::read(*EethView::over(bytes)).op, EndpointOp::kPortStatusUpdate) << first_word;
  }
}

TEST(Eeth, IsAsLongAsTheHeadersOfASack) { EXPECT_EQ(kEethSize, kSethSize + kCcStateSize); }

}  // namespace
}  // namespace openmrc::wire
