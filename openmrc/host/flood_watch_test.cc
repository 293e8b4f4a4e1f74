// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/flood_watch.h"

#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

using core::Count;

class Floods : public testing::Test {
 protected:
  void drop(Count count, std::uint64_t packets) { counters_.add(count, packets); }
  void look() {
    now_ = now_ + FloodWatch::kInterval;
    EXPECT_TRUE(watch_.is_due(now_));
    watch_.look(now_, counters_);
    EXPECT_FALSE(watch_.is_due(now_));
  }

  FloodWatch watch_;
  core::Counters counters_;
  Instant now_{seconds(5).raw()};
};

// SEC-26
TEST_F(Floods, AreNoticedWithinASecond) {
  look();
  drop(Count::kDropNoQueuePair, FloodWatch::kPacketsMax + 1);
  look();
  ASSERT_TRUE(watch_.worst());
  EXPECT_EQ(watch_.worst()->counter, Count::kDropNoQueuePair);
  EXPECT_EQ(watch_.worst()->packets, FloodWatch::kPacketsMax + 1);
  EXPECT_LE(FloodWatch::kInterval * 2, seconds(1)) << "it may begin just after a look";
}

// SEC-26
TEST_F(Floods, AreNotWhatIsDroppedNowAndThen) {
  look();
  for (int i = 0; i < 100; ++i) {
    drop(Count::kDropMsn, FloodWatch::kPacketsMax);
    drop(Count::kDropSource, FloodWatch::kPacketsMax);
    look();
  }
  EXPECT_FALSE(watch_.worst());
}

TEST_F(Floods, TheWorstIsKept) {
  look();
  for (const std::uint64_t packets : {2000U, 5000U, 3000U}) {
    drop(Count::kDropAckUnsent, packets);
    look();
  }
  EXPECT_EQ(watch_.worst()->packets, 5000U);
  EXPECT_EQ(to_string(*watch_.worst()),
            "5000 packets within 500 ms were dropped: acknowledgement of a message that was never "
            "sent (counter drop_ack_unsent); let only hosts of the fabric send to the UDP port of "
            "MRC");
}

}  // namespace
}  // namespace openmrc::host
