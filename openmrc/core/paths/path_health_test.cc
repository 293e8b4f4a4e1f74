// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_health.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace openmrc::core {
namespace {

constexpr PathIndex kPath{7};
constexpr Instant kStart(1'000'000);
constexpr Duration kRtt = microseconds(10);
constexpr Duration kPatience = kRtt * 2;
constexpr ProbeSettings kSettings{.probe_successes = 3, .interval_max = milliseconds(1)};

PathHealth::Missing missing(Instant now, PathIndex path = kPath, std::uint16_t delivered = 0) {
  return {.path = path, .delivered = delivered, .now = now, .rtt = kRtt};
}

// The next probe, at the time the judge wants to be asked.
Instant next_probe(PathHealth& health, bool confirms_failure = false) {
  const Instant when = health.next_time();
  EXPECT_FALSE(health.next_due(when - nanoseconds(1), kPatience, kSettings)) << "not before";
  const auto probe = health.next_due(when, kPatience, kSettings);
  EXPECT_TRUE(probe && probe->path == kPath);
  EXPECT_EQ(probe && probe->confirms_failure, confirms_failure);
  EXPECT_GT(health.next_time(), when);
  return when;
}

// Probes, each answered, until the path is good; returns how long that took.
Duration answer_until_good(PathHealth& health, Instant since) {
  for (int i = 0; i < 100; ++i) {
    const Instant when = health.next_time();
    (void)health.next_due(when, kPatience, kSettings);
    if (health.answered(kPath, when + kRtt, kRtt, kSettings)) return when + kRtt - since;
  }
  ADD_FAILURE() << "it is never good again";
  return {};
}

TEST(PathHealth, WantsNothingWhileAllPathsAreGood) {
  PathHealth health;
  EXPECT_TRUE(health.empty());
  EXPECT_EQ(health.next_time(), kNever);
  EXPECT_FALSE(health.next_due(kStart, kPatience, kSettings));
  EXPECT_FALSE(health.answered(kPath, kStart, kRtt, kSettings));
}

// PATH-48
TEST(PathHealth, ProbesASuspectAtOnceAndOneAnswerClearsIt) {
  PathHealth health;
  health.suspect(missing(kStart));
  EXPECT_EQ(next_probe(health), kStart);
  EXPECT_TRUE(health.answered(kPath, kStart + kRtt, kRtt, kSettings));
  EXPECT_TRUE(health.empty());
}

// PATH-41
TEST(PathHealth, ToleratesOneOvertakenPacketButNotTwoSoonAfterEachOther) {
  PathHealth health;
  EXPECT_TRUE(health.tolerates(missing(kStart, kPath, 0)));
  EXPECT_TRUE(health.empty()) << "the path is in use";
  EXPECT_FALSE(health.tolerates(missing(kStart + kRtt, kPath, 63)));
  EXPECT_TRUE(health.tolerates(missing(kStart + kRtt, kPath, 64))) << "delivered in the meantime";
  EXPECT_TRUE(health.tolerates(missing(kStart + kRtt, PathIndex(8), 64))) << "another path";
}

TEST(PathHealth, ToleratesAnotherOneIfTheFirstHadOnlySeemedToBeMissing) {
  PathHealth health;
  EXPECT_TRUE(health.tolerates(missing(kStart)));
  health.acquit(kPath);
  EXPECT_TRUE(health.tolerates(missing(kStart)));
  EXPECT_FALSE(health.tolerates(missing(kStart)));
}

TEST(PathHealth, ToleratesNothingOnAPathThatIsDisabled) {
  PathHealth health;
  health.fail(missing(kStart));
  EXPECT_FALSE(health.tolerates(missing(kStart, kPath, 1'000)));
}

// PATH-42, PATH-48
TEST(PathHealth, AProbeOfASuspectWithoutAnAnswerConfirmsTheFailureOnce) {
  PathHealth health;
  health.suspect(missing(kStart));
  next_probe(health);
  EXPECT_EQ(next_probe(health, true), kStart + kPatience);
  next_probe(health, false);
  for (int i = 0; i < 2; ++i) {
    const Instant when = next_probe(health);
    EXPECT_FALSE(health.answered(kPath, when + kRtt, kRtt, kSettings)) << "one is not enough now";
  }
}

TEST(PathHealth, ASuspectThatFailsIsOneNoMore) {
  PathHealth health;
  health.suspect(missing(kStart));
  const Instant probed = next_probe(health);
  health.fail(missing(probed + nanoseconds(1)));
  EXPECT_FALSE(health.answered(kPath, probed + kRtt, kRtt, kSettings)) << "three are wanted";
  health.suspect(missing(probed + kRtt));
  EXPECT_FALSE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings))
      << "what failed is not merely suspect";
}

// MRC 9.3.1 (PATH-49)
TEST(PathHealth, ProbesWhatHasFailedAfterOneRoundTripAndAtDoublingDistances) {
  PathHealth health;
  health.fail(missing(kStart));
  EXPECT_FALSE(health.empty());
  Instant last = next_probe(health);
  EXPECT_EQ(last, kStart + kRtt);
  std::vector<Duration> intervals;
  for (int i = 0; i < 10; ++i) {
    const Instant when = next_probe(health);
    intervals.push_back(when - last);
    last = when;
  }
  EXPECT_EQ(intervals,
            (std::vector{kRtt * 2, kRtt * 2, kRtt * 4, kRtt * 8, kRtt * 16, kRtt * 32, kRtt * 64,
                         kSettings.interval_max, kSettings.interval_max, kSettings.interval_max}));
}

// PATH-49
TEST(PathHealth, WaitsForAnAnswerAsLongAsItIsTold) {
  PathHealth health;
  health.fail(missing(kStart));
  // The largest interval is shorter than that.
  constexpr ProbeSettings kHasty{.probe_successes = 3, .interval_max = microseconds(1)};
  for (int i = 0; i < 5; ++i) {
    const Instant when = health.next_time();
    ASSERT_TRUE(health.next_due(when, kPatience, kHasty));
    ASSERT_GE(health.next_time(), when + kPatience);
  }
}

// MRC 9.3.1
TEST(PathHealth, EnoughAnswersInARowMakeAFailedPathGood) {
  PathHealth health;
  health.fail(missing(kStart));
  for (int i = 0; i < 2; ++i) {
    const Instant answered = next_probe(health) + kRtt;
    EXPECT_FALSE(health.answered(kPath, answered, kRtt, kSettings));
    EXPECT_EQ(health.next_time(), answered + kRtt) << "the next one after a round trip";
  }
  EXPECT_TRUE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
  EXPECT_TRUE(health.empty());
}

// MRC 9.3.1
TEST(PathHealth, AProbeWithoutAnAnswerBreaksTheRow) {
  PathHealth health;
  health.fail(missing(kStart));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
  }
  next_probe(health);  // no response
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
  }
  EXPECT_TRUE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
}

TEST(PathHealth, OneProbeHasOneAnswer) {
  PathHealth health;
  health.fail(missing(kStart));
  const Instant answered = next_probe(health) + kRtt;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(health.answered(kPath, answered, kRtt, kSettings)) << "answer " << i;
  }
  EXPECT_FALSE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
  EXPECT_TRUE(health.answered(kPath, next_probe(health) + kRtt, kRtt, kSettings));
}

TEST(PathHealth, AnAnswerToWhatWasNotProbedYetCountsForNothing) {
  PathHealth health;
  health.fail(missing(kStart));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(health.answered(kPath, kStart, kRtt, kSettings));
  EXPECT_EQ(health.next_time(), kStart + kRtt);
}

// Flap damping: a path that loses one packet in twenty, or all that are large (PATH-54).
TEST(PathHealth, IsTriedLessAndLessOftenWhenItFailsAgainAndAgain) {
  PathHealth health;
  Instant now = kStart;
  std::vector<Duration> out_of_use;
  for (std::uint16_t i = 1; i <= 20; ++i) {
    health.suspect(missing(now, kPath, static_cast<std::uint16_t>(20 * i)));
    out_of_use.push_back(answer_until_good(health, now));
    now = now + out_of_use.back() + kRtt * 20;
  }
  EXPECT_EQ(out_of_use[0], kRtt);
  EXPECT_EQ(out_of_use[1], kRtt) << "two in a row may be one accident";
  for (std::size_t i = 2; i < out_of_use.size(); ++i) {
    EXPECT_GE(out_of_use[i], out_of_use[i - 1]);
    if (out_of_use[i - 1] < milliseconds(400)) {
      EXPECT_GT(out_of_use[i], out_of_use[i - 1]);
    }
  }
  EXPECT_GE(out_of_use.back(), seconds(1)) << "the longest";
  EXPECT_LT(out_of_use.back(), seconds(2));
}

// PATH-53
TEST(PathHealth, WhatIsDeliveredMakesUpForLosses) {
  PathHealth health;
  Instant now = kStart;
  std::uint16_t delivered = 0;
  for (int i = 0; i < 100; ++i) {  // one in a thousand is lost, as on all other paths perhaps
    delivered = static_cast<std::uint16_t>(delivered + 1000);
    health.suspect(missing(now, kPath, delivered));
    ASSERT_EQ(answer_until_good(health, now), kRtt);
    now = now + milliseconds(1);
  }
}

// PATH-53
TEST(PathHealth, AcquittalTakesTheScoreBack) {
  PathHealth health;
  Instant now = kStart;
  for (int i = 0; i < 50; ++i) {
    health.suspect(missing(now));
    next_probe(health);
    health.acquit(kPath);
    ASSERT_TRUE(health.empty());
    now = now + kRtt;
  }
  health.suspect(missing(now));
  EXPECT_EQ(answer_until_good(health, now), kRtt);
}

TEST(PathHealth, DoesNotProbeWhatIsReleased) {
  PathHealth health;
  health.fail(missing(kStart));
  health.release(PathIndex(8));
  EXPECT_FALSE(health.empty());
  health.release(kPath);
  EXPECT_TRUE(health.empty());
  EXPECT_FALSE(health.next_due(kStart + seconds(1), kPatience, kSettings));
}

TEST(PathHealth, PathsDoNotDisturbEachOther) {
  PathHealth health;
  std::map<PathIndex, Instant> failed;
  for (std::uint8_t i = 0; i < 20; ++i) {
    failed[PathIndex(i)] = kStart + kRtt * i / 3;
    health.fail(missing(failed[PathIndex(i)], PathIndex(i)));
  }
  // Even ones answer, odd ones are dead.
  int good = 0;
  for (int i = 0; i < 1'000 && good < 10; ++i) {
    const Instant now = health.next_time();
    while (const auto probe = health.next_due(now, kPatience, kSettings)) {
      ASSERT_GE(now, failed[probe->path] + kRtt);
      const bool answers = probe->path.raw() % 2 == 0;
      if (answers && health.answered(probe->path, now + kRtt, kRtt, kSettings)) ++good;
    }
  }
  EXPECT_EQ(good, 10);
  EXPECT_FALSE(health.empty());
  for (std::uint8_t i = 1; i < 20; i += 2) health.release(PathIndex(i));
  EXPECT_TRUE(health.empty());
}

// MRC 7.4.8 (PATH-50, PATH-54)
TEST(PathHealth, ProbesSoonAgainWhenThePortOfAPathIsBack) {
  PathHealth health;
  const PathIndex other(200);
  health.fail(missing(kStart));
  health.fail(missing(kStart, other));
  Instant now = kStart;
  for (int i = 0; i < 12; ++i) {  // no response
    now = health.next_time();
    while (health.next_due(now, kPatience, kSettings)) {
    }
  }
  ASSERT_GT(health.next_time(), now + kRtt * 4);
  health.start_again({.first = kPath.raw(), .count = 1}, now, kRtt);
  EXPECT_EQ(health.next_time(), now + kRtt);
  const auto probe = health.next_due(now + kRtt, kPatience, kSettings);
  EXPECT_TRUE(probe && probe->path == kPath);
  EXPECT_FALSE(health.next_due(now + kRtt, kPatience, kSettings)) << "the other has to wait";
}

TEST(PathHealth, AProbeIsNotDueTwiceAtOneTimeHoweverShortTheRoundTrip) {
  // The owner asks until nothing is due.
  PathHealth health;
  health.fail({.path = kPath, .delivered = 0, .now = kStart, .rtt = Duration(0)});
  int probes = 0;
  while (probes < 100 && health.next_due(kStart, Duration(0), kSettings)) ++probes;
  EXPECT_EQ(probes, 1);
}

}  // namespace
}  // namespace openmrc::core
