// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_prober.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace openmrc::core {
namespace {

constexpr EvIndex kEv{7};
constexpr Instant kStart(1'000'000);
constexpr Duration kRtt = microseconds(10);
constexpr ProbeSettings kSettings{.probe_successes = 3, .interval_max = milliseconds(1)};

// The next probe, at the time the prober wants to be asked.
Instant next_probe(EvProber& prober, EvIndex ev = kEv) {
  const Instant when = prober.next_time();
  EXPECT_FALSE(prober.next_due(when - nanoseconds(1), kRtt, kSettings)) << "not before its time";
  EXPECT_EQ(prober.next_due(when, kRtt, kSettings), ev);
  EXPECT_GT(prober.next_time(), when);
  return when;
}

TEST(EvProber, WantsNothingWhileAllPathsAreGood) {
  EvProber prober;
  EXPECT_TRUE(prober.empty());
  EXPECT_EQ(prober.next_time(), kNever);
  EXPECT_FALSE(prober.next_due(kStart, kRtt, kSettings));
  EXPECT_FALSE(prober.answered(kEv, kStart, kRtt, kSettings));
}

// MRC 9.3.1
TEST(EvProber, SendsTheFirstProbeAfterOneRoundTrip) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  EXPECT_FALSE(prober.empty());
  EXPECT_EQ(next_probe(prober), kStart + kRtt);
}

// MRC 9.3.1
TEST(EvProber, DoublesTheIntervalUpToTheLargest) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  Instant last = next_probe(prober);
  std::vector<Duration> intervals;
  for (int i = 0; i < 10; ++i) {
    const Instant when = next_probe(prober);
    intervals.push_back(when - last);
    last = when;
  }
  EXPECT_EQ(intervals,
            (std::vector{kRtt * 2, kRtt * 2, kRtt * 4, kRtt * 8, kRtt * 16, kRtt * 32, kRtt * 64,
                         kSettings.interval_max, kSettings.interval_max, kSettings.interval_max}));
}

TEST(EvProber, DoesNotGiveUpAProbeBeforeItsAnswerCouldBeHere) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  const Instant sent = next_probe(prober);
  EXPECT_GE(prober.next_time(), sent + kRtt * 2);
  // The largest interval is shorter than a round trip.
  constexpr ProbeSettings kHasty{.probe_successes = 3, .interval_max = microseconds(1)};
  for (int i = 0; i < 5; ++i) {
    const Instant when = prober.next_time();
    ASSERT_EQ(prober.next_due(when, kRtt, kHasty), kEv);
    ASSERT_GE(prober.next_time(), when + kRtt * 2);
  }
}

// MRC 9.3.1
TEST(EvProber, EnoughAnswersInARowMakeAPathGood) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  for (int i = 0; i < 2; ++i) {
    const Instant answered = next_probe(prober) + kRtt;
    EXPECT_FALSE(prober.answered(kEv, answered, kRtt, kSettings));
    EXPECT_EQ(prober.next_time(), answered + kRtt) << "the next one after a round trip";
  }
  EXPECT_TRUE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  EXPECT_TRUE(prober.empty());
  EXPECT_EQ(prober.next_time(), kNever);
}

// MRC 9.3.1
TEST(EvProber, AProbeWithoutAnAnswerBreaksTheRow) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  }
  next_probe(prober);  // no response
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  }
  EXPECT_TRUE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
}

TEST(EvProber, AnAnswerBringsTheIntervalBackToARoundTrip) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  for (int i = 0; i < 8; ++i) next_probe(prober);
  const Instant answered = prober.next_time() - nanoseconds(1);
  EXPECT_FALSE(prober.answered(kEv, answered, kRtt, kSettings));
  EXPECT_EQ(prober.next_time(), answered + kRtt);
  const Instant sent = next_probe(prober);
  EXPECT_EQ(prober.next_time(), sent + kRtt * 2);
}

TEST(EvProber, OneProbeHasOneAnswer) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  const Instant answered = next_probe(prober) + kRtt;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(prober.answered(kEv, answered, kRtt, kSettings)) << "answer " << i;
  }
  EXPECT_FALSE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  EXPECT_TRUE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
}

TEST(EvProber, AnAnswerToWhatWasNotProbedYetCountsForNothing) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(prober.answered(kEv, kStart, kRtt, kSettings));
  EXPECT_EQ(prober.next_time(), kStart + kRtt);
}

TEST(EvProber, AddingAgainStartsAgain) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  }
  const Instant again = kStart + seconds(1);
  prober.add(kEv, again, kRtt);
  EXPECT_EQ(prober.next_time(), again + kRtt);
  EXPECT_FALSE(prober.answered(kEv, next_probe(prober) + kRtt, kRtt, kSettings));
  prober.remove(kEv);
  EXPECT_TRUE(prober.empty()) << "it was there once";
}

TEST(EvProber, ForgetsWhatIsRemoved) {
  EvProber prober;
  prober.add(kEv, kStart, kRtt);
  prober.remove(EvIndex(8));
  EXPECT_FALSE(prober.empty());
  prober.remove(kEv);
  EXPECT_TRUE(prober.empty());
  EXPECT_FALSE(prober.next_due(kStart + seconds(1), kRtt, kSettings));
}

TEST(EvProber, PathsDoNotDisturbEachOther) {
  EvProber prober;
  std::map<EvIndex, Instant> added;
  for (std::uint8_t i = 0; i < 20; ++i) {
    added[EvIndex(i)] = kStart + kRtt * i / 3;
    prober.add(EvIndex(i), added[EvIndex(i)], kRtt);
  }
  // Even ones answer, odd ones are dead.
  int good = 0;
  for (int i = 0; i < 1'000 && !prober.empty(); ++i) {
    const Instant now = prober.next_time();
    while (const auto ev = prober.next_due(now, kRtt, kSettings)) {
      ASSERT_GE(now, added[*ev] + kRtt);
      if (ev->raw() % 2 == 0 && prober.answered(*ev, now + kRtt, kRtt, kSettings)) ++good;
    }
  }
  EXPECT_EQ(good, 10);
  EXPECT_FALSE(prober.empty());
  for (std::uint8_t i = 1; i < 20; i += 2) prober.remove(EvIndex(i));
  EXPECT_TRUE(prober.empty());
}

// MRC 7.4.8
TEST(EvProber, ProbesSoonAgainWhenThePortOfAnEvIsBack) {
  EvProber prober;
  const EvIndex other(200);
  prober.add(kEv, kStart, kRtt);
  prober.add(other, kStart, kRtt);
  Instant now = kStart;
  for (int i = 0; i < 12; ++i) {  // no response
    now = prober.next_time();
    while (prober.next_due(now, kRtt, kSettings)) {
    }
  }
  ASSERT_GT(prober.next_time(), now + kRtt * 4);
  prober.start_again({.first = kEv.raw(), .count = 1}, now, kRtt);
  EXPECT_EQ(prober.next_time(), now + kRtt);
  EXPECT_EQ(prober.next_due(now + kRtt, kRtt, kSettings), kEv);
  EXPECT_EQ(prober.next_due(now + kRtt, kRtt, kSettings), std::nullopt) << "the other has to wait";
}

TEST(EvProber, AProbeIsNotDueTwiceAtOneTimeHoweverShortTheRoundTrip) {
  // The owner asks until nothing is due.
  EvProber prober;
  prober.add(kEv, kStart, Duration(0));
  int probes = 0;
  while (probes < 100 && prober.next_due(kStart, Duration(0), kSettings)) ++probes;
  EXPECT_EQ(probes, 1);
}

}  // namespace
}  // namespace openmrc::core
