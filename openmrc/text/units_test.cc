// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/units.h"

#include <gtest/gtest.h>

namespace openmrc::text {
namespace {

TEST(Units, ReadsDurations) {
  EXPECT_EQ(parse_duration("100ms"), milliseconds(100));
  EXPECT_EQ(parse_duration("1.5 us"), nanoseconds(1500));
  EXPECT_EQ(parse_duration("10s"), seconds(10));
  EXPECT_EQ(parse_duration("0ns"), nanoseconds(0));
  EXPECT_EQ(parse_duration("0.000000001s"), nanoseconds(1));
  EXPECT_EQ(parse_duration("1000000000s"), seconds(1'000'000'000));
}

TEST(Units, ReadsPicoseconds) {
  EXPECT_EQ(parse_picoseconds("7 ps"), Picoseconds(7));
  EXPECT_EQ(parse_picoseconds("1.25 ns"), Picoseconds(1'250));
  EXPECT_EQ(parse_picoseconds("12us"), Picoseconds(12'000'000));
  EXPECT_EQ(parse_picoseconds("1 s"), Picoseconds(kPicosecondsPerSecond));
  EXPECT_EQ(parse_picoseconds("1000000 s"), Picoseconds(kAmountMax));
}

TEST(Units, ReadsSizesOfBothKinds) {
  EXPECT_EQ(parse_size("4MiB"), 4U << 20);
  EXPECT_EQ(parse_size("64 kB"), 64'000U);
  EXPECT_EQ(parse_size("3 KB"), 3'000U);
  EXPECT_EQ(parse_size("0.5KiB"), 512U);
  EXPECT_EQ(parse_size("1.5 GiB"), 1'610'612'736U);
  EXPECT_EQ(parse_size("100 B"), 100U);
}

TEST(Units, ReadsRatesAndShares) {
  EXPECT_EQ(parse_bit_rate("4gbit"), 4'000'000'000U);
  EXPECT_EQ(parse_bit_rate("2.5gbit"), 2'500'000'000U);
  EXPECT_EQ(parse_share("20 %"), 200'000'000U);
  EXPECT_EQ(parse_share("0.0000001%"), 1U);
  EXPECT_EQ(parse_share("100%"), kShareOne);
  EXPECT_EQ(parse_share("0.2"), 200'000'000U);
  EXPECT_EQ(parse_share("1"), kShareOne);
}

TEST(Units, AnErrorShowsTheTextAndAnExample) {
  EXPECT_EQ(parse_duration("soon").error(), "invalid duration 'soon': expected e.g. 5s or 500ms");
  EXPECT_EQ(parse_picoseconds("1 minute").error(),
            "invalid duration '1 minute': expected e.g. 5s or 500ms");
  EXPECT_EQ(parse_size("64 kib").error(), "invalid size '64 kib': expected e.g. 64KiB");
  EXPECT_EQ(parse_bit_rate("4Gbps").error(), "invalid rate '4Gbps': expected e.g. 10gbit");
  EXPECT_EQ(parse_share("much").error(), "invalid share 'much': expected e.g. 20% or 0.2");
}

TEST(Units, RefusesAnythingElse) {
  for (const char* text : {"", "ms", "1", "1.ms", ".5ms", "1.2.3ms", "-1ms", "+1ms", "1 m s", "1MS",
                           "1e3ms", "1ms ", " 1ms", "1ms x", "1\tms"}) {
    EXPECT_EQ(parse_duration(text).error(),
              "invalid duration '" + std::string(text) + "': expected e.g. 5s or 500ms");
  }
  EXPECT_FALSE(parse_size("4MB/s"));
  EXPECT_FALSE(parse_share("%"));
}

TEST(Units, RefusesFractionsThatAreNotWhole) {
  EXPECT_EQ(parse_duration("1.5ns").error(),
            "invalid duration '1.5ns': not a whole number of nanoseconds");
  EXPECT_EQ(parse_picoseconds("0.0001 ns").error(),
            "invalid duration '0.0001 ns': not a whole number of picoseconds");
  EXPECT_EQ(parse_size("1.0001KiB").error(),
            "invalid size '1.0001KiB': not a whole number of bytes");
  EXPECT_EQ(parse_share("0.00000001%").error(),
            "invalid share '0.00000001%': not a whole number of billionths");
  EXPECT_FALSE(parse_duration("0.00000000000000000000000s"));
  EXPECT_FALSE(parse_duration("1.00000000000000000000000s"));
}

TEST(Units, RefusesWhatIsTooLarge) {
  EXPECT_EQ(parse_duration("99999999999999999999s").error(),
            "invalid duration '99999999999999999999s': too large");
  EXPECT_EQ(parse_duration("10000000000s").error(), "invalid duration '10000000000s': too large");
  EXPECT_FALSE(parse_picoseconds("1000001 s"));
  EXPECT_FALSE(parse_size("99999999999 GiB"));
  EXPECT_EQ(parse_share("101%").error(),
            "invalid share '101%': must be between 0% and 100%, or 0 and 1");
  EXPECT_EQ(parse_share("20").error(),
            "invalid share '20': must be between 0% and 100%, or 0 and 1");
}

TEST(Units, PrintsInTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_duration(milliseconds(100)), "100ms");
  EXPECT_EQ(format_duration(nanoseconds(1'500)), "1500ns");
  EXPECT_EQ(format_duration(nanoseconds(0)), "0ns");
  EXPECT_EQ(format_duration(nanoseconds(-2'000)), "-2us");
  EXPECT_EQ(format_duration(Picoseconds(1'048'576'000)), "1048576ns");
  EXPECT_EQ(format_size(4U << 20), "4MiB");
  EXPECT_EQ(format_size(1000), "1000B");
  EXPECT_EQ(format_bit_rate(10'000'000'000), "10gbit");
}

TEST(Units, ReadsWhatItPrints) {
  for (const std::int64_t ns : {1L, 999L, 1000L, 1'500'000L, 60'000'000'000L}) {
    EXPECT_EQ(parse_duration(format_duration(nanoseconds(ns))), nanoseconds(ns));
    EXPECT_EQ(parse_picoseconds(format_duration(Picoseconds(ns))), Picoseconds(ns));
    EXPECT_EQ(parse_size(format_size(static_cast<std::uint64_t>(ns))), ns);
    EXPECT_EQ(parse_bit_rate(format_bit_rate(static_cast<std::uint64_t>(ns))), ns);
  }
}

}  // namespace
}  // namespace openmrc::text
