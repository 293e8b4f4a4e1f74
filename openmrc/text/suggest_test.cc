// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace openmrc::text {
namespace {

constexpr std::array<std::string_view, 3> kWords{"evs", "burst", "probe_interval_max"};

TEST(Suggest, DistanceCountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("evs", "evs"), 0U);
  EXPECT_EQ(edit_distance("evz", "evs"), 1U);
  EXPECT_EQ(edit_distance("", "evs"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Suggest, FindsTheNearestWord) {
  EXPECT_EQ(nearest_word("evz", kWords), 0U);
  EXPECT_EQ(nearest_word("brust", kWords), 1U);
  EXPECT_EQ(nearest_word("probe_interval", kWords), 2U);
}

TEST(Suggest, OffersNothingFarAway) {
  EXPECT_FALSE(nearest_word("colour", kWords));
  EXPECT_FALSE(nearest_word(std::string(100'000, 'x'), kWords));
  EXPECT_FALSE(nearest_word("evs", {}));
}

}  // namespace
}  // namespace openmrc::text
