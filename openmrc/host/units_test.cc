// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/units.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

TEST(Units, ReadsTimesWithTheirUnit) {
  EXPECT_EQ(parse_time("100ms"), milliseconds(100));
  EXPECT_EQ(parse_time("1.5 us"), nanoseconds(1500));
  EXPECT_EQ(parse_time("10s"), seconds(10));
  EXPECT_EQ(parse_time("0ns"), nanoseconds(0));
}

TEST(Units, ReadsSizesOfBothKinds) {
  EXPECT_EQ(parse_bytes("4MiB"), 4u << 20);
  EXPECT_EQ(parse_bytes("64 kB"), 64'000u);
  EXPECT_EQ(parse_bytes("0.5KiB"), 512u);
}

TEST(Units, ReadsRates) {
  EXPECT_EQ(parse_bit_rate("4gbit"), 4'000'000'000u);
  EXPECT_EQ(parse_bit_rate("2.5gbit"), 2'500'000'000u);
}

TEST(Units, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "ms", "1", "1.ms", ".5ms", "1.2.3ms", "-1ms", "1 m s", "1MS",
                           "1e3ms", "1.5ns", "99999999999999999999s", "10000000000s", "1ms "}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
  EXPECT_FALSE(parse_bytes("1.0001KiB"));
  EXPECT_FALSE(parse_bytes("4MB/s"));
  EXPECT_FALSE(parse_bit_rate("4Gbps"));
}

TEST(Units, ReadsWhatItPrints) {
  EXPECT_EQ(time_text(milliseconds(100)), "100ms");
  EXPECT_EQ(time_text(nanoseconds(0)), "0ns");
  EXPECT_EQ(bytes_text(4u << 20), "4MiB");
  EXPECT_EQ(bytes_text(1000), "1000B");
  EXPECT_EQ(bit_rate_text(10'000'000'000), "10gbit");
  for (const std::int64_t ns : {1L, 999L, 1000L, 1'500'000L, 60'000'000'000L}) {
    EXPECT_EQ(parse_time(time_text(nanoseconds(ns))), nanoseconds(ns));
  }
}

}  // namespace
}  // namespace openmrc::host
