// SPDX-License-Identifier: BSD-3-Clause
// Probes for the base RTT. Those of paths and ports are in endpoint_requests_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/core/peer/base_rtt_probes.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::kMtu;
using test::kRtt;
using test::only;
using test::ScriptedPeer;

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
      for (const Transmit& one : sent) {
        if (std::holds_alternative<wire::EndpointRequest>(one.packet.transport.body)) {
          probes.push_back(one);
        }
      }
    }
  }
  void sack() { peer.deliver(peer.sack(1)); }
  void answer(const Transmit& probe) {
    const auto& request = std::get<wire::EndpointRequest>(probe.packet.transport.body);
    peer.deliver(wire::EndpointResponse{.id = request.id, .eeth = {}}, {.plane = probe.plane});
  }
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
      for (const Transmit& one : sent) {
        if (!std::holds_alternative<wire::EndpointRequest>(one.packet.transport.body)) continue;
        ++probes;
        awaited_.emplace_back(peer.now(), one);
      }
    }
    if (end > peer.now()) peer.advance(end - peer.now());
    while (rtt_ && !awaited_.empty() && awaited_.front().first + *rtt_ <= peer.now()) {
      const Transmit& probe = awaited_.front().second;
      const auto& request = std::get<wire::EndpointRequest>(probe.packet.transport.body);
      peer.deliver(wire::EndpointResponse{.id = request.id, .eeth = {}}, {.plane = probe.plane});
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
