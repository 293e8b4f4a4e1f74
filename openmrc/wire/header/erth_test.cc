// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/erth.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGoldenProbe =
    "0001 00 5c"  // type 0, next header 0, op 1: EV Probe; vendor info 5c
    "00000000"    // no port status
    "00000000"    // reserved
    "4321 0001";  // timestamp; TSR 0: 128 ns; ftype 1

constexpr Erth kProbe{.op = EndpointOp::kEvProbe,
                      .vendor_info = 0x5c,
                      .port_status_mask = 0,
                      .sent = {.ticks = 0x4321, .unit = TickUnit::k128Ns}};

constexpr std::string_view kGoldenStatus =
    "0000 00 00"  // op 0: Port Status Update
    "800000f6"    // ports 31, 7, 6, 5, 4, 2 and 1 can be reached
    "00000000"    // reserved
    "4321 8001";  // timestamp; TSR 1: the vendor's ticks; ftype 1

constexpr Erth kStatus{.op = EndpointOp::kPortStatusUpdate,
                       .vendor_info = 0,
                       .port_status_mask = 0x800000f6,
                       .sent = {.ticks = 0x4321, .unit = TickUnit::kVendor}};

// WIRE-69, WIRE-71
TEST(Erth, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Erth>(kGoldenProbe));
  EXPECT_EQ(read_header<Erth>(kGoldenProbe), kProbe);
  EXPECT_TRUE(check_header<Erth>(kGoldenStatus));
  EXPECT_EQ(read_header<Erth>(kGoldenStatus), kStatus);
}

// WIRE-71
TEST(Erth, WritesTheGoldenBytes) {
  EXPECT_EQ(write_header(kProbe), from_hex(kGoldenProbe));
  EXPECT_EQ(write_header(kStatus), from_hex(kGoldenStatus));
}

// WIRE-2
TEST(Erth, IgnoresTypeNextHeaderAndReservedBitsOnReceive) {
  // All bits but op 01 in the first two bytes, and every other reserved one.
  constexpr std::string_view kAllSet = "fffd ff 5c 00000000 ffffffff 4321 7ff1";
  EXPECT_TRUE(check_header<Erth>(kAllSet));
  EXPECT_EQ(read_header<Erth>(kAllSet), kProbe);
}

// WIRE-72
TEST(Erth, RejectsUndefinedOperations) {
  EXPECT_EQ(check_header<Erth>("0002005c 00000000 00000000 43210001"),
            failure(Reject::kEndpointOpUnknown));
  EXPECT_EQ(check_header<Erth>("0003005c 00000000 00000000 43210001"),
            failure(Reject::kEndpointOpUnknown));
}

// WIRE-53
TEST(Erth, RejectsAnotherTimestampFormat) {
  EXPECT_EQ(check_header<Erth>("0001005c 00000000 00000000 43210000"),
            failure(Reject::kTimestampFormat));
}

TEST(Erth, NamesItsOperations) {
  EXPECT_EQ(name(EndpointOp::kPortStatusUpdate), "Port Status Update");
  EXPECT_EQ(name(EndpointOp::kEvProbe), "EV Probe");
}

}  // namespace
}  // namespace openmrc::wire
