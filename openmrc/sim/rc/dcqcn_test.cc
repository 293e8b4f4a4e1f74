// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/dcqcn.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Picoseconds kMicrosecond{1'000'000};
constexpr Picoseconds kRound = kMicrosecond * 55;

class DcqcnTest : public testing::Test {
 protected:
  DcqcnSettings settings_ = dcqcn_defaults(kLine);
  Dcqcn dcqcn_{settings_};
};

TEST_F(DcqcnTest, DefaultsAreThePublishedOnesScaledToTheLine) {
  const DcqcnSettings published = dcqcn_defaults(40'000'000'000);
  EXPECT_EQ(published.additive_bits_per_second, 40'000'000);
  EXPECT_EQ(published.increase_bytes, 10'000'000);
  EXPECT_EQ(settings_.additive_bits_per_second, 100'000'000);
  EXPECT_EQ(settings_.increase_bytes, 25'000'000);
}

TEST_F(DcqcnTest, KeepsToTheLineRateWithoutNotification) {
  EXPECT_EQ(dcqcn_.rate(Picoseconds{}), kLine);
  dcqcn_.on_sent(kMicrosecond, 100'000'000);
  EXPECT_EQ(dcqcn_.rate(kRound * 100), kLine);
}

TEST_F(DcqcnTest, TheFirstNotificationHalvesTheRate) {
  // However long it takes to come.
  dcqcn_.on_congestion(kRound * 1000);
  EXPECT_EQ(dcqcn_.rate(kRound * 1000), kLine / 2);
}

TEST_F(DcqcnTest, RecoversHalfOfTheWayFiveTimes) {
  dcqcn_.on_congestion(Picoseconds{});
  dcqcn_.on_congestion(Picoseconds{});  // so that there is room above the target
  const std::int64_t target = kLine / 2;
  std::int64_t missing = target / 2;
  for (int round = 1; round <= 5; ++round) {
    EXPECT_EQ(dcqcn_.rate(kRound * round - Picoseconds(1)), target - missing);
    missing /= 2;
    EXPECT_NEAR(static_cast<double>(dcqcn_.rate(kRound * round)),
                static_cast<double>(target - missing), 1);
    missing = target - dcqcn_.rate(kRound * round);
  }
  // From then on the target moves up, too.
  const std::int64_t higher = target + settings_.additive_bits_per_second;
  EXPECT_EQ(dcqcn_.rate(kRound * 6), (target - missing + higher + 1) / 2);
}

TEST_F(DcqcnTest, ACutBeginsANewRecovery) {
  for (int i = 0; i < 3; ++i) dcqcn_.on_congestion(Picoseconds{});
  const Picoseconds later = kRound * 10;
  const std::int64_t target = dcqcn_.rate(later);
  dcqcn_.on_congestion(later);
  const std::int64_t cut = dcqcn_.rate(later);
  ASSERT_LT(cut, target);
  EXPECT_EQ(dcqcn_.rate(later + kRound), (cut + target + 1) / 2);
}

TEST_F(DcqcnTest, BytesBringTheRateBackAsTimeDoes) {
  dcqcn_.on_congestion(Picoseconds{});
  const auto bytes = static_cast<std::uint32_t>(settings_.increase_bytes);
  dcqcn_.on_sent(kMicrosecond, bytes - 1);
  EXPECT_EQ(dcqcn_.rate(kMicrosecond), kLine / 2);
  dcqcn_.on_sent(kMicrosecond, 1);
  EXPECT_EQ(dcqcn_.rate(kMicrosecond), kLine / 4 * 3);
}

TEST_F(DcqcnTest, GrowsFasterWhenTimeAndBytesAgree) {
  const auto rate_after = [&](int byte_rounds) {
    Dcqcn dcqcn(settings_);
    for (int i = 0; i < 4; ++i) dcqcn.on_congestion(Picoseconds{});
    for (int i = 0; i < byte_rounds; ++i) {
      dcqcn.on_sent(Picoseconds{}, static_cast<std::uint32_t>(settings_.increase_bytes));
    }
    return dcqcn.rate(kRound * 20);
  };
  const std::int64_t additive = rate_after(5);
  const std::int64_t hyper = rate_after(20);
  EXPECT_LT(additive, kLine / 8 + 20 * settings_.additive_bits_per_second);
  EXPECT_GT(hyper, additive + 20 * settings_.hyper_bits_per_second);
}

TEST_F(DcqcnTest, CutsLessWhenItWasQuiet) {
  dcqcn_.on_congestion(Picoseconds{});
  // Alpha has decayed 256 times by 1/256: to 1/e.
  const Picoseconds later = kRound * 257;
  ASSERT_EQ(dcqcn_.rate(later), kLine);
  dcqcn_.on_congestion(later);
  EXPECT_NEAR(static_cast<double>(dcqcn_.rate(later)), 1e11 * (1 - 0.3679 / 2), 1e9);
}

TEST_F(DcqcnTest, NeverFallsBelowTheLeastRate) {
  for (int i = 0; i < 100; ++i) dcqcn_.on_congestion(kCnpInterval * i);
  EXPECT_EQ(dcqcn_.rate(kCnpInterval * 99), settings_.min_bits_per_second);
}

TEST_F(DcqcnTest, ReachesTheLineRateAgainAndStaysThere) {
  for (int i = 0; i < 100; ++i) dcqcn_.on_congestion(kCnpInterval * i);
  const Picoseconds later(kPicosecondsPerSecond);
  EXPECT_EQ(dcqcn_.rate(later), kLine);
  // After so long nothing is left of alpha.
  dcqcn_.on_congestion(later);
  EXPECT_EQ(dcqcn_.rate(later), kLine);
}

TEST_F(DcqcnTest, DoesNotDependOnHowOftenItIsAsked) {
  Dcqcn often(settings_);
  dcqcn_.on_congestion(kMicrosecond);
  often.on_congestion(kMicrosecond);
  for (int i = 1; i < 3000; ++i) EXPECT_LE(often.rate(kMicrosecond * i), kLine);
  dcqcn_.on_congestion(kMicrosecond * 3000);
  often.on_congestion(kMicrosecond * 3000);
  EXPECT_EQ(dcqcn_.rate(kMicrosecond * 3333), often.rate(kMicrosecond * 3333));
}

}  // namespace
}  // namespace openmrc::sim
