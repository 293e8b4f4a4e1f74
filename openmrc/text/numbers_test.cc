// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/numbers.h"

#include <gtest/gtest.h>

namespace openmrc::text {
namespace {

TEST(Numbers, KeepsThreeDigits) {
  EXPECT_EQ(significant(1.2345), "1.23");
  EXPECT_EQ(significant(12.345), "12.3");
  EXPECT_EQ(significant(123.45), "123");
  EXPECT_EQ(significant(1023.4), "1020");
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(-1.2345), "-1.23");
  EXPECT_EQ(significant(0), "0");
}

TEST(Numbers, RoundingThatAddsADigitDropsADecimal) {
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(99.96), "100");
}

TEST(Numbers, ZerosAtTheEndMeanThatItIsRounded) {
  EXPECT_EQ(significant(2), "2");
  EXPECT_EQ(significant(2.5), "2.5");
  EXPECT_EQ(significant(2.0001), "2.00");
  EXPECT_EQ(significant(100), "100");
}

TEST(Numbers, TimesChooseTheirUnit) {
  EXPECT_EQ(human(Picoseconds(0)), "0 s");
  EXPECT_EQ(human(Picoseconds(999)), "999 ps");
  EXPECT_EQ(human(Picoseconds(1'920'000'000)), "1.92 ms");
  EXPECT_EQ(human(Picoseconds(40'000'000)), "40 us");
  EXPECT_EQ(human(Picoseconds(999'800'000)), "1.00 ms");
  EXPECT_EQ(human(Picoseconds(-40'000'000)), "-40 us");
  EXPECT_EQ(human(Picoseconds(7'000 * kPicosecondsPerSecond)), "7000 s");
}

TEST(Numbers, OtherUnits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{3} << 30), "3 GiB");
  EXPECT_EQ(human_rate(385.4e9), "385 Gb/s");
  EXPECT_EQ(human_rate(104.8576e15), "105 Pb/s");
  EXPECT_EQ(human_count(131'072), "131,072");
  EXPECT_EQ(human_count(33'554'432), "33.6 million");
  EXPECT_EQ(human(250'000, Unit::kPartsPerMillion), "25 %");
}

TEST(Numbers, ASharePromisesNoMoreThanThereIs) {
  EXPECT_EQ(human_share(3, 4), "75 %");
  EXPECT_EQ(human_share(512, 512), "100 %");
  EXPECT_EQ(human_share(131'071, 131'072), "> 99.99 %");
  EXPECT_EQ(human_share(9'997, 10'000), "99.97 %");
  EXPECT_EQ(human_share(1, 1e9), "< 0.0001 %");
  EXPECT_EQ(human_share(0, 7), "0 %");
  EXPECT_EQ(human_share(0, 0), "0 %");
  EXPECT_EQ(human_share(3, 2), "150 %");
}

TEST(Numbers, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(Numbers, ScaleOfAnAxisFollowsItsLargestValue) {
  EXPECT_EQ(scale_for(Unit::kPicoseconds, 2.4e9).name, "ms");
  EXPECT_EQ(scale_for(Unit::kBytes, 200'000).name, "KiB");
  EXPECT_EQ(scale_for(Unit::kCount, 500).divisor, 1);
  EXPECT_EQ(scale_for(Unit::kPartsPerMillion, 5).name, "%");
}

}  // namespace
}  // namespace openmrc::text
