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
    "0004 0000"                   // op 1 in bits 3:2 of byte 1: EV Probe
    "00000000 00000000 00000000"  // reserved
    "00000000 00000000 00000000"  // reserved
    "4321 0000"                   // timestamp of the request
    "00000000";                   // reserved

constexpr Eeth kHeader{.op = EndpointOp::kEvProbe, .tx_ticks = 0x4321};

// WIRE-74
TEST(Eeth, ReadsTheGoldenBytes) { EXPECT_EQ(read_header<Eeth>(kGolden), kHeader); }

// WIRE-74, WIRE-75
TEST(Eeth, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

TEST(Eeth, AnswersAPortStatusUpdateWithZeros) {
  constexpr Eeth kStatus{.op = EndpointOp::kPortStatusUpdate, .tx_ticks = 0xffff};
  test::Bytes zeros(kEethSize);
  zeros[28] = zeros[29] = std::byte{0xff};
  EXPECT_EQ(write_header(kStatus), zeros);
  EXPECT_EQ(Eeth::read(*EethView::over(zeros)), kStatus);
}

// WIRE-2
TEST(Eeth, IgnoresReservedBitsOnReceive) {
  test::Bytes all_set(kEethSize, std::byte{0xff});
  all_set[1] = std::byte{0xf7};  // op 1
  all_set[28] = std::byte{0x43};
  all_set[29] = std::byte{0x21};
  EXPECT_EQ(Eeth::read(*EethView::over(all_set)), kHeader);
}

// WIRE-75
TEST(Eeth, ReadsWhateverOperationAnotherReaderOfTheSpecificationPutThere) {
  const auto read_op = [](std::string_view first_word) {
    test::Bytes bytes = from_hex(first_word);
    bytes.resize(kEethSize);
    return Eeth::read(*EethView::over(bytes)).op;
  };
  EXPECT_EQ(read_op("0010 0000"), EndpointOp::kEvProbe) << "in bits 5:4";
  // The two undefined values.
  for (const std::string_view first_word : {"0008 0000", "000c 0000", "0020 0000"}) {
    EXPECT_EQ(read_op(first_word), EndpointOp::kPortStatusUpdate) << first_word;
  }
}

TEST(Eeth, IsAsLongAsTheHeadersOfASack) { EXPECT_EQ(kEethSize, kSethSize + kCcStateSize); }

}  // namespace
}  // namespace openmrc::wire
