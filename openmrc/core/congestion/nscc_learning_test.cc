// SPDX-License-Identifier: BSD-3-Clause
// How NSCC learns a base RTT that nobody knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/rng.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/congestion/nscc.h"

namespace openmrc::core {
namespace {

// A host that says neither how long nor how fast the way is: 375,000 bytes in 200 us.
constexpr Duration kGuess = microseconds(200);
constexpr std::int64_t kGuessedWindow = 375'000;
constexpr Duration kLongWay = milliseconds(5);
// What a packet of 4,096 bytes takes on four links of 10 Gb/s, if settings are whole numbers.
constexpr Duration kFullPacket = nanoseconds(4 * 3'276);
constexpr Instant kFirstSack(1'000'000'000);

NsccSettings guessed(Duration base_rtt = kGuess) {
  NsccSettings settings = nscc_defaults({.mtu = ByteCount(4096),
                                         .base_rtt = base_rtt,
                                         .link_bits_per_second = 10'000'000'000,
                                         .trimming = false});
  settings.measures_base_rtt = false;  // as in software
  return settings;
}

NsccSettings learning() {
  NsccSettings settings = guessed();
  settings.learns_base_rtt = true;
  return settings;
}

void hear(Nscc& nscc, Duration after, std::optional<Duration> rtt, std::int64_t received = 0) {
  nscc.on_sack({.now = kFirstSack + after,
                .newly_received = ByteCount(received),
                .rtt = rtt,
                .in_flight = ByteCount(received)});
}

// UET 3.6.13 (CC-26, CC-53)
TEST(NsccLearning, TakesTheLeastRoundTripOfDataAndProbe) {
  Nscc by_probe(learning());
  hear(by_probe, {}, kLongWay * 2);
  EXPECT_TRUE(by_probe.is_learning());
  by_probe.on_base_rtt(kLongWay - kFullPacket);
  EXPECT_EQ(by_probe.base_rtt(), kGuess) << "another probe may tell more";
  by_probe.end_learning();
  EXPECT_FALSE(by_probe.is_learning());
  EXPECT_EQ(by_probe.base_rtt(), kLongWay);

  // The probe waited behind what the first window filled.
  Nscc by_data(learning());
  hear(by_data, {}, kLongWay);
  by_data.on_base_rtt(kLongWay * 2);
  by_data.end_learning();
  EXPECT_EQ(by_data.base_rtt(), kLongWay);
  EXPECT_EQ(by_data.least_rtt(), kLongWay);
}

// CC-53: all that follows from the base RTT grows with it, the window included.
TEST(NsccLearning, IsThenAsIfItHadBeenConfigured) {
  Nscc learned(learning());
  Nscc told(guessed(kLongWay));
  EXPECT_EQ(learned.window().raw(), kGuessedWindow);
  hear(learned, {}, kLongWay);
  learned.on_base_rtt(kLongWay);
  learned.end_learning();
  hear(told, {}, std::nullopt);
  EXPECT_EQ(learned.max_window(), told.max_window());
  EXPECT_EQ(learned.window(), told.window());
  Rng rng(1);
  Duration after = kLongWay * 2;
  ByteCount least = learned.window();
  for (int i = 0; i < 2'000; ++i) {
    after = after + microseconds(static_cast<std::int64_t>(rng.below(500)));
    const SackSignal sack{
        .now = kFirstSack + after,
        .newly_received = ByteCount(static_cast<std::int64_t>(rng.below(65'536))),
        .congested = rng.chance({3, 4}),
        .rtt = kLongWay + microseconds(static_cast<std::int64_t>(rng.below(30'000))),
        .in_flight = learned.window()};
    learned.on_sack(sack);
    told.on_sack(sack);
    // Settings are whole numbers: those that were stretched differ by what was rounded before.
    ASSERT_NEAR(static_cast<double>(learned.window().raw()),
                static_cast<double>(told.window().raw()), 0.002 * kGuessedWindow * 25)
        << i;
    least = std::min(least, learned.window());
  }
  EXPECT_LT(least, learned.max_window() / 2) << "the window has moved";
}

// CC-22, CC-52: five milliseconds with a guess of 200 us look like a queue of 4.8 ms.
TEST(NsccLearning, MeanwhileTakesNoRoundTripForADelay) {
  Nscc unlearned(guessed());
  Nscc learner(learning());
  for (int i = 0; i < 20; ++i) {
    hear(unlearned, milliseconds(i), kLongWay, 8'192);
    hear(learner, milliseconds(i), kLongWay, 8'192);
  }
  EXPECT_LT(unlearned.window().raw(), kGuessedWindow / 8) << "quick adapt";
  EXPECT_EQ(learner.window().raw(), kGuessedWindow);
}

// CC-53: in software the usual round trip is much longer than that of an idle host.
TEST(NsccLearning, IsNeverShorterThanTheGuessUnlessShorterOnesCount) {
  Nscc software(learning());
  hear(software, {}, kGuess / 2);
  software.on_base_rtt(kGuess / 4 - kFullPacket);
  software.end_learning();
  EXPECT_FALSE(software.is_learning());
  EXPECT_EQ(software.base_rtt(), kGuess);
  EXPECT_EQ(software.window().raw(), kGuessedWindow);
  EXPECT_EQ(software.least_rtt(), kGuess / 4);

  NsccSettings settings = learning();
  settings.measures_base_rtt = true;
  Nscc measuring(settings);
  hear(measuring, {}, kGuess * 2);
  measuring.on_base_rtt(kGuess / 2 - kFullPacket);
  measuring.end_learning();
  EXPECT_EQ(measuring.base_rtt(), kGuess / 2);
  EXPECT_EQ(measuring.window().raw(), kGuessedWindow / 2);
}

// CC-53: a host that was late at first, or a probe that stood behind data, must not cost for good.
TEST(NsccLearning, IsCorrectedByAShorterRoundTripLater) {
  Nscc nscc(learning());
  hear(nscc, {}, kLongWay * 2);
  nscc.end_learning();
  EXPECT_EQ(nscc.base_rtt(), kLongWay * 2);
  hear(nscc, milliseconds(20), kLongWay);
  EXPECT_EQ(nscc.base_rtt(), kLongWay);
  EXPECT_EQ(nscc.window().raw(), kGuessedWindow * 25);
  hear(nscc, milliseconds(30), kGuess / 2);
  EXPECT_EQ(nscc.base_rtt(), kGuess);
  EXPECT_EQ(nscc.max_window().raw(), kGuessedWindow);
}

// CC-54
TEST(NsccLearning, NeedsNoAnswerIfDataHasMeasured) {
  Nscc measured(learning());
  hear(measured, {}, kLongWay);
  measured.end_learning();
  EXPECT_FALSE(measured.is_learning());
  EXPECT_EQ(measured.base_rtt(), kLongWay);

  Nscc unmeasured(learning());
  hear(unmeasured, {}, std::nullopt);
  unmeasured.end_learning();
  EXPECT_FALSE(unmeasured.is_learning());
  EXPECT_EQ(unmeasured.base_rtt(), kGuess);
  EXPECT_EQ(unmeasured.least_rtt(), kGuess);
}

// CC-52: whatever is sent once in a round trip must not be sent more often than that.
TEST(NsccLearning, MeanwhileARoundTripIsNoShorterThanTheLeastMeasured) {
  Nscc nscc(learning());
  EXPECT_EQ(nscc.rtt(), kGuess);
  hear(nscc, {}, kLongWay * 2);
  EXPECT_EQ(nscc.rtt(), kLongWay * 2);
  hear(nscc, {}, kLongWay);
  EXPECT_EQ(nscc.rtt(), kLongWay);
  hear(nscc, {}, kGuess / 2);
  EXPECT_EQ(nscc.rtt(), kGuess);
}

// CC-56: who only receives has probes alone.
TEST(NsccLearning, MayBeOverBeforeTheFirstSignal) {
  Nscc nscc(learning());
  Nscc told(guessed(kLongWay));
  nscc.on_base_rtt(kLongWay - kFullPacket);
  EXPECT_TRUE(nscc.is_learning());
  nscc.end_learning();
  EXPECT_FALSE(nscc.is_learning());
  EXPECT_EQ(nscc.base_rtt(), kLongWay);
  EXPECT_EQ(nscc.window(), told.window());
  for (Nscc* each : {&nscc, &told}) hear(*each, kLongWay, kLongWay * 3, 100'000);
  EXPECT_EQ(nscc.window(), told.window()) << "its first signal is one of many";
}

// CC-56: what it may send later tells more.
TEST(NsccLearning, IsNotOverBeforeTheFirstSignalIfNothingWasMeasured) {
  Nscc nscc(learning());
  nscc.end_learning();
  EXPECT_TRUE(nscc.is_learning());
  hear(nscc, {}, kLongWay);
  nscc.end_learning();
  EXPECT_EQ(nscc.base_rtt(), kLongWay);
}

// CC-26
TEST(NsccLearning, IsOverFromTheBeginningWhereTheBaseRttIsKnown) {
  Nscc nscc(guessed());
  EXPECT_FALSE(nscc.is_learning());
  hear(nscc, {}, kLongWay);
  nscc.on_base_rtt(kLongWay);
  nscc.end_learning();
  EXPECT_EQ(nscc.base_rtt(), kGuess);
  EXPECT_EQ(nscc.max_window().raw(), kGuessedWindow);
  EXPECT_FALSE(FixedWindow::is_learning());
}

// CC-55: a probe is small, and passes a slow link in no time.
TEST(NsccLearning, AddsToAProbeWhatAFullPacketTakesLonger) {
  for (const std::size_t planes : {1U, 2U, 8U}) {
    Nscc nscc(learning());
    hear(nscc, {}, std::nullopt);
    nscc.on_base_rtt(kLongWay, planes);
    nscc.end_learning();
    EXPECT_NEAR(static_cast<double>((nscc.base_rtt() - kLongWay).raw()),
                static_cast<double>(planes) * 4 * 4096 * 8 / 10, 4.0 * static_cast<double>(planes));
  }
  Nscc known(guessed());
  hear(known, {}, std::nullopt);
  known.on_base_rtt(kGuess / 2, 8);
  EXPECT_EQ(known.least_rtt(), kGuess / 2);
}

// CC-12, CC-53: a peer that answers late must not get any window that it likes.
TEST(NsccLearning, HasAnEnd) {
  Nscc late(learning());
  hear(late, {}, seconds(3));
  late.on_base_rtt(seconds(3));
  late.end_learning();
  EXPECT_EQ(late.base_rtt(), kGuess * NsccLimits::kRttMaxInBaseRtts);
  EXPECT_EQ(late.max_window().raw(), kGuessedWindow * NsccLimits::kRttMaxInBaseRtts);

  NsccSettings long_guess = guessed(milliseconds(20));
  long_guess.learns_base_rtt = true;
  Nscc later(long_guess);
  hear(later, {}, seconds(1));
  later.end_learning();
  EXPECT_EQ(later.base_rtt(), NsccLimits::kBaseRttMax);

  NsccSettings large = nscc_defaults({.mtu = ByteCount(4096),
                                      .base_rtt = milliseconds(1),
                                      .link_bits_per_second = 4'000'000'000'000,
                                      .trimming = true});
  large.learns_base_rtt = true;
  Nscc largest(large);
  hear(largest, {}, milliseconds(20));
  largest.end_learning();
  EXPECT_EQ(largest.window(), NsccLimits::kWindowMax);
}

}  // namespace
}  // namespace openmrc::core
