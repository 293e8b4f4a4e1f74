// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/congestion/nscc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/core/congestion/congestion.h"

namespace openmrc::core {
namespace {

constexpr std::int64_t kMtu = 4096;
constexpr std::int64_t kGigabit = 1'000'000'000;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

// The network of reference, in which all of UET's scaling is 1: 100 Gb/s and 12 us. The target
// delay is 9 us, the largest window 225,000 bytes, and 32,768 bytes received make increases take
// effect.
constexpr NetworkFigures kReference{.mtu = ByteCount(kMtu),
                                    .base_rtt = microseconds(12),
                                    .link_bits_per_second = 100 * kGigabit,
                                    .trimming = true};
constexpr std::int64_t kMaxWindow = 225'000;
constexpr Duration kTarget = microseconds(9);
constexpr Duration kEpoch = microseconds(21);  // of quick adapt: base RTT + target
constexpr Instant kStart(1'000'000);

NetworkFigures without_trimming(NetworkFigures network) {
  network.trimming = false;
  return network;
}

struct Sack {
  Duration after = {};  // since kStart
  std::int64_t received = 0;
  bool marked = false;
  Duration delay = {};
  std::int64_t in_flight = 0;
  std::uint8_t penalty = 0;
  bool restore = false;
};

// A sender in mid-flow: its epoch of quick adapt and its adjustment period began at kStart.
class Sender {
 public:
  explicit Sender(std::int64_t window, const NsccSettings& settings = nscc_defaults(kReference))
      : nscc_(settings), base_rtt_(settings.base_rtt) {
    sack({.marked = true});
    nscc_.on_loss({.now = kStart, .size = nscc_.window() - ByteCount(window), .in_flight = {}});
    EXPECT_EQ(nscc_.window().raw(), window);
  }

  // Returns the window.
  std::int64_t sack(const Sack& sack) {
    nscc_.on_sack({.now = kStart + sack.after,
                   .newly_received = ByteCount(sack.received),
                   .congested = sack.marked,
                   .rtt = base_rtt_ + sack.delay,
                   .in_flight = ByteCount(sack.in_flight),
                   .receiver_penalty = sack.penalty,
                   .restore_window = sack.restore});
    return window();
  }
  std::int64_t trim(Duration after, std::int64_t in_flight) {
    nscc_.on_trim(
        {.now = kStart + after, .size = ByteCount(kMtu), .in_flight = ByteCount(in_flight)});
    return window();
  }

  // Lets the average delay become `delay`, or nearly so, without moving anything else.
  void get_used_to(Duration delay) {
    for (int i = 0; i < 1'000; ++i) sack({.marked = delay >= kTarget, .delay = delay});
  }

  Nscc& nscc() { return nscc_; }
  [[nodiscard]] std::int64_t window() const { return nscc_.window().raw(); }

 private:
  Nscc nscc_;
  Duration base_rtt_;
};

// --- The four cases ---

// CC-14
TEST(NsccCases, NoMarkAndLittleDelayGrowsInProportionToTheDelayThatIsLeft) {
  // alpha is 4 * MTU / 12 us: of a window of which 40 % arrive with 6 us to spare, 4 * MTU * 0.2.
  Sender sender(100'000);
  EXPECT_EQ(sender.sack({.received = 40'000, .delay = microseconds(3)}), 103'276);
  Sender nearer(100'000);
  EXPECT_EQ(nearer.sack({.received = 40'000, .delay = microseconds(6)}), 101'638);
}

// CC-15
TEST(NsccCases, NoMarkAndMuchDelayGrowsByTheFairIncrease) {
  // 5 MTU for a whole window, so that small windows gain on large ones.
  for (const Duration delay : {kTarget, kTarget * 3}) {
    Sender sender(100'000);
    EXPECT_EQ(sender.sack({.received = 40'000, .delay = delay}), 100'000 + 5 * kMtu * 4 / 10);
    Sender small(50'000);
    EXPECT_EQ(small.sack({.received = 40'000, .delay = delay}), 50'000 + 5 * kMtu * 8 / 10);
  }
}

// CC-16
TEST(NsccCases, MarkAndLittleDelayIsLeftToLoadBalancing) {
  Sender sender(100'000);
  sender.get_used_to(kTarget - nanoseconds(1));
  EXPECT_EQ(sender.sack({.received = 40'000, .marked = true, .delay = kTarget - nanoseconds(1)}),
            100'000);
}

// CC-17
TEST(NsccCases, MarkAndMuchDelayTakesAwayTheExcess) {
  Sender sender(100'000);
  const Duration delay = microseconds(12);
  while (sender.window() == 100'000) sender.sack({.marked = true, .delay = delay});
  // The average has just risen above the target, so the first cut is small.
  EXPECT_GT(sender.window(), 98'000);
  const std::int64_t before = sender.window();
  sender.get_used_to(delay);
  EXPECT_EQ(sender.window(), before) << "a second cut in the same base RTT";
  const Duration later = microseconds(12) + nanoseconds(1);
  sender.sack({.after = later, .marked = true, .delay = delay});
  // 1 - 0.8 * (12 - 9) / 12; then the period is over and eta comes on top.
  EXPECT_NEAR(static_cast<double>(sender.window()), static_cast<double>(before) * 0.8 + 614, 20);
}

// --- Increases ---

// CC-31
TEST(Nscc, IncreasesTakeEffectOnceEnoughBytesArrived) {
  Sender sender(100'000);
  const Sack part{.received = 8 * kMtu / 2, .delay = kTarget};
  EXPECT_EQ(sender.sack(part), 100'000);
  EXPECT_EQ(sender.sack(part), 100'000) << "the threshold must be exceeded";
  EXPECT_EQ(sender.sack({.received = 1, .delay = kTarget}),
            100'000 + 5 * kMtu * (8 * kMtu + 1) / 100'000);
}

// CC-31
TEST(Nscc, IncreasesTakeEffectOnceAPeriodHasPassedAndThenEtaIsAdded) {
  Sender sender(100'000);
  const Duration period = microseconds(12);
  EXPECT_EQ(sender.sack({.after = period - nanoseconds(1), .received = 10'000, .delay = kTarget}),
            100'000);
  const std::int64_t eta = 15 * kMtu / 100;
  EXPECT_EQ(sender.sack({.after = period, .delay = kTarget}), 100'000 + 2'048 + eta);
  EXPECT_EQ(sender.sack({.after = period * 2, .marked = true}), 100'000 + 2'048 + 2 * eta);
}

// Other increases do not take effect here.
NsccSettings fast_increase_only() {
  NsccSettings settings = nscc_defaults(kReference);
  settings.adjust_bytes = ByteCount(kMaxWindow);
  return settings;
}

// CC-32
TEST(Nscc, GrowsFastOnceAWholeWindowMetNoQueue) {
  Sender sender(40'000, fast_increase_only());
  const Sack quiet{.received = 10'000, .delay = nanoseconds(999)};
  for (int i = 0; i < 4; ++i) sender.sack(quiet);
  EXPECT_EQ(sender.window(), 40'000);
  EXPECT_EQ(sender.sack(quiet), 42'500) << "a quarter of what arrives";
  EXPECT_EQ(sender.sack(quiet), 45'000);
  // A queue, however short, ends it, and the count starts again.
  sender.sack({.received = 10'000, .delay = microseconds(1)});
  for (int i = 0; i < 4; ++i) sender.sack(quiet);
  EXPECT_EQ(sender.window(), 45'000);
  EXPECT_EQ(sender.sack(quiet), 47'500);
}

// CC-32
TEST(Nscc, FastIncreaseEndsWithADecrease) {
  Sender sender(40'000, fast_increase_only());
  const Sack quiet{.received = 10'000};
  for (int i = 0; i < 5; ++i) sender.sack(quiet);
  sender.sack({.marked = true, .delay = kTarget});
  EXPECT_EQ(sender.sack(quiet), 42'500);
}

// CC-19
TEST(Nscc, NeverGrowsBeyondTheLargestWindow) {
  Sender sender(200'000);
  for (int i = 1; i < 100; ++i) sender.sack({.after = microseconds(i), .received = 50'000});
  EXPECT_EQ(sender.window(), kMaxWindow);
}

// CC-22
TEST(Nscc, WithoutAnRttOnlyCounts) {
  Nscc nscc(nscc_defaults(kReference));
  nscc.on_loss({.now = kStart, .size = ByteCount(125'000), .in_flight = {}});
  for (int i = 0; i < 10; ++i) {
    nscc.on_sack({.now = kStart + microseconds(i), .newly_received = ByteCount(50'000), .rtt = {}});
  }
  EXPECT_EQ(nscc.window().raw(), 100'000);
}

// --- The average delay ---

// CC-27
TEST(Nscc, TheAverageDelayIsThatOfTwoWindowsHoweverMuchASackReports) {
  const auto average_after = [](std::int64_t window, std::int64_t received) {
    Sender sender(window);
    for (std::int64_t sum = 0; sum < 2 * window; sum += received) {
      sender.sack({.received = received, .marked = true, .delay = kTarget - nanoseconds(1)});
    }
    return static_cast<double>((sender.nscc().rtt() - sender.nscc().base_rtt()).raw());
  };
  // 1 - 1/e of the way to the new delay.
  const double expected = 0.632 * static_cast<double>(kTarget.raw());
  EXPECT_NEAR(average_after(200'000, 5'000), expected, expected * 0.05);
  EXPECT_NEAR(average_after(200'000, 20'000), expected, expected * 0.05);
  EXPECT_NEAR(average_after(50'000, 5'000), expected, expected * 0.05);
}

// --- The hint ---

// CC-21
TEST(Nscc, WhoKnowsHowManySendBeginsWithItsShare) {
  Nscc nscc(nscc_defaults(kReference));
  nscc.expect_senders(1);
  EXPECT_EQ(nscc.window().raw(), kMaxWindow);
  nscc.expect_senders(5);
  EXPECT_EQ(nscc.window().raw(), kMaxWindow / 5);
  nscc.expect_senders(1'000'000);
  EXPECT_EQ(nscc.window().raw(), kMtu);
}

TEST(Nscc, TheHintComesTooLateOnceThereIsFeedback) {
  Sender sender(100'000);
  sender.sack({.received = 1'000, .marked = true});
  const std::int64_t before = sender.window();
  sender.nscc().expect_senders(100);
  EXPECT_EQ(sender.window(), before);
}

// --- Decreases ---

// CC-33
TEST(Nscc, OneDecreaseLeavesAtLeastHalf) {
  Sender sender(200'000);
  sender.get_used_to(milliseconds(1));  // 1 - 0.8 * 0.99 would be a fifth
  EXPECT_GT(sender.window(), 100'000) << "the first cut came as soon as the average was too high";
  const std::int64_t before = sender.window();
  sender.sack({.after = microseconds(12), .marked = true, .delay = milliseconds(1)});
  EXPECT_EQ(sender.window(), before + 614) << "base RTT reached but not exceeded; eta";
  sender.sack({.after = microseconds(13), .marked = true, .delay = milliseconds(1)});
  EXPECT_EQ(sender.window(), (before + 614) / 2);
}

// CC-19
TEST(Nscc, DecreasesEndAtOnePacket) {
  Sender sender(200'000);
  for (int i = 1; i < 300; ++i) {
    sender.sack({.after = microseconds(13) * i, .marked = true, .delay = milliseconds(1)});
  }
  EXPECT_EQ(sender.window(), kMtu + 614) << "eta is added after each cut";
}

// CC-44
TEST(Nscc, ATrimTakesItsSizeFromTheWindow) {
  Sender sender(100'000);
  EXPECT_EQ(sender.trim(nanoseconds(1), 50'000), 100'000 - kMtu);
  for (int i = 0; i < 100; ++i) sender.trim(nanoseconds(1), 50'000);
  EXPECT_EQ(sender.window(), kMtu);
}

// CC-44
TEST(Nscc, TrimsRaiseTheAverageDelayTowardsTheBaseRtt) {
  Sender sender(100'000);
  for (int i = 0; i < 1'000; ++i) sender.trim(nanoseconds(1), 50'000);
  EXPECT_NEAR(static_cast<double>(sender.nscc().rtt().raw()), 24'000, 2);
}

// CC-45
TEST(Nscc, ALossTakesItsSizeFromTheWindow) {
  Sender sender(100'000);
  const LossSignal loss{.now = kStart, .size = ByteCount(1'000), .in_flight = {}};
  sender.nscc().on_loss(loss);
  EXPECT_EQ(sender.window(), 99'000);
  for (int i = 0; i < 100; ++i) sender.nscc().on_loss(loss);
  EXPECT_EQ(sender.window(), kMtu);
}

// REL-43
TEST(Nscc, ALossThatWasNoneIsGivenBack) {
  Sender sender(100'000);
  sender.nscc().on_loss({.now = kStart, .size = ByteCount(1'000), .in_flight = {}});
  sender.nscc().on_spurious_loss(ByteCount(1'000));
  EXPECT_EQ(sender.window(), 100'000);
}

// --- Round trip times ---

// CC-28
TEST(Nscc, DelayOfAQueueThatHasDrainedCountsLittleInTheAverage) {
  Sender sender(100'000);
  for (int i = 0; i < 1'000; ++i) sender.sack({.delay = microseconds(50)});
  EXPECT_NEAR(static_cast<double>(sender.nscc().rtt().raw()), 15'000, 2) << "a quarter more";
  sender.get_used_to(microseconds(50));
  EXPECT_NEAR(static_cast<double>(sender.nscc().rtt().raw()), 62'000, 2);
}

// CC-23
TEST(Nscc, AShorterBaseRttMakesTheLargestWindowSmaller) {
  Sender sender(200'000);
  sender.sack({.delay = microseconds(-3)});
  EXPECT_EQ(sender.nscc().base_rtt(), microseconds(9));
  EXPECT_EQ(sender.nscc().max_window().raw(), kMaxWindow * 3 / 4);
  EXPECT_EQ(sender.window(), kMaxWindow * 3 / 4);
  sender.sack({.delay = microseconds(-2)});
  EXPECT_EQ(sender.nscc().base_rtt(), microseconds(9)) << "the least seen";
}

// CC-23
TEST(Nscc, TheBaseRttStaysAsConfiguredIfItIsNotMeasured) {
  NsccSettings settings = nscc_defaults(kReference);
  settings.measures_base_rtt = false;
  Sender sender(200'000, settings);
  sender.sack({.delay = microseconds(-6)});
  EXPECT_EQ(sender.nscc().base_rtt(), microseconds(12));
  EXPECT_EQ(sender.nscc().least_rtt(), microseconds(6));
  EXPECT_EQ(sender.nscc().max_window().raw(), kMaxWindow);
  EXPECT_GE(sender.window(), 200'000) << "and a short round trip meets no queue";
  EXPECT_EQ(sender.nscc().rtt(), microseconds(12));
}

// CC-24
TEST(Nscc, NoTimestampTakesTheBaseRttBelowAQuarter) {
  Sender sender(200'000);
  sender.sack({.delay = microseconds(-12)});
  sender.sack({.delay = microseconds(-1'000)});
  EXPECT_EQ(sender.nscc().base_rtt(), microseconds(12)) << "no time at all was not measured";
  sender.sack({.delay = nanoseconds(-11'999)});
  EXPECT_EQ(sender.nscc().base_rtt(), microseconds(3));
  EXPECT_EQ(sender.nscc().max_window().raw(), kMaxWindow / 4);
}

// --- Quick adapt ---

// CC-34
TEST(NsccQuickAdapt, TakesWhatArrivedForTheWindow) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .marked = true});
  EXPECT_EQ(sender.trim(kEpoch, 60'000), 20'000);
}

// CC-36
TEST(NsccQuickAdapt, LeavesAPacketIfLessArrived) {
  Sender sender(200'000);
  EXPECT_EQ(sender.trim(kEpoch, 60'000), kMtu);
}

// That others send to the receiver too is known from the first packet that is trimmed there.
// CC-37
TEST(NsccQuickAdapt, DoesNotWaitForTheEndOfTheFirstEpochWhenTheLastHopTrims) {
  NetworkFigures fast = kReference;
  fast.link_bits_per_second *= 8;
  Nscc nscc(nscc_defaults(fast));
  const std::int64_t least = nscc.max_window().raw() / 64;
  ASSERT_GT(least, kMtu);
  const auto trim = [&](Duration after, bool last_hop) {
    nscc.on_trim({.now = kStart + after,
                  .size = ByteCount(kMtu),
                  .in_flight = ByteCount(0),
                  .last_hop = last_hop});
    return nscc.window().raw();
  };
  EXPECT_EQ(trim({}, false), nscc.max_window().raw() - kMtu) << "another path may be free";
  EXPECT_EQ(trim(nanoseconds(1), true), least);
  EXPECT_EQ(trim(nanoseconds(2), true), least - kMtu) << "the second epoch is as long as ever";
}

// CC-34
TEST(NsccQuickAdapt, WaitsForTheEndOfItsEpochAndThenRemembersTheTrim) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .marked = true});
  EXPECT_EQ(sender.trim(kEpoch - nanoseconds(1), 60'000), 200'000 - kMtu);
  EXPECT_EQ(sender.sack({.after = kEpoch, .received = 5'000, .in_flight = 55'000}), 25'000);
}

// CC-34
TEST(NsccQuickAdapt, HappensOnceInAnEpoch) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .marked = true});
  sender.trim(kEpoch, 0);
  EXPECT_EQ(sender.trim(kEpoch * 2 - nanoseconds(1), 0), 20'000 - kMtu);
  EXPECT_EQ(sender.trim(kEpoch * 2, 0), kMtu) << "nothing arrived in the second";
}

// CC-35
TEST(NsccQuickAdapt, IgnoresMarksOnWhatWasInFlight) {
  Sender sender(200'000);
  sender.get_used_to(kTarget * 2);
  sender.sack({.received = 20'000, .marked = true});
  sender.trim(kEpoch, 60'000);
  const Duration later = kEpoch * 2;
  const Sack marked{.after = later, .received = 20'000, .marked = true, .delay = kTarget * 2};
  EXPECT_EQ(sender.sack(marked), 20'000);
  EXPECT_EQ(sender.trim(later, 30'000), 20'000) << "a trim is a mark";
  EXPECT_EQ(sender.sack({.after = later, .marked = true, .delay = kTarget * 2}), 20'000);
  // 60,000 bytes later marks count again.
  sender.sack(marked);
  EXPECT_LT(
      sender.sack({.after = later * 2, .received = 40'000, .marked = true, .delay = kTarget * 2}),
      20'000);
}

// CC-35
TEST(NsccQuickAdapt, NoLongerIgnoresWhatWasTrimmedOrLost) {
  Sender sender(200'000);
  sender.get_used_to(kTarget * 2);
  sender.sack({.received = 28'000, .marked = true});
  EXPECT_EQ(sender.trim(kEpoch, 20'000), 28'000);
  const Duration later = kEpoch * 2;
  EXPECT_EQ(sender.trim(later, 20'000 - kMtu), 28'000);
  sender.nscc().on_loss(
      {.now = kStart + later, .size = ByteCount(20'000 - kMtu), .in_flight = ByteCount(0)});
  const std::int64_t left = 28'000 - (20'000 - kMtu);
  EXPECT_EQ(sender.window(), left);
  EXPECT_NE(sender.sack({.after = later, .marked = true, .delay = kTarget * 2}), left);
}

TEST(NsccQuickAdapt, ForgetsAnOldTrim) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .marked = true});
  EXPECT_EQ(sender.trim(kEpoch, 0), 20'000);
  EXPECT_GT(sender.sack({.after = kEpoch * 2, .received = 5'000}), 20'000);
}

// CC-34
TEST(NsccQuickAdapt, CancelsTheIncreaseThatWasOwed) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .delay = kTarget});
  EXPECT_EQ(sender.trim(kEpoch, 0), 20'000);
  EXPECT_EQ(sender.sack({.after = kEpoch, .received = 5'000, .delay = kTarget}),
            20'000 + 5 * kMtu / 4 + 614);
}

TEST(NsccQuickAdapt, StillGrowsWithWhatIsNotMarked) {
  Sender sender(200'000);
  sender.sack({.received = 20'000, .marked = true});
  sender.trim(kEpoch, 60'000);
  EXPECT_GT(sender.sack({.after = kEpoch, .received = 40'000, .delay = kTarget}), 20'000);
}

// CC-34
TEST(NsccQuickAdapt, NotWhenEnoughArrived) {
  Sender enough(200'000);
  enough.sack({.received = kMaxWindow / 8, .marked = true});
  EXPECT_EQ(enough.trim(kEpoch, 60'000), 200'000 - kMtu);
  Sender short_of_it(200'000);
  short_of_it.sack({.received = kMaxWindow / 8 - 1, .marked = true});
  EXPECT_EQ(short_of_it.trim(kEpoch, 60'000), kMaxWindow / 8 - 1);
}

TEST(NsccQuickAdapt, NotWhenDisabled) {
  NsccSettings settings = nscc_defaults(kReference);
  settings.quick_adapt = false;
  Sender sender(200'000, settings);
  sender.sack({.received = 20'000, .marked = true});
  EXPECT_EQ(sender.trim(kEpoch, 60'000), 200'000 - kMtu);
}

TEST(NsccQuickAdapt, NotWithTheFirstSignal) {
  Nscc nscc(nscc_defaults(kReference));
  nscc.on_trim({.now = kStart, .size = ByteCount(kMtu), .in_flight = ByteCount(60'000)});
  EXPECT_EQ(nscc.window().raw(), kMaxWindow - kMtu);
}

// CC-34
TEST(NsccQuickAdapt, ByDelayAloneOnlyWhereNothingIsTrimmed) {
  const Sack late{.after = kEpoch * 2, .received = 20'000, .delay = microseconds(49)};
  Sender trimming(200'000);
  EXPECT_GT(trimming.sack(late), 200'000);
  Sender dropping(200'000, nscc_defaults(without_trimming(kReference)));
  EXPECT_EQ(dropping.sack(late), 20'000);
  Sender less_late(200'000, nscc_defaults(without_trimming(kReference)));
  EXPECT_GT(less_late.sack({.after = kEpoch * 2, .received = 20'000, .delay = microseconds(48)}),
            200'000);
}

// --- Receiver penalty ---

// Sends as much as the window allows while `bytes` arrive, one SACK for each packet.
void receive_with_penalty(Sender& sender, std::int64_t bytes, std::uint8_t penalty) {
  std::int64_t in_flight = sender.window();
  for (std::int64_t received = 0; received < bytes; received += kMtu) {
    in_flight -= kMtu;
    sender.sack({.after = nanoseconds(12'000 * received / bytes),
                 .received = kMtu,
                 .delay = microseconds(3),
                 .in_flight = in_flight,
                 .penalty = penalty});
    in_flight = std::max(in_flight, sender.window());
  }
}

// CC-40
TEST(NsccReceiverPenalty, Of64OverOneRttHalvesTheWindow) {
  Sender sender(200'000);
  receive_with_penalty(sender, 200'000, 64);
  EXPECT_NEAR(static_cast<double>(sender.window()), 100'000, kMtu);
}

// CC-40
TEST(NsccReceiverPenalty, Of127LeavesOnePacket) {
  for (const std::uint8_t penalty : {std::uint8_t{127}, std::uint8_t{255}}) {
    Sender sender(200'000);
    receive_with_penalty(sender, 200'000, penalty);
    EXPECT_EQ(sender.window(), kMtu);
  }
}

// CC-40
TEST(NsccReceiverPenalty, StartsFromWhatTheSenderUses) {
  Sender sender(200'000);
  EXPECT_EQ(sender.sack({.received = 10'000, .in_flight = 50'000, .penalty = 64}), 55'000);
}

// CC-42
TEST(NsccReceiverPenalty, IsUndoneOnRequestOnly) {
  Sender sender(200'000);
  receive_with_penalty(sender, 200'000, 64);
  const std::int64_t penalised = sender.window();
  EXPECT_EQ(sender.sack({.marked = true}), penalised);
  receive_with_penalty(sender, 200'000, 64);
  EXPECT_EQ(sender.sack({.marked = true, .restore = true}), 200'000) << "as before the first";
  EXPECT_EQ(sender.sack({.received = 10'000, .in_flight = 0, .penalty = 64}), 5'000);
  EXPECT_EQ(sender.sack({.marked = true, .restore = true}), 200'000);
  sender.nscc().on_loss({.now = kStart, .size = ByteCount(1'000), .in_flight = {}});
  EXPECT_EQ(sender.sack({.marked = true, .restore = true}), 199'000) << "there is nothing left";
}

TEST(NsccReceiverPenalty, RestoringWithoutAPenaltyChangesNothing) {
  Sender sender(200'000);
  EXPECT_EQ(sender.sack({.marked = true, .restore = true}), 200'000);
}

// CC-41
TEST(NsccReceiverPenalty, SuppressesIncreases) {
  Sender sender(100'000);
  sender.sack({.received = 30'000, .delay = kTarget});  // owed, but not yet added
  // A penalty of 1 on so few bytes takes nothing away.
  for (int i = 1; i < 1'000; ++i) {
    sender.sack({.after = microseconds(i),
                 .received = 100,
                 .delay = i % 2 == 0 ? Duration() : kTarget,
                 .in_flight = 100'000,
                 .penalty = 1});
  }
  EXPECT_EQ(sender.window(), 100'000);
  EXPECT_EQ(sender.sack({.after = milliseconds(1), .marked = true}), 100'000 + 614) << "only eta";
}

// --- Settings ---

// CC-18
TEST(NsccDefaults, AreThoseThatTheUecSimulatorPrints) {
  // 800 Gb/s, leaf and spine. The simulator's MTU counts 64 bytes of headers that it leaves out of
  // these formulas; its base RTT is 8168.56 ns.
  const NsccSettings settings = nscc_defaults({.mtu = ByteCount(4150 - 64),
                                               .base_rtt = nanoseconds(8'169),
                                               .link_bits_per_second = 800 * kGigabit,
                                               .trimming = true});
  EXPECT_EQ(settings.target_delay.raw(), 6'126);
  EXPECT_NEAR(static_cast<double>(settings.max_window.raw()), 1'225'284, 100);
  EXPECT_NEAR(static_cast<double>(settings.fi.raw()), 111'256, 10);
  EXPECT_NEAR(static_cast<double>(settings.eta.raw()), 3'338, 1);
  EXPECT_NEAR(settings.fi_scale_q16 / 65'536.0, 1.36, 0.005);
  EXPECT_NEAR(static_cast<double>(nscc_alpha(settings).raw()) / 12'000, 7.42, 0.005);  // B/ns
  EXPECT_NEAR(settings.gamma_q16 / 65'536.0, 0.8, 1e-5);
  EXPECT_EQ(settings.max_md_jump_q16, kQ16One / 2);
  EXPECT_EQ(settings.adjust_bytes.raw(), 8 * 4'086);
  EXPECT_EQ(settings.adjust_period.raw(), 8'169);
  EXPECT_TRUE(settings.quick_adapt);
  EXPECT_EQ(settings.qa_gate, 3u);
  EXPECT_EQ(settings.qa_threshold, kNoQaThreshold);
}

// CC-18
TEST(NsccDefaults, WithoutTrimmingAllowMoreDelay) {
  const NsccSettings settings = nscc_defaults(without_trimming(kReference));
  EXPECT_EQ(settings.target_delay, microseconds(12));
  EXPECT_EQ(settings.qa_threshold, microseconds(48));
}

// CC-18
TEST(NsccDefaults, OfTheReferenceNetworkAreUnscaled) {
  const NsccSettings settings = nscc_defaults(kReference);
  EXPECT_EQ(settings.max_window.raw(), kMaxWindow);
  EXPECT_EQ(settings.fi.raw(), 5 * kMtu);
  EXPECT_EQ(settings.fi_scale_q16, kQ16One / 4);
  EXPECT_EQ(nscc_alpha(settings).raw(), 4 * kMtu);
}

TEST(NsccDefaults, OfASlowLinkStillLetOnePacketGo) {
  NetworkFigures slow = kReference;
  slow.link_bits_per_second = kGigabit;
  EXPECT_EQ(Nscc(nscc_defaults(slow)).window().raw(), kMtu);
}

// --- Arithmetic ---

// CC-30
TEST(NsccArithmetic, HasRoomFor800GigabitOver100Microseconds) {
  const NsccSettings settings = nscc_defaults({.mtu = ByteCount(9'216),
                                               .base_rtt = microseconds(100),
                                               .link_bits_per_second = 800 * kGigabit,
                                               .trimming = true});
  EXPECT_EQ(settings.max_window.raw(), 15'000'000);
  EXPECT_EQ(settings.fi.raw(), 3'072'000);
  // 32 bits would wrap at 4 GB * B; this is 200 times as much.
  Sender sender(10'000'000, settings);
  EXPECT_EQ(sender.sack({.received = 300'000, .delay = microseconds(80)}), 10'000'000 + 92'160);
  Sender quiet(10'000'000, settings);
  EXPECT_EQ(quiet.sack({.received = 300'000, .delay = microseconds(25)}), 10'000'000 + 307'200);
  // A whole window in one SACK, and a window of one packet.
  Sender tiny(9'216, settings);
  EXPECT_EQ(tiny.sack({.received = 15'000'000, .delay = microseconds(80)}), 15'000'000);
}

// Each end of the range of a number, and anything between, in all orders of magnitude.
std::int64_t any_number(Rng& rng) {
  const std::array<std::int64_t, 6> ends{0, 1, -1, kLargest, kSmallest, std::int64_t{1} << 32};
  if (rng.chance({1, 4})) return ends.at(rng.below(ends.size()));
  const auto bits = static_cast<std::int64_t>(rng.next() >> rng.below(64));
  return rng.chance({1, 8}) ? -(bits >> 1) : bits;
}

void any_signal(Rng& rng, Instant now, CongestionControl& control) {
  const ByteCount size(any_number(rng));
  const ByteCount in_flight(any_number(rng));
  switch (rng.below(8)) {
    case 0: return control.on_trim({.now = now, .size = size, .in_flight = in_flight});
    case 1: return control.on_loss({.now = now, .size = size, .in_flight = in_flight});
    default: break;
  }
  SackSignal sack{.now = now, .newly_received = size, .in_flight = in_flight};
  sack.congested = rng.chance({1, 2});
  if (rng.chance({7, 8})) sack.rtt = Duration(any_number(rng));
  if (rng.chance({1, 8})) sack.receiver_penalty = static_cast<std::uint8_t>(rng.below(256));
  sack.restore_window = rng.chance({1, 8});
  control.on_sack(sack);
}

// `fresh` has the same settings and has heard nothing.
void expect_sane(const CongestionControl& control, const Nscc& fresh, ByteCount mtu) {
  EXPECT_GE(control.window().raw(), std::clamp<std::int64_t>(mtu.raw(), 1, 65'536));
  EXPECT_LE(control.window(), fresh.max_window());
  EXPECT_GE(control.base_rtt(), fresh.base_rtt() / 4);
  EXPECT_LE(control.base_rtt(), fresh.base_rtt());
  EXPECT_GE(control.rtt(), control.base_rtt());
  EXPECT_LE(control.rtt(), fresh.base_rtt() * 65);
}

void expect_sane_whatever_comes(const NsccSettings& settings, std::uint64_t seed) {
  const Nscc fresh(settings);
  CongestionControl control(settings);
  Rng rng(seed);
  Instant now = kStart;
  for (int i = 0; i < 20'000 && !testing::Test::HasFailure(); ++i) {
    now = now + nanoseconds(static_cast<std::int64_t>(rng.below(20'000)) - 1'000);
    any_signal(rng, now, control);
    expect_sane(control, fresh, settings.mtu);
  }
}

// CC-12
TEST(NsccArithmetic, KeepsTheWindowInItsBoundsWhateverThePeerSays) {
  expect_sane_whatever_comes(nscc_defaults(kReference), 1);
  expect_sane_whatever_comes(nscc_defaults(without_trimming(kReference)), 2);
  expect_sane_whatever_comes(nscc_defaults({.mtu = ByteCount(9'216),
                                            .base_rtt = microseconds(100),
                                            .link_bits_per_second = 800 * kGigabit,
                                            .trimming = true}),
                             3);
}

// CC-20
TEST(NsccArithmetic, KeepsTheWindowInItsBoundsWhateverTheSettingsAre) {
  expect_sane_whatever_comes(
      nscc_defaults({ByteCount(kLargest), Duration(kLargest), kLargest, true}), 1);
  expect_sane_whatever_comes(
      nscc_defaults({ByteCount(kSmallest), Duration(kSmallest), kSmallest, false}), 2);
  Rng rng(3);
  for (int i = 0; i < 50; ++i) {
    const auto ratio = [&] { return static_cast<std::int32_t>(any_number(rng)); };
    const NsccSettings settings{.mtu = ByteCount(any_number(rng)),
                                .base_rtt = Duration(any_number(rng)),
                                .target_delay = Duration(any_number(rng)),
                                .max_window = ByteCount(any_number(rng)),
                                .fi = ByteCount(any_number(rng)),
                                .eta = ByteCount(any_number(rng)),
                                .fi_scale_q16 = ratio(),
                                .gamma_q16 = ratio(),
                                .max_md_jump_q16 = ratio(),
                                .adjust_bytes = ByteCount(any_number(rng)),
                                .adjust_period = Duration(any_number(rng)),
                                .quick_adapt = rng.chance({3, 4}),
                                .qa_gate = static_cast<unsigned>(any_number(rng)),
                                .qa_threshold = Duration(any_number(rng))};
    expect_sane_whatever_comes(settings, 100 + static_cast<std::uint64_t>(i));
  }
}

}  // namespace
}  // namespace openmrc::core
