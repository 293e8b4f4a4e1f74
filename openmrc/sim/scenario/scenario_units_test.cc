// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_units.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

TEST(Units, Times) {
  EXPECT_EQ(*parse_time("12us"), Picoseconds(12'000'000));
  EXPECT_EQ(*parse_time("500 ns"), Picoseconds(500'000));
  EXPECT_EQ(*parse_time("2 ms"), Picoseconds(2'000'000'000));
  EXPECT_EQ(*parse_time("1 s"), Picoseconds(kPicosecondsPerSecond));
  EXPECT_EQ(*parse_time("7 ps"), Picoseconds(7));
  EXPECT_EQ(*parse_time("1.25 ns"), Picoseconds(1'250));
  EXPECT_EQ(*parse_time("0.001 ns"), Picoseconds(1));
  EXPECT_EQ(*parse_time("0 us"), Picoseconds{});
  EXPECT_EQ(*parse_time("1000000 s"), kTimeMax);
}

TEST(Units, TimesThatAreNone) {
  for (const auto* text :
       {"", "12", "us", "-1 us", "1. us", ".5 us", "1 us ", " 1 us", "1 minute", "0.0001 ns",
        "0.00000000000000000000000 ns", "1000001 s", "99999999999999999999 ns", "1e3 us"}) {
    ASSERT_FALSE(parse_time(text).has_value()) << text;
    EXPECT_EQ(parse_time(text).error(),
              "must be a time with its unit (ns, us, ms or s), such as \"12 us\"");
  }
}

TEST(Units, Sizes) {
  EXPECT_EQ(*parse_bytes("64 KiB"), 65'536U);
  EXPECT_EQ(*parse_bytes("1MiB"), 1'048'576U);
  EXPECT_EQ(*parse_bytes("1.5 GiB"), 1'610'612'736U);
  EXPECT_EQ(*parse_bytes("2 MB"), 2'000'000U);
  EXPECT_EQ(*parse_bytes("3 kB"), 3'000U);
  EXPECT_EQ(*parse_bytes("3 KB"), 3'000U);
  EXPECT_EQ(*parse_bytes("4 GB"), 4'000'000'000U);
  EXPECT_EQ(*parse_bytes("100 B"), 100U);
}

TEST(Units, SizesThatAreNone) {
  for (const auto* text : {"", "64", "64 kib", "64 Kib", "0.5 B", "-1 MB", "99999999999 GiB"}) {
    EXPECT_FALSE(parse_bytes(text).has_value()) << text;
  }
}

TEST(Units, Shares) {
  EXPECT_EQ(*parse_share("20 %"), 200'000'000U);
  EXPECT_EQ(*parse_share("0.1%"), 1'000'000U);
  EXPECT_EQ(*parse_share("0 %"), 0U);
  EXPECT_EQ(*parse_share("100 %"), kBillion);
  EXPECT_EQ(*parse_share("0.0000001 %"), 1U);
  for (const auto* text : {"20", "101 %", "100.1 %", "0.00000001 %", "-1 %", "%"}) {
    EXPECT_FALSE(parse_share(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace openmrc::sim
