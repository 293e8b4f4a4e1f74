// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/recent.h"

#include <gtest/gtest.h>

namespace openmrc::mapper {
namespace {

Instant at(std::int64_t second) { return Instant{} + seconds(second); }

TEST(RecentCount, HasTheSpanThatRunsAndTheOneBefore) {
  RecentCount count;
  count.add(at(5), 3);
  count.add(at(19), 4);
  EXPECT_EQ(count.at(at(19)), (RecentAmounts{4, 7, 7, 7, 7, 7}));
  EXPECT_EQ(count.at(at(20)), (RecentAmounts{4, 4, 7, 7, 7, 7}));
  EXPECT_EQ(count.at(at(30)), (RecentAmounts{0, 0, 7, 7, 7, 7}));
  EXPECT_EQ(count.at(at(199)), (RecentAmounts{0, 0, 0, 7, 7, 7}));
  EXPECT_EQ(count.at(at(200)), (RecentAmounts{0, 0, 0, 0, 7, 7}));
  EXPECT_EQ(count.at(at(20'000)), (RecentAmounts{}));
}

TEST(RecentCount, ForgetsWhatIsOlder) {
  RecentCount count;
  count.add(at(1), 100);
  count.add(at(45), 2);
  EXPECT_EQ(count.at(at(45)), (RecentAmounts{2, 2, 102, 102, 102, 102}));
  count.add(at(20'001), 1);
  EXPECT_EQ(count.at(at(20'001)), (RecentAmounts{1, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace openmrc::mapper
