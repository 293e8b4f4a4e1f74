// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/bth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGolden =
    "c9 30 8001"  // WRITE Last with Immediate; S 0, M 0, pad 3, version 0; P_Key 8001
    "00 abcdef"   // queue pair abcdef
    "b0 123456";  // A, RTX and TS set: 1011; PSN 123456

constexpr Bth kHeader{.opcode = Opcode::kWriteLastImmediate,
                      .pad_count = 3,
                      .pkey = PKey(0x8001),
                      .destination_qp = Qpn(0xabcdef),
                      .ack_request = true,
                      .retransmission = true,
                      .has_timestamp = true,
                      .psn = Psn(0x123456)};

// WIRE-32
TEST(Bth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Bth>(kGolden));
  EXPECT_EQ(read_header<Bth>(kGolden), kHeader);
}

// WIRE-32
TEST(Bth, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

// WIRE-46
TEST(Bth, TellsItsFlagsApart) {
  EXPECT_EQ(read_header<Bth>("ca00ffff 00000003 80 000000"),
            (Bth{.destination_qp = Qpn(3), .ack_request = true, .psn = Psn(0)}));
  EXPECT_EQ(read_header<Bth>("ca00ffff 00000003 20 000000"),
            (Bth{.destination_qp = Qpn(3), .retransmission = true, .psn = Psn(0)}));
  EXPECT_EQ(read_header<Bth>("ca00ffff 00000003 10 000000"),
            (Bth{.destination_qp = Qpn(3), .has_timestamp = true, .psn = Psn(0)}));
}

// WIRE-2, WIRE-34
TEST(Bth, IgnoresReservedBitsOnReceive) {
  // S and M, the variant byte, R and the four bits behind TS: all set.
  constexpr std::string_view kAllSet = "c9 f0 8001 ff abcdef ff 123456";
  EXPECT_TRUE(check_header<Bth>(kAllSet));
  EXPECT_EQ(read_header<Bth>(kAllSet), kHeader);
}

// WIRE-34
TEST(Bth, KeepsSolicitedEventInTheHighestBitAsInfiniBandDoes) {
  test::with_view<Bth>("ca80ffff 00000003 00000000", [](BthView view) {
    EXPECT_EQ(view.get<BthLayout::SolicitedEvent>(), 1);
    EXPECT_EQ(view.get<BthLayout::Migration>(), 0);
  });
}

// WIRE-33, UD-1
TEST(Bth, AcceptsExactlyTheOpcodesOfMrcAndOfDatagrams) {
  for (unsigned raw = 0; raw < 256; ++raw) {
    test::Bytes bytes = from_hex("00 00 ffff 00000003 00000000");
    bytes[0] = static_cast<std::byte>(raw);
    const auto opcode = static_cast<std::uint8_t>(raw);
    Result<void, Reject> expected;
    if (!is_defined_opcode(opcode)) {
      expected = failure(is_mrc_opcode(opcode) ? Reject::kOpcodeUnknown : Reject::kOpcodeNotMrc);
    }
    EXPECT_EQ(Bth::check(*BthView::over(bytes)), expected) << "opcode " << raw;
  }
}

// WIRE-36
TEST(Bth, RejectsAnotherVersion) {
  EXPECT_EQ(check_header<Bth>("ca 01 ffff 00000003 00000000"), failure(Reject::kBthVersion));
  EXPECT_EQ(check_header<Bth>("ca 08 ffff 00000003 00000000"), failure(Reject::kBthVersion));
}

}  // namespace
}  // namespace openmrc::wire
