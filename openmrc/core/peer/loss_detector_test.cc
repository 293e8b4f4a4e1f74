// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/loss_detector.h"

#include <gtest/gtest.h>

#include <vector>

namespace openmrc::core {
namespace {

using Verdict = LossDetector::Verdict;

constexpr Duration kRtt = microseconds(10);
constexpr Duration kNoFloor{};
constexpr Instant kStart(1'000'000);

PathIndex path_at(std::size_t index) { return PathIndex(static_cast<std::uint8_t>(index)); }

// Packets to one peer, each on the path that it names.
class Flight {
 public:
  Flight() {
    losses_.start(8);
    chunk_ = pool_.take();
  }

  // Sends a packet at `when` after the start; returns its number.
  SentRef send(Duration when, std::size_t path) {
    const SentRef ref = chunk_ * 64 + next_++;
    SentPacket& packet = sent_packet(pool_, ref);
    packet.sent = kStart + when;
    packet.transmissions = 1;
    packet.path = path_at(path);
    losses_.on_sent(packet);
    return ref;
  }
  void arrive(SentRef ref) {
    const SentPacket& packet = sent_packet(pool_, ref);
    if (packet.sent < losses_.newest_arrived()) {
      losses_.on_reordered(losses_.newest_arrived() - packet.sent, packet.sent + kRtt);
    }
    losses_.on_arrived(packet, packet.sent + kRtt);
    losses_.on_sack(packet.sent);
  }
  [[nodiscard]] Verdict judge(SentRef ref, Duration floor = kNoFloor) {
    const SentPacket& packet = sent_packet(pool_, ref);
    return losses_.judge(packet, losses_.limits(losses_.newest_arrived(),
                                                losses_.newest_arrived() + kRtt, kRtt, floor));
  }
  [[nodiscard]] Duration tolerance(Instant now) { return losses_.tolerance(now, kRtt, kNoFloor); }
  LossDetector& losses() { return losses_; }

 private:
  SentPool pool_{64};
  PoolIndex chunk_ = 0;
  SentRef next_ = 0;
  LossDetector losses_;
};

// MRC 7.4.5 (REL-38)
TEST(LossDetector, APacketIsLateWhenSomethingSentMuchLaterHasArrived) {
  Flight flight;
  const SentRef early = flight.send({}, 0);
  flight.arrive(flight.send(kRtt * 7 / 8, 1));
  EXPECT_EQ(flight.judge(early), Verdict::kInFlight);
  flight.arrive(flight.send(kRtt * 7 / 8 + nanoseconds(1), 2));
  EXPECT_EQ(flight.judge(early), Verdict::kLate);
}

// MRC 7.4.5 (PATH-42, REL-37)
TEST(LossDetector, APacketIsOvertakenWhenALaterOneOnItsPathHasArrived) {
  Flight flight;
  const SentRef first = flight.send({}, 0);
  const SentRef other = flight.send({}, 1);
  flight.arrive(flight.send({}, 0));
  EXPECT_EQ(flight.judge(first), Verdict::kOvertaken);
  EXPECT_EQ(flight.judge(other), Verdict::kInFlight);
  flight.arrive(flight.send({}, 0));
  EXPECT_EQ(flight.judge(first), Verdict::kOvertakenTwice);
}

// REL-39
TEST(LossDetector, WaitsLongerOnceSomethingWasSeenToBeLate) {
  Flight flight;
  const SentRef late = flight.send({}, 0);
  flight.arrive(flight.send(kRtt * 7 / 10, 1));
  flight.arrive(late);
  EXPECT_EQ(flight.losses().lateness(), kRtt * 7 / 10);
  EXPECT_EQ(flight.tolerance(kStart + kRtt), kRtt * 7 / 10 + kRtt * 7 / 8);
  const SentRef next = flight.send(kRtt, 2);
  flight.arrive(flight.send(kRtt * 2, 1));
  EXPECT_EQ(flight.judge(next), Verdict::kInFlight);
  flight.arrive(flight.send(kRtt * 3, 1));
  EXPECT_EQ(flight.judge(next), Verdict::kLate);
}

// REL-39
TEST(LossDetector, WhatWasSeenFades) {
  Flight flight;
  flight.losses().on_spurious(kRtt * 2, kStart, kRtt);
  EXPECT_EQ(flight.tolerance(kStart + kRtt), kRtt * 2 + kRtt * 7 / 8);
  EXPECT_EQ(flight.tolerance(kStart + kRtt * 65), kRtt * 3 / 2 + kRtt * 7 / 8);
  Instant now = kStart + kRtt * 65;
  for (int i = 0; i < 40; ++i) {
    now = now + kRtt * 65;
    (void)flight.tolerance(now);
  }
  EXPECT_EQ(flight.tolerance(now), kRtt * 7 / 8);
}

// REL-38
TEST(LossDetector, HoweverLateSomethingWasThereIsAnEndToWaiting) {
  Flight flight;
  for (int i = 0; i < 100; ++i) flight.losses().on_spurious(kRtt * 50, kStart, kRtt);
  EXPECT_EQ(flight.tolerance(kStart), kRtt * 4);
}

// REL-43
TEST(LossDetector, ASpuriousLossOfUnknownLatenessWidensByAQuarter) {
  Flight flight;
  flight.losses().on_spurious({}, kStart, kRtt);
  EXPECT_EQ(flight.losses().lateness(), kRtt / 4);
  flight.losses().on_spurious({}, kStart, kRtt);
  EXPECT_EQ(flight.losses().lateness(), kRtt / 2);
}

// Hosts that are late at times: nothing is lost below the floor, and a path that still delivers is
// slow, not dead (REL-40).
TEST(LossDetector, BelowTheFloorNothingIsLost) {
  constexpr Duration kFloor = kRtt * 5;
  Flight flight;
  const SentRef overtaken = flight.send({}, 0);
  const SentRef early = flight.send({}, 1);
  flight.arrive(flight.send(kRtt * 4, 0));
  EXPECT_EQ(flight.judge(overtaken, kFloor), Verdict::kInFlight);
  EXPECT_EQ(flight.judge(early, kFloor), Verdict::kInFlight);
  flight.arrive(flight.send(kRtt * 6, 2));
  EXPECT_EQ(flight.judge(overtaken, kFloor), Verdict::kOvertaken);
  EXPECT_EQ(flight.judge(early, kFloor), Verdict::kLate);
}

// PATH-44
TEST(LossDetector, WithAFloorAPathThatStillDeliversIsSlowNotDead) {
  constexpr Duration kFloor = kRtt * 5;
  for (const bool delivers : {false, true}) {
    Flight flight;
    const SentRef late = flight.send(kRtt * 4, 1);
    flight.arrive(flight.send(kRtt * 10, 2));
    SentPacket earlier{};
    earlier.path = path_at(1);
    if (delivers) flight.losses().on_arrived(earlier, kStart + kRtt * 10);
    EXPECT_EQ(flight.judge(late, kFloor), delivers ? Verdict::kInFlight : Verdict::kLate);
  }
}

TEST(LossDetector, CountsWhatIsSettledOutOfOrderOnAPath) {
  Flight flight;
  const SentRef a = flight.send({}, 0);
  const SentRef b = flight.send({}, 0);
  const SentRef c = flight.send({}, 1);
  flight.arrive(c);
  EXPECT_EQ(flight.losses().gaps(), 0U);
  flight.arrive(b);
  EXPECT_EQ(flight.losses().gaps(), 1U);
  flight.arrive(a);
  flight.arrive(flight.send({}, 0));
  EXPECT_EQ(flight.losses().gaps(), 2U) << "from then on it is in order again";
}

}  // namespace
}  // namespace openmrc::core
