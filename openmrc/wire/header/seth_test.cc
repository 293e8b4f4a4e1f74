// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/seth.h"

#include <gtest/gtest.h>

#include "openmrc/wire/header/cc_state.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

// The first 28 bytes of a SACK worked out by hand; cc_state_test.cc has the rest.
constexpr std::string_view kGoldenProbe =
    "0022 fffe"          // M 1: SKIP_ONCE, PR 1; probe id fffe
    "deadbeef"           // EV
    "0011 0022"          // spdcid, dpdcid
    "00 000010"          // cack PSN 10
    "0a 02 0005"         // cc type 0, cc flags a, MPR 2, SACK offset 5
    "8000000000000001";  // the bitmap's first and last PSN

constexpr Seth kProbe{.mark = PathMark::kSkipOnce,
                      .trigger = SackTrigger::probe(ProbeId(0xfffe)),
                      .entropy = Ev(0xdeadbeef),
                      .spdcid = ConnectionId(0x0011),
                      .dpdcid = ConnectionId(0x0022),
                      .cack_psn = Psn(0x10),
                      .cc_flags = 0xa,
                      .mpr = 2,
                      .sack_offset = 5,
                      .sack_bitmap = 0x8000000000000001};

constexpr std::string_view kGoldenPacket =
    "0040 fffe"           // M 2: ALWAYS_SKIP, PR 0; the packet 2 before cack PSN
    "00010002"            // EV
    "abcd ef01"           // spdcid, dpdcid
    "00 fffffe"           // cack PSN fffffe
    "00 ff ff80"          // no cc, MPR 255, SACK offset -128
    "00000000 0000ff00";  // PSNs 8 to 15 of the bitmap

constexpr Seth kPacket{.mark = PathMark::kAlwaysSkip,
                       .trigger = SackTrigger::packet(-2),
                       .entropy = Ev(0x00010002),
                       .spdcid = ConnectionId(0xabcd),
                       .dpdcid = ConnectionId(0xef01),
                       .cack_psn = Psn(0xfffffe),
                       .cc_flags = 0,
                       .mpr = 255,
                       .sack_offset = -128,
                       .sack_bitmap = 0xff00};

// WIRE-59
TEST(Seth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Seth>(kGoldenProbe));
  EXPECT_EQ(read_header<Seth>(kGoldenProbe), kProbe);
  EXPECT_TRUE(check_header<Seth>(kGoldenPacket));
  EXPECT_EQ(read_header<Seth>(kGoldenPacket), kPacket);
}

// WIRE-59, WIRE-60, WIRE-63
TEST(Seth, WritesTheGoldenBytes) {
  EXPECT_EQ(write_header(kProbe), from_hex(kGoldenProbe));
  EXPECT_EQ(write_header(kPacket), from_hex(kGoldenPacket));
}

// WIRE-59, WIRE-64
TEST(Seth, TogetherWithCcStateIsTheSackVector) {
  // The whole 36 byte vector, as one line.
  const test::Bytes vector = from_hex(
      "0022 fffe deadbeef 0011 0022 00000010 0a020005 8000000000000001 beef 1234 95abcdef");
  constexpr CcState kCcState{.tx_ticks = 0xbeef,
                             .ooo_count = 0x1234,
                             .restore_cwnd = true,
                             .receiver_penalty = 0x15,
                             .received_units = 0xabcdef};
  ASSERT_EQ(vector.size(), kSethSize + kCcStateSize);
  EXPECT_EQ(Seth::read(*SethView::over(vector)), kProbe);
  EXPECT_EQ(CcState::read(*CcStateView::over(ConstBytes(vector).subspan(kSethSize))), kCcState);
  test::Bytes written = write_header(kProbe);
  const test::Bytes cc_state = write_header(kCcState);
  written.insert(written.end(), cc_state.begin(), cc_state.end());
  EXPECT_EQ(written, vector);
}

// WIRE-2
TEST(Seth, IgnoresTypeNextHeaderCcTypeAndReservedBitsOnReceive) {
  // type f, next header 1f, reserved 7 and 1, the reserved byte ff, cc type f: all set.
  constexpr std::string_view kAllSet =
      "ffbf fffe deadbeef 0011 0022 ff000010 fa020005 8000000000000001";
  EXPECT_TRUE(check_header<Seth>(kAllSet));
  EXPECT_EQ(read_header<Seth>(kAllSet), kProbe);
}

// WIRE-61
TEST(Seth, TriggerIsEitherAPacketOrAProbe) {
  const SackTrigger packet = SackTrigger::packet(-32768);
  EXPECT_EQ(packet.packet_offset(), -32768);
  EXPECT_EQ(packet.probe_id(), std::nullopt);
  EXPECT_FALSE(packet.is_probe());
  const SackTrigger probe = SackTrigger::probe(ProbeId(0x8000));
  EXPECT_EQ(probe.packet_offset(), std::nullopt);
  EXPECT_EQ(probe.probe_id(), ProbeId(0x8000));
  EXPECT_TRUE(probe.is_probe());
  EXPECT_NE(packet, probe) << "though the same 16 bits stand for both";
}

// WIRE-63
TEST(Seth, BitmapStartsAtTheOffsetFromCackPsn) {
  EXPECT_EQ(kProbe.bitmap_base(), Psn(0x15));
  EXPECT_EQ(kPacket.bitmap_base(), Psn(0xffff7e));
  Seth over_the_wrap = kPacket;
  over_the_wrap.sack_offset = 3;
  EXPECT_EQ(over_the_wrap.bitmap_base(), Psn(1));
}

// WIRE-62
TEST(Seth, NamesQueuePairsByTheLowBitsOfTheirNumbers) {
  EXPECT_EQ(connection_id(Qpn(0xabcdef)), ConnectionId(0xcdef));
}

TEST(Seth, NamesEveryMark) {
  EXPECT_EQ(name(PathMark::kNone), "NONE");
  EXPECT_EQ(name(PathMark::kSkipOnce), "SKIP_ONCE");
  EXPECT_EQ(name(PathMark::kAlwaysSkip), "ALWAYS_SKIP");
}

// WIRE-60
TEST(Seth, RejectsTheReservedMark) {
  EXPECT_EQ(check_header<Seth>("0062 fffe deadbeef 00110022 00000010 0a020005 8000000000000001"),
            failure(Reject::kPathMarkReserved));
}

}  // namespace
}  // namespace openmrc::wire
