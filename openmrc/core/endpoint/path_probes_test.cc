// SPDX-License-Identifier: BSD-3-Clause
// Probes of bad paths and of reverse paths, and those for the base RTT.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/core/peer/base_rtt_probes.h"
#include "tests/support/endpoint_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::answer;
using test::ev_of;
using test::ev_probes;
using test::kMtu;
using test::kRtt;
using test::make_bad;
using test::only;
using test::ScriptedPeer;
using test::Sent;

constexpr Plane kPlane0{0};

// ---- bad paths ----

// MRC 7.4.7 (PATH-45, PATH-49)
TEST(PathProbes, ABadPathIsProbedAfterOneRoundTripThenEverMoreSeldom) {
  ScriptedPeer peer;
  const Ev bad = peer.ev(2);
  make_bad(peer, bad);
  std::vector<std::int64_t> gaps;  // in round trips
  Instant last = peer.now();
  for (unsigned i = 0; i < 7; ++i) {
    const Sent probes = ev_probes(peer.await_packets(seconds(1)));
    ASSERT_EQ(probes.size(), 1U);
    EXPECT_EQ(ev_of(probes[0]), bad);
    EXPECT_EQ(probes[0].plane, peer.profile().entry(EvIndex(2)).plane);
    gaps.push_back((peer.now() - last).raw() / kRtt.raw());
    last = peer.now();
  }
  // A probe has two round trips to be answered, however short the interval.
  EXPECT_EQ(gaps, (std::vector<std::int64_t>{1, 2, 2, 4, 8, 16, 32}));
  EXPECT_EQ(peer.count(Count::kEvProbesSent), 7U);
}

// MRC 7.4.7 (PATH-50)
TEST(PathProbes, ABadPathIsProbedEvery100MillisecondsAtTheLeast) {
  ScriptedPeer peer;
  make_bad(peer, peer.ev(2));
  for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(peer.await_packets(seconds(1)).size(), 1U);
  const Instant last = peer.now();
  ASSERT_EQ(peer.await_packets(seconds(1)).size(), 1U);
  EXPECT_EQ(peer.now() - last, milliseconds(100));
}

// MRC 9.3.1 (PATH-21, PATH-51, PATH-79)
TEST(PathProbes, ABadPathIsGoodAgainAfterThreeProbeSuccesses) {
  ScriptedPeer peer;
  const Ev bad = peer.ev(2);
  make_bad(peer, bad);
  (void)peer.events();
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(peer.ev_state(bad), EvState::kAssumedBad) << i;
    const Sent probes = ev_probes(peer.await_packets(seconds(1)));
    ASSERT_EQ(probes.size(), 1U);
    answer(peer, probes[0]);
  }
  EXPECT_EQ(peer.ev_state(bad), EvState::kGood);
  EXPECT_EQ(peer.count(Count::kEvsReadmitted), 1U);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 3U);
  const auto events = peer.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<EvChange>(events[0]).after, EvState::kGood);
  EXPECT_TRUE(peer.await_packets(seconds(1)).empty()) << "no more probes";
}

// MRC 9.3.1 (PATH-51)
TEST(PathProbes, TheProbeSuccessesMustBeConsecutive) {
  ScriptedPeer peer;
  make_bad(peer, peer.ev(2));
  for (const bool answered : {true, true, false, true, true}) {
    const Sent probes = ev_probes(peer.await_packets(seconds(1)));
    ASSERT_EQ(probes.size(), 1U);
    if (answered) answer(peer, probes[0]);
  }
  EXPECT_EQ(peer.ev_state(peer.ev(2)), EvState::kAssumedBad);
}

// MRC 9.3.1
TEST(PathProbes, ABadPathCarriesDataAgainOnceItIsGood) {
  ScriptedPeer peer({.evs_per_plane = 2});
  make_bad(peer, peer.ev(0));
  for (unsigned i = 0; i < 3; ++i) answer(peer, peer.await_packets(seconds(1)).at(0));
  peer.post(1, 4 * kMtu);
  std::set<Ev> evs;
  for (const Transmit& packet : peer.collect()) evs.insert(ev_of(packet));
  EXPECT_EQ(evs.size(), 2U);
}

// MRC 9.3.1 (PATH-30, PATH-38)
TEST(PathProbes, ABackupOfTheSamePlaneReplacesABadPath) {
  const EvFormat format{.mode = EvFormatMode::kStev, .slot_widths = {16, 16}};
  const std::vector<EvField> fields{{.width = 16, .max = 255, .mask = 255},
                                    {.width = 16, .init = 0xc000, .max = 255, .mask = 255}};
  ScriptedPeer peer({.planes = 2,
                     .profile = *EvProfile::generated({.format = format,
                                                       .fields = fields,
                                                       .count = 16,
                                                       .planes = 2,
                                                       .options = {.active_per_plane = 4}})});
  const auto in_use = [&] {
    peer.post(1, 16 * kMtu);
    std::set<Ev> evs;
    for (const Transmit& packet : peer.collect()) evs.insert(ev_of(packet));
    return evs;
  };
  const std::set<Ev> before = in_use();
  ASSERT_EQ(before.size(), 8U);
  const Ev bad = *before.begin();
  const Plane plane = peer.profile().entry(*peer.profile().find(bad)).plane;
  make_bad(peer, bad);
  const std::set<Ev> after = in_use();
  EXPECT_EQ(after.size(), 8U);
  EXPECT_FALSE(after.contains(bad));
  for (const Ev ev : after) {
    if (before.contains(ev)) continue;
    EXPECT_EQ(peer.profile().entry(*peer.profile().find(ev)).plane, plane);
  }
}

// MRC 7.4.7
TEST(PathProbes, AProbeOfAPeerThatIsGoneIsNotSentToTheNext) {
  ScriptedPeer peer;
  make_bad(peer, peer.ev(2));
  ASSERT_TRUE(peer.fire_next());
  ASSERT_TRUE(peer.endpoint().wants_to_send());
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(peer.qpn()));
  (void)peer.connect(Qpn(0x999), 9);
  EXPECT_EQ(ev_probes(peer.collect()).size(), 0U);
}

// MRC 9.3.1 (PATH-12, PATH-25, PATH-67)
TEST(PathProbes, ADeniedPathCarriesNothingUntilItIsAllowedAgain) {
  ScriptedPeer peer;
  const EvIndex denied(1);
  peer.endpoint().set_ev_denied(peer.now(), peer.ev_profile(), denied, true);
  EXPECT_EQ(peer.ev_state(peer.ev(1)), EvState::kDenied);
  peer.post(1, 12 * kMtu);
  for (const Transmit& packet : peer.collect()) EXPECT_NE(ev_of(packet), peer.ev(1));
  EXPECT_TRUE(ev_probes(peer.await_packets(microseconds(15))).empty()) << "nor is it probed";
  const Qpn other = peer.connect(Qpn(0x777), 9);
  EXPECT_EQ(peer.endpoint().peer_of(other)->paths.state(denied), EvState::kDenied);
  peer.endpoint().set_ev_denied(peer.now(), peer.ev_profile(), denied, false);
  EXPECT_EQ(peer.ev_state(peer.ev(1)), EvState::kGood);
  EXPECT_EQ(peer.endpoint().peer_of(other)->paths.state(denied), EvState::kGood);
}

// MRC 9.3.1 (PATH-52): all paths in use may have failed.
TEST(PathProbes, OneAnswerIsEnoughIfNothingElseIsHeardOfThePeer) {
  for (const bool silent : {false, true}) {
    ScriptedPeer peer({.evs_per_plane = 32, .timeout = 16});
    peer.post(1, 4 * kMtu);
    (void)peer.collect();
    make_bad(peer, peer.ev(2));
    Sent probes;
    while (probes.empty()) probes = ev_probes(peer.await_packets(kRtt * 2));
    if (silent) peer.advance(kRtt * 8);
    answer(peer, probes[0]);
    EXPECT_EQ(peer.ev_state(peer.ev(2)), silent ? EvState::kGood : EvState::kAssumedBad);
  }
}

// ---- reverse paths ----

// MRC 9.3.1 (PATH-70)
TEST(PathProbes, WhoOnlyReceivesProbesOnePathInEachRoundTrip) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 1U);
  peer.advance(kRtt / 2);
  peer.deliver(peer.write(1));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 0U);
  peer.advance(kRtt / 2);
  peer.deliver(peer.write(2));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 1U);
  peer.advance(kRtt * 100);
  EXPECT_EQ(ev_probes(peer.collect()).size(), 0U) << "nothing has arrived";
}

// MRC 9.3.1 (PATH-70)
TEST(PathProbes, WhoSendsTooDoesNotProbe) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  (void)peer.collect();
  peer.deliver(peer.write(0));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 0U);
}

// MRC 9.3.1 (PATH-68)
TEST(PathProbes, ControlPacketsTakeThePathThatWasLastSeenToWork) {
  ScriptedPeer peer({.evs_per_plane = 32});
  Ev confirmed{};
  for (std::int64_t i = 0; i < 10; ++i) {
    peer.deliver(peer.write(i));
    for (const Transmit& probe : ev_probes(peer.collect())) {
      answer(peer, probe);
      confirmed = ev_of(probe);
    }
    peer.advance(kRtt);
  }
  std::set<Ev> evs;
  for (std::int64_t i = 0; i < 10; ++i) {
    peer.deliver(peer.write(0));  // a duplicate: a SACK and an acknowledgement
    for (const Transmit& packet : peer.collect()) {
      if (ev_probes({packet}).empty()) evs.insert(ev_of(packet));
    }
  }
  EXPECT_TRUE(evs.contains(confirmed));
  EXPECT_LE(evs.size(), 3U) << "of three round trips";
}

// MRC 9.3.1 (PATH-69)
TEST(PathProbes, ControlPacketsUseEveryPlane) {
  ScriptedPeer peer({.planes = 4});
  std::set<Plane> planes;
  for (std::int64_t i = 0; i < 8; ++i) {
    peer.deliver(peer.write(i));
    for (const Transmit& packet : peer.collect()) planes.insert(packet.plane);
  }
  EXPECT_EQ(planes.size(), 4U);
}

// MRC 9.3.1 (PATH-72)
TEST(PathProbes, ControlPacketsLeaveAPlaneWhoseProbesGoUnanswered) {
  ScriptedPeer peer({.planes = 2});
  for (std::int64_t i = 0; i < 20; ++i) {
    peer.deliver(peer.write(i));
    for (const Transmit& probe : ev_probes(peer.collect())) {
      if (probe.plane == kPlane0) answer(peer, probe);
    }
    peer.advance(kRtt);
  }
  for (std::int64_t i = 0; i < 8; ++i) {
    peer.deliver(peer.write(i));
    for (const Transmit& packet : peer.collect()) {
      EXPECT_TRUE(packet.plane == kPlane0 || !ev_probes({packet}).empty());
    }
  }
}

// MRC 9.3.1
TEST(PathProbes, ControlPacketsDoNotTakeADeniedPathThoughItsProbeIsAnswered) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  const Sent probes = ev_probes(peer.collect());
  ASSERT_EQ(probes.size(), 1U);
  const Ev denied = ev_of(probes[0]);
  peer.endpoint().set_ev_denied(peer.now(), peer.ev_profile(), *peer.profile().find(denied), true);
  answer(peer, probes[0]);
  for (unsigned i = 0; i < 4; ++i) {
    peer.deliver(peer.write(0));
    for (const Transmit& packet : peer.collect()) EXPECT_NE(ev_of(packet), denied);
  }
}

// MRC 9.3.1 (PATH-71)
TEST(PathProbes, APathWhoseProbeWasOvertakenIsSuspectUntilItsNextIsAnswered) {
  ScriptedPeer peer({.evs_per_plane = 32});
  peer.deliver(peer.write(0));
  const Sent first = ev_probes(peer.collect());
  ASSERT_EQ(first.size(), 1U);
  peer.advance(kRtt);
  peer.deliver(peer.write(1));
  const Sent second = ev_probes(peer.collect());
  ASSERT_EQ(second.size(), 1U);
  ASSERT_NE(ev_of(first[0]), ev_of(second[0]));
  answer(peer, second[0]);
  EXPECT_EQ(peer.ev_state(ev_of(first[0])), EvState::kSuspect) << "the answer may have been lost";
  EXPECT_EQ(peer.ev_state(ev_of(second[0])), EvState::kGood);
  const Sent again = ev_probes(peer.await_packets(kRtt * 2));
  ASSERT_EQ(ev_of(again.at(0)), ev_of(first[0])) << "it is asked whether it works";
  answer(peer, again[0]);
  EXPECT_EQ(peer.ev_state(ev_of(first[0])), EvState::kGood);
}

// MRC 9.3.1 (PATH-74): the peer is not heard to have heard us.
TEST(PathProbes, AReliabilityProbeHasTheWayBackProbedAndAnswersTakeManyPaths) {
  ScriptedPeer peer({.evs_per_plane = 32});
  peer.deliver(peer.write(0));
  answer(peer, ev_probes(peer.collect()).at(0));
  std::set<Ev> answers;
  for (std::uint16_t i = 0; i < 8; ++i) {
    peer.advance(kRtt * 2);
    peer.deliver(peer.probe(i));
    const Sent sent = peer.collect();
    EXPECT_EQ(ev_probes(sent).size(), kSearchWidth);
    for (const Transmit& packet : sent) {
      if (!only<wire::Sack>({packet}).empty()) answers.insert(ev_of(packet));
    }
  }
  EXPECT_GE(answers.size(), 16U);
}

// MRC 7.4.6 (PATH-74): what a flood of probes costs is bounded.
TEST(PathProbes, OnlyOneReliabilityProbeInARoundTripStartsASearch) {
  ScriptedPeer peer({.evs_per_plane = 32});
  peer.deliver(peer.write(0));
  (void)peer.collect();
  peer.advance(kRtt * 2);
  for (std::uint16_t i = 0; i < 10; ++i) peer.deliver(peer.probe(i));
  const Sent sent = peer.collect();
  EXPECT_EQ(ev_probes(sent).size(), kSearchWidth);
  EXPECT_EQ(only<wire::Sack>(sent).size(), kSearchWidth + 9);
}

// ---- base RTT ----

constexpr Duration kLongRtt = test::kRtt * 8;

CongestionSettings learning_nscc() {
  auto settings = std::get<NsccSettings>(test::nscc());
  settings.learns_base_rtt = true;
  return settings;
}

// All data that fits into the first window has been sent, and nothing has come back yet.
class BaseRttLearner {
 public:
  explicit BaseRttLearner(const CongestionSettings& congestion = learning_nscc())
      : peer({.mpr = 64, .timeout = 14, .congestion = congestion}) {
    peer.post(1, 4000 * kMtu);
    first_window = only<wire::RdmaWrite>(peer.collect()).size();
  }

  // The EV probes that leave until then. Nothing is answered.
  std::vector<Transmit> probes_within(Duration span) {
    const Instant end = peer.now() + span;
    std::vector<Transmit> probes;
    for (;;) {
      const auto sent = peer.await_packets(end - peer.now());
      if (sent.empty()) return probes;
      for (const Transmit& probe : ev_probes(sent)) probes.push_back(probe);
    }
  }
  void sack() { peer.deliver(peer.sack(1)); }
  void answer(const Transmit& probe) { test::answer(peer, probe); }
  [[nodiscard]] const CongestionControl& congestion() const { return peer.peer().congestion; }

  ScriptedPeer peer;
  std::size_t first_window = 0;
};

// UET 3.6.13 (CC-26)
TEST(BaseRtt, IsProbedInTheControlClassAfterTheFirstSack) {
  BaseRttLearner learner;
  EXPECT_GT(learner.first_window, 100U) << "data does not wait for it";
  EXPECT_TRUE(learner.probes_within(kLongRtt).empty()) << "nothing is heard yet";
  learner.sack();
  (void)learner.peer.collect();
  const auto probes = learner.probes_within(kRtt * 16);
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].packet.traffic_class, wire::TrafficClass::kControl);
  EXPECT_EQ(std::get<wire::EndpointRequest>(probes[0].packet.transport.body).erth.op,
            wire::EndpointOp::kEvProbe);
}

// CC-53
TEST(BaseRtt, ThatIsLongerThanTheGuessOpensTheWindow) {
  BaseRttLearner learner;
  learner.peer.advance(kLongRtt);
  learner.sack();
  (void)learner.peer.collect();
  const ByteCount guessed = learner.congestion().window();
  std::size_t answers = 0;
  auto sent = learner.peer.await_packets(milliseconds(1));
  while (learner.congestion().is_learning() && !sent.empty()) {
    for (const Transmit& one : sent) {
      if (!std::holds_alternative<wire::EndpointRequest>(one.packet.transport.body)) continue;
      learner.peer.advance(kLongRtt + kRtt * static_cast<std::int64_t>(answers++));
      learner.answer(one);
    }
    if (!learner.congestion().is_learning()) break;
    sent = learner.peer.await_packets(milliseconds(1));
  }
  EXPECT_EQ(answers, BaseRttProbes::kAnswersWanted);
  EXPECT_EQ(learner.congestion().base_rtt(), kLongRtt);
  EXPECT_EQ(learner.congestion().window(), guessed * 8);
  EXPECT_GT(only<wire::RdmaWrite>(learner.peer.collect()).size(), learner.first_window * 6)
      << "what waited for the window leaves at once";
  EXPECT_TRUE(learner.probes_within(milliseconds(20)).empty()) << "once is enough";
}

// CC-26
TEST(BaseRtt, ThatIsKnownIsNotProbed) {
  for (const CongestionSettings& known : {test::nscc(), test::fixed_window(100)}) {
    BaseRttLearner learner(known);
    learner.peer.advance(kRtt);
    learner.sack();
    (void)learner.peer.collect();
    learner.sack();
    EXPECT_TRUE(learner.probes_within(milliseconds(5)).empty());
    EXPECT_EQ(learner.congestion().base_rtt(), kRtt);
  }
}

// CC-54
TEST(BaseRtt, IsTakenFromDataWhenNoProbeIsAnswered) {
  BaseRttLearner learner;
  learner.peer.advance(kLongRtt);
  learner.sack();
  (void)learner.peer.collect();
  const auto probes = learner.probes_within(milliseconds(60));
  EXPECT_EQ(probes.size(), BaseRttProbes::kProbesMax);
  EXPECT_FALSE(learner.congestion().is_learning());
  EXPECT_EQ(learner.congestion().base_rtt(), kLongRtt);
}

// CC-54: how long the way of a probe before the latest was is not known.
TEST(BaseRtt, OfAnAnswerThatIsOvertakenByTheNextProbeIsNotKnown) {
  BaseRttLearner learner;
  learner.peer.advance(kLongRtt);
  learner.sack();
  (void)learner.peer.collect();
  const auto probes = learner.probes_within(kRtt * 100);
  ASSERT_GE(probes.size(), 2U);
  learner.answer(probes[0]);
  EXPECT_TRUE(learner.congestion().is_learning());
  EXPECT_TRUE(learner.probes_within(nanoseconds(1)).empty());
  learner.answer(probes.back());
  EXPECT_EQ(learner.probes_within(nanoseconds(1)).size(), 1U) << "the next is due";
}

// CC-26: nobody who is silent is probed for ever.
TEST(BaseRtt, IsNotProbedWhileNothingIsHeard) {
  BaseRttLearner learner;
  EXPECT_TRUE(learner.probes_within(seconds(10)).empty());
  EXPECT_EQ(learner.peer.count(Count::kEvProbesSent), 0U);
}

// Something arrives in each guessed round trip, and nothing is sent but probes, which are answered
// after `rtt`.
class Receiver {
 public:
  explicit Receiver(std::optional<Duration> rtt)
      : peer({.timeout = 14, .congestion = learning_nscc()}), rtt_(rtt) {}

  // How many EV probes leave in so many guessed round trips.
  std::size_t probes_in(std::int64_t round_trips) {
    std::size_t probes = 0;
    for (std::int64_t i = 0; i < round_trips; ++i) {
      peer.deliver(peer.write(std::min(next_++, kWrites - 1)));  // then the last again and again
      probes += step();
    }
    return probes;
  }
  // The same while the peer asks whether it is heard, with a reliability probe in each.
  std::size_t probes_when_asked(std::uint16_t round_trips) {
    std::size_t probes = 0;
    for (std::uint16_t i = 0; i < round_trips; ++i) {
      peer.deliver(peer.probe(i));
      probes += step();
    }
    return probes;
  }
  [[nodiscard]] const CongestionControl& congestion() const { return peer.peer().congestion; }

  ScriptedPeer peer;

 private:
  std::size_t step() {
    std::size_t probes = 0;
    const Instant end = peer.now() + kRtt;
    for (auto sent = peer.collect(); !sent.empty(); sent = peer.await_packets(end - peer.now())) {
      for (const Transmit& probe : ev_probes(sent)) {
        ++probes;
        awaited_.emplace_back(peer.now(), probe);
      }
    }
    if (end > peer.now()) peer.advance(end - peer.now());
    while (rtt_ && !awaited_.empty() && awaited_.front().first + *rtt_ <= peer.now()) {
      answer(peer, awaited_.front().second);
      awaited_.pop_front();
    }
    return probes;
  }

  static constexpr std::int64_t kWrites = 16;

  std::optional<Duration> rtt_;
  std::deque<std::pair<Instant, Transmit>> awaited_;
  std::int64_t next_ = 0;
};

// CC-56
TEST(BaseRtt, ThatIsGuessedMakesReceiversProbeEverMoreRarely) {
  Receiver receiver(std::nullopt);
  EXPECT_LE(receiver.probes_in(128), 2 * BaseRttProbes::kProbesMax);
  (void)receiver.probes_in(1024);
  EXPECT_LE(receiver.probes_in(1024), 8U) << "and goes on so, however many had no answer";
  EXPECT_TRUE(receiver.congestion().is_learning()) << "nothing was measured";
  Receiver asked(std::nullopt);
  EXPECT_LE(asked.probes_when_asked(128), (1 + kSearchWidth) * BaseRttProbes::kProbesMax);
}

// CC-56
TEST(BaseRtt, IsLearnedByWhoOnlyReceives) {
  Receiver receiver(kLongRtt);
  (void)receiver.probes_in(128);
  EXPECT_FALSE(receiver.congestion().is_learning());
  EXPECT_GE(receiver.congestion().base_rtt(), kLongRtt);
  EXPECT_LE(receiver.congestion().base_rtt(), kLongRtt + kRtt);
  EXPECT_LE(receiver.probes_in(128), 128 / 8) << "one in a round trip";
}

// CC-56: what it sends later tells it, probes answered or not.
TEST(BaseRtt, IsTakenFromDataByAReceiverWhoseProbesWereNotAnswered) {
  Receiver receiver(std::nullopt);
  (void)receiver.probes_in(1024);
  ScriptedPeer& peer = receiver.peer;
  peer.post(1, 4 * kMtu);
  (void)peer.collect();
  while (!peer.await_packets(milliseconds(1)).empty()) {
  }
  EXPECT_TRUE(receiver.congestion().is_learning()) << "the first SACK is awaited";
  peer.deliver(peer.sack(1));
  while (receiver.congestion().is_learning() && !peer.await_packets(milliseconds(50)).empty()) {
  }
  EXPECT_FALSE(receiver.congestion().is_learning());
}

// CC-56: nobody is probed for ever who says nothing more.
TEST(BaseRtt, IsNotProbedByWhoReceivesNothingMore) {
  Receiver receiver(std::nullopt);
  (void)receiver.probes_in(4);
  const std::uint64_t sent = receiver.peer.count(Count::kEvProbesSent);
  while (!receiver.peer.await_packets(seconds(10)).empty()) {
  }
  EXPECT_LE(receiver.peer.count(Count::kEvProbesSent), sent + 2 * BaseRttProbes::kProbesMax);
  EXPECT_TRUE(receiver.peer.await_packets(seconds(10)).empty());
}

}  // namespace
}  // namespace openmrc::core
