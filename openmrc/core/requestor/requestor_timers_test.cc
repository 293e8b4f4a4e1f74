// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/requestor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/wire/field/connection_id.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::ev_of;
using test::fixed_window;
using test::ids_of;
using test::kMtu;
using test::kPacket;
using test::kRtt;
using test::kTimeout;
using test::only;
using test::psns_of;
using test::ScriptedPeer;
using test::statuses_of;
using test::write_of;
using wire::MessagePart;
using Sent = std::vector<Transmit>;
using Psns = std::vector<std::uint32_t>;

// ---- silence ----

// MRC 6.3.1 (REL-73)
TEST(Requestor, RetransmitsTheLastPacketIfTheAcknowledgementIsLost) {
  ScriptedPeer peer;
  peer.post(1, 3 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(3));
  const Instant before = peer.now();
  const Sent again = peer.await_packets(kTimeout);
  EXPECT_EQ(peer.now(), before + kRtt * 2);
  ASSERT_EQ(psns_of(again), (Psns{102}));
  EXPECT_TRUE(write_of(again[0]).retransmission);
  EXPECT_EQ(write_of(again[0]).part, MessagePart::last());
  EXPECT_EQ(peer.count(Count::kRetransmitsForAck), 1U);
  EXPECT_EQ(peer.peer().in_flight, ByteCount(0)) << "it has arrived already";
  EXPECT_EQ(peer.peer().last_sent, peer.now()) << "the network is not empty";
  peer.deliver(peer.sack(3));
  peer.deliver(peer.acknowledge(3, 1));
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kSuccess});
  EXPECT_TRUE(peer.await_packets(seconds(100)).empty());
}

// MRC 7.4.1 (REL-73, REL-79)
TEST(Requestor, GivesUpIfTheAcknowledgementNeverComes) {
  ScriptedPeer peer({.linear_retries = 2, .exponential_retries = 2});
  peer.post(1, kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(1));
  std::size_t again = 0;
  while (const std::size_t sent = peer.await_packets(seconds(1)).size()) again += sent;
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kRetryExceeded});
  EXPECT_GE(again, 4U);
}

// MRC 6.3.1 (REL-57, REL-73): the path of the last one may be dead.
TEST(Requestor, WhatIsSentForAnAcknowledgementTakesAnotherPathEachTime) {
  ScriptedPeer peer({.evs_per_plane = 8, .exponential_retries = 1, .ev_burst = 8});
  peer.post(1, kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(1));
  Sent again;
  while (again.size() < 8) {
    const Sent sent = peer.await_packets(seconds(1));
    ASSERT_FALSE(sent.empty());
    again.insert(again.end(), sent.begin(), sent.end());
  }
  for (std::size_t i = 1; i < again.size(); ++i) EXPECT_NE(ev_of(again[i]), ev_of(again[i - 1]));
}

// A bitmap that reports the oldest packet, or what turns out to be the oldest, is false: the
// cumulative PSN would be beyond it. RFC 2018, 8; MRC 7.4.1
TEST(Requestor, SendsAgainWhatWasReportedFalselyWhenItTimesOut) {
  for (const std::size_t reported : {0U, 2U}) {
    ScriptedPeer peer;
    peer.post(1, 4 * kMtu);
    (void)peer.collect();
    peer.deliver(peer.sack_out_of_order(reported));
    // What has arrived in fact: all but that one.
    wire::Sack sack = peer.sack(static_cast<std::int64_t>(reported));
    sack.seth.sack_bitmap = ~std::uint64_t{1} & ((std::uint64_t{1} << (4 - reported)) - 1);
    peer.deliver(sack);
    EXPECT_EQ(peer.peer().in_flight, ByteCount(0));
    Sent again;
    for (unsigned i = 0; i < 100 && again.empty(); ++i) {
      for (const Transmit& sent : peer.await_packets(kTimeout)) {
        if (std::holds_alternative<wire::RdmaWrite>(sent.packet.transport.body)) {
          again.push_back(sent);
        } else {
          peer.deliver(sack);  // it answers, all the while
        }
      }
    }
    ASSERT_EQ(psns_of(again), (Psns{100 + static_cast<std::uint32_t>(reported)}));
    peer.deliver(peer.acknowledge(4, 1));
    EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kSuccess});
    EXPECT_EQ(peer.peer().in_flight, ByteCount(0));
  }
}

// MRC 7.4.6 (CC-13, REL-60, WIRE-31)
TEST(Requestor, ProbesAfterTwoRoundTripsOfSilence) {
  ScriptedPeer peer;
  peer.post(1, 4 * kMtu);
  (void)peer.collect();
  const Instant before = peer.now();
  const Sent sent = peer.await_packets(kTimeout);
  const auto probes = only<wire::ReliabilityProbe>(sent);
  EXPECT_EQ(peer.now(), before + kRtt * 2);
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(sent[0].packet.traffic_class, wire::TrafficClass::kControl);
  EXPECT_EQ(sent[0].packet.ecn, wire::Ecn::kCapable0) << "its answer speaks of congestion";
  EXPECT_EQ(probes[0].destination_qp, ScriptedPeer::kRemoteQpn);
  EXPECT_EQ(probes[0].peth.spdcid, wire::connection_id(peer.qpn()));
  EXPECT_EQ(probes[0].peth.dpdcid, wire::connection_id(ScriptedPeer::kRemoteQpn));
  EXPECT_EQ(peer.count(Count::kProbesSent), 1U);
}

// One packet, and a quarter of a round trip later another, which a SACK reports a round trip after
// that: the first is overdue soon. A third may have been posted, and not sent, before the SACK.
struct OneOverdue {
  explicit OneOverdue(bool has_third = false) {
    peer.post(1, kMtu);
    (void)peer.collect();
    sent = peer.now();
    peer.advance(kRtt / 4);
    peer.post(2, kMtu);
    (void)peer.collect();
    if (has_third) peer.post(3, kMtu);
    peer.advance(kRtt);
    peer.deliver(peer.sack_out_of_order(1));
  }

  ScriptedPeer peer{{.evs_per_plane = 64}};
  Instant sent;  // the first
};

// MRC 7.4.6 (REL-61); RFC 8985, 6.2 step 5: it is overdue, and nothing will come that shows it.
TEST(Requestor, ProbesWhenThePacketThatOthersHavePassedIsOverdue) {
  OneOverdue packet;
  ScriptedPeer& peer = packet.peer;
  const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kTimeout));
  // When the timer expires that was armed before; no SACK arms it anew.
  EXPECT_EQ(peer.now(), packet.sent + kRtt * 2);
  EXPECT_EQ(probes.size(), 1U);
  // Only once: the next is due when this one has had no answer for two round trips.
  const Instant probed = peer.now();
  EXPECT_EQ(only<wire::ReliabilityProbe>(peer.await_packets(kTimeout)).size(), 1U);
  EXPECT_EQ(peer.now(), probed + kRtt * 2);
}

// MRC 7.4.6: what is overdue cannot be asked for while no port is up.
TEST(Requestor, DoesNotWakeForAProbeWhenThereIsNoRoute) {
  OneOverdue packet(true);
  ScriptedPeer& peer = packet.peer;
  peer.advance(kRtt * 11 / 16);
  peer.endpoint().set_port(peer.now(), Plane(0), false);
  EXPECT_TRUE(peer.collect().empty());
  EXPECT_EQ(peer.endpoint().next_deadline(), packet.sent + kRtt * 2) << "as it was before";
}

// MRC 7.4.6. While everything is lost, probes do not help, and the timer is that of the timeout.
TEST(Requestor, ProbesForARetransmissionOfAllThatWasInFlight) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[0], wire::NackReason::kPsnOutOfWindow));
  peer.advance(kRtt * 3);  // no port is free
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
  const Instant before = peer.now();
  EXPECT_EQ(only<wire::ReliabilityProbe>(peer.await_packets(kTimeout)).size(), 1U);
  EXPECT_EQ(peer.now(), before + kRtt * 2);
}

// MRC 7.4.6 (REL-63): what one peer's queue pairs ask must not outweigh what they send.
TEST(Requestor, TheProbesOfManyQueuePairsToOnePeerStandInLine) {
  constexpr std::int64_t kQueuePairs = 1000;
  ScriptedPeer peer({.timeout = 20});
  for (std::int64_t i = 0; i < kQueuePairs; ++i) {
    const Qpn qpn = peer.connect(Qpn(static_cast<std::uint32_t>(0x60000 + i)));
    ASSERT_TRUE(peer.endpoint().post_write(
        qpn, peer.now(), {.data = wire::Payload::of_length(1), .rkey = peer.rkey()}));
  }
  EXPECT_EQ(peer.collect_only<wire::RdmaWrite>().size(), static_cast<std::size_t>(kQueuePairs));
  peer.advance(kRtt * 2);
  EXPECT_EQ(peer.collect_only<wire::ReliabilityProbe>().size(), 1U);
  std::set<std::uint32_t> asked;
  for (std::int64_t round = 0; round < kQueuePairs / kProbesPerRoundTrip; ++round) {
    peer.advance(kRtt);
    const auto probes = peer.collect_only<wire::ReliabilityProbe>();
    EXPECT_NEAR(static_cast<double>(probes.size()), kProbesPerRoundTrip, 1);
    for (const auto& probe : probes) asked.insert(probe.destination_qp.raw());
  }
  EXPECT_GT(asked.size(), 900U) << "each has its turn";
}

// MRC 7.4.1 (REL-78): a retry is a try. A queue pair that must wait for the window does not try.
TEST(Requestor, WaitingForTheWindowIsNotARetry) {
  ScriptedPeer peer({.linear_retries = 1, .exponential_retries = 1, .congestion = fixed_window(1)});
  const Qpn patient = peer.endpoint().create_queue_pair().value();
  core::ReadyToSendAttributes attributes = peer.send_attributes();
  attributes.timeout = 20;
  constexpr Qpn kRemote(0x60000);
  ASSERT_TRUE(peer.endpoint().to_init(patient, peer.init_attributes()));
  ASSERT_TRUE(
      peer.endpoint().to_ready_to_recv(patient, peer.now(), peer.receive_attributes(kRemote)));
  ASSERT_TRUE(peer.endpoint().to_ready_to_send(patient, peer.now(), attributes));

  peer.post(1, kMtu);
  const Sent first = peer.collect();
  ASSERT_EQ(psns_of(first), (Psns{100}));
  ASSERT_TRUE(peer.endpoint().post_write(
      patient, peer.now(), {.data = wire::Payload::of_length(kMtu), .rkey = peer.rkey()}));
  peer.deliver(ScriptedPeer::nack(first[0], wire::NackReason::kTrimmed, peer.qpn()));
  const auto next = peer.collect_only<wire::RdmaWrite>();
  ASSERT_EQ(next.size(), 1U) << "which takes the whole window";
  ASSERT_EQ(next[0].destination_qp, kRemote);
  wire::Sack nothing_new = peer.sack(0);
  nothing_new.destination_qp = patient;
  nothing_new.seth.spdcid = wire::connection_id(kRemote);
  nothing_new.seth.dpdcid = wire::connection_id(patient);
  for (int i = 0; i < 200; ++i) {
    peer.advance(kTimeout / 8);
    EXPECT_TRUE(peer.collect_only<wire::RdmaWrite>().empty());
    peer.deliver(nothing_new);
  }
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  wire::Sack arrived = nothing_new;
  arrived.seth.cack_psn = peer.options().first_psn;
  peer.deliver(arrived);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
}

// MRC 7.4.6 (REL-64)
TEST(Requestor, RetransmitsWhatTheAnswerToAProbeShowsToBeMissing) {
  ScriptedPeer peer({.evs_per_plane = 64});
  peer.post(1, 6 * kMtu);
  (void)peer.collect();
  const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kTimeout));
  ASSERT_EQ(probes.size(), 1U);
  peer.advance(kRtt);
  wire::Sack sack = peer.sack(2);
  sack.seth.trigger = wire::SackTrigger::probe(probes[0].peth.id);
  sack.seth.sack_bitmap = 0b0100;  // PSN 104
  sack.cc_state.ooo_count = 1;
  peer.deliver(sack);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{102, 103, 105}));
  EXPECT_EQ(peer.count(Count::kRetransmitsProbe), 3U);
}

// MRC 7.4.6 (REL-65)
TEST(Requestor, TheAnswerToAProbeSpeaksOfWhatIsAboveItsBitmapIfThatShowsAllThatArrived) {
  for (const bool shows_all : {true, false}) {
    ScriptedPeer peer({.evs_per_plane = 64});
    peer.post(1, 100 * kMtu);
    (void)peer.collect();
    const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kTimeout));
    ASSERT_EQ(probes.size(), 1U);
    peer.advance(kRtt);
    wire::Sack sack = peer.sack(0);
    sack.seth.trigger = wire::SackTrigger::probe(probes[0].peth.id);
    sack.seth.sack_bitmap = 0b10;
    sack.cc_state.ooo_count = shows_all ? 1 : 2;
    peer.deliver(sack);
    EXPECT_EQ(psns_of(peer.collect()).size(), shows_all ? 99U : 63U);
  }
}

// MRC 7.4.6 (REL-66): hosts are late at times.
TEST(Requestor, AnAnswerThatComesAfterTheNextProbeCountsAsOfItsTimestamp) {
  ScriptedPeer peer({.evs_per_plane = 64, .timeout = 16});
  peer.post(1, 2 * kMtu);
  (void)peer.collect();
  const auto first = only<wire::ReliabilityProbe>(peer.await_packets(kRtt * 2));
  ASSERT_EQ(first.size(), 1U);
  peer.advance(kRtt / 2);
  peer.post(2, kMtu);  // after the first probe
  (void)peer.collect();
  ASSERT_EQ(only<wire::ReliabilityProbe>(peer.await_packets(kRtt * 2)).size(), 1U);
  wire::Sack sack = peer.sack(1);
  sack.seth.trigger = wire::SackTrigger::probe(first[0].peth.id);
  sack.cc_state.tx_ticks = first[0].peth.sent.ticks;
  peer.deliver(sack);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{101})) << "not what was sent after it";
  EXPECT_EQ(peer.count(Count::kDropProbeUnknown), 0U);
}

// MRC 7.4.6 (REL-67, SEC-18)
TEST(Requestor, RetransmitsNothingForAnAnswerThatIsNotAwaited) {
  ScriptedPeer peer({.evs_per_plane = 64});
  peer.post(1, 6 * kMtu);
  (void)peer.collect();
  const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kTimeout));
  ASSERT_EQ(probes.size(), 1U);
  wire::Sack sack = peer.sack(2);
  sack.seth.trigger = wire::SackTrigger::probe(
      wire::ProbeId(static_cast<std::uint16_t>(probes[0].peth.id.raw() + 1)));
  peer.deliver(sack);
  EXPECT_EQ(peer.count(Count::kDropProbeUnknown), 1U);
  EXPECT_EQ(peer.collect().size(), 0U);
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(102))
      << "the rest is news all the same";
}

// MRC 7.4.6 (REL-62)
TEST(Requestor, ProbesAsSoonAsEverOnceThePeerHasAnsweredAgain) {
  // Many probes that go unanswered come at growing distances. News of the peer ends that.
  ScriptedPeer peer({.timeout = 16});
  peer.post(1, 20 * kMtu);
  (void)peer.collect();
  Instant last = peer.now();
  for (unsigned probes = 0; probes < kProbesBeforeBackoff + 8; ++probes) {
    ASSERT_EQ(only<wire::ReliabilityProbe>(peer.await_packets(milliseconds(60))).size(), 1U);
    const unsigned beyond = probes < kProbesBeforeBackoff ? 0 : probes - kProbesBeforeBackoff + 1;
    EXPECT_EQ(peer.now() - last, kRtt * (2 << std::min(beyond, 6U))) << probes;
    last = peer.now();
  }
  peer.deliver(peer.sack(3));
  (void)peer.collect();
  const Instant heard = peer.now();
  EXPECT_EQ(peer.await_packets(milliseconds(60)).size(), 1U);
  EXPECT_EQ(peer.now() - heard, kRtt * 2);
}

// What happens at which time after the start, until the queue pair gives up or `count` is reached.
std::vector<Duration> retransmit_times(ScriptedPeer& peer, std::size_t count) {
  std::vector<Duration> times;
  const Instant start = peer.now();
  while (times.size() < count && peer.state() == QueuePairState::kReadyToSend && peer.fire_next()) {
    const bool retransmitted = !psns_of(peer.collect()).empty();
    if (retransmitted) times.push_back(peer.now() - start);
  }
  return times;
}

// MRC 7.4.1 (REL-74, REL-82)
TEST(Requestor, TimesOutLinearlyThenExponentiallyThenNoMore) {
  ScriptedPeer peer({.linear_retries = 2, .exponential_retries = 3});
  peer.post(1, kMtu);
  (void)peer.collect();
  const Instant start = peer.now();
  // Retries 1 and 2 wait as long as the first transmission; 3, 4 and 5 each twice the one before.
  const std::vector<Duration> expected{kTimeout, kTimeout * 2, kTimeout * 3, kTimeout * 5,
                                       kTimeout * 9};
  EXPECT_EQ(retransmit_times(peer, 100), expected);
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(peer.now(), start + kTimeout * 17);
  EXPECT_EQ(peer.count(Count::kTimeouts), 6U);
  EXPECT_EQ(peer.count(Count::kRetransmitsTimeout), 5U);
}

// MRC 7.4.1 (REL-74): docs/protocol/reliability.md has the formula.
TEST(Requestor, TheTimeUntilItGivesUpOnASilentPeerIsKnown) {
  const auto seven_six =
      time_to_retry_exceeded({.timeout = 12, .linear_retries = 7, .exponential_retries = 6});
  EXPECT_EQ(seven_six, nanoseconds(1024) * 4096 * (7 + (1 << 7) - 1)) << "562 ms";
  EXPECT_EQ(time_to_retry_exceeded({.exponential_retries = 25}), std::nullopt) << "never";
  const Duration longest = nanoseconds(1024) * (std::int64_t{1} << 34);
  EXPECT_EQ(time_to_retry_exceeded({.timeout = 24, .linear_retries = 0, .exponential_retries = 12}),
            nanoseconds(1024) * ((std::int64_t{1} << 35) - (1 << 24)) + longest * 2)
      << "no interval is longer than 2^34 units";

  ScriptedPeer peer({.timeout = 12, .linear_retries = 7, .exponential_retries = 6});
  peer.post(1, kMtu);
  (void)peer.collect();
  const Instant start = peer.now();
  while (peer.state() == QueuePairState::kReadyToSend && peer.fire_next()) (void)peer.collect();
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kRetryExceeded});
  EXPECT_EQ(peer.now() - start, *seven_six);
}

// A queue pair that never found a way has no path to name (REL-78).
TEST(Requestor, AFailureSaysWhetherThePathIsKnown) {
  ScriptedPeer peer({.linear_retries = 0, .exponential_retries = 0});
  peer.endpoint().set_port(peer.now(), Plane(0), false);
  peer.post(1, kMtu);
  (void)peer.collect();
  while (peer.state() == QueuePairState::kReadyToSend && peer.fire_next()) (void)peer.collect();
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, WorkStatus::kRetryExceeded);
  EXPECT_FALSE(failure->path_known);
  EXPECT_EQ(failure->last_feedback, Instant{});
}

// MRC 7.4.1 (REL-36, REL-75, REL-79)
TEST(Requestor, CountsTimeoutsFromAnewAfterProgress) {
  ScriptedPeer peer({.linear_retries = 1, .exponential_retries = 3});
  peer.post(1, 2 * kMtu);
  (void)peer.collect();
  EXPECT_EQ(retransmit_times(peer, 3).size(), 3U);
  EXPECT_EQ(peer.requestor().retries(), 3U);
  peer.deliver(peer.sack(1));
  EXPECT_EQ(peer.requestor().retries(), 0U);
  EXPECT_EQ(retransmit_times(peer, 1), std::vector{kTimeout});
}

// MRC 7.4.1 (QP-30, QP-38, REL-82)
TEST(Requestor, SaysWhyItGaveUpAndFlushesTheRest) {
  ScriptedPeer peer({.linear_retries = 1, .exponential_retries = 0});
  peer.post(1, kMtu);
  peer.post(2, 2 * kMtu);
  peer.post(3, kMtu);
  (void)peer.collect();
  peer.deliver(peer.acknowledge(1, 1));
  const Instant heard = peer.now();
  Sent last;
  while (peer.fire_next() && peer.state() == QueuePairState::kReadyToSend) {
    Sent sent = peer.collect();
    if (!psns_of(sent).empty()) last = std::move(sent);
  }
  const auto completions = peer.completions();
  EXPECT_EQ(ids_of(completions), (std::vector<WorkId>{1, 2, 3}));
  EXPECT_EQ(statuses_of(completions),
            (std::vector{WorkStatus::kSuccess, WorkStatus::kRetryExceeded, WorkStatus::kFlushed}));
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->qpn, peer.qpn());
  EXPECT_EQ(failure->remote_qpn, ScriptedPeer::kRemoteQpn);
  EXPECT_EQ(failure->status, WorkStatus::kRetryExceeded);
  EXPECT_FALSE(failure->by_peer);
  EXPECT_EQ(failure->psn, Psn(101));
  EXPECT_EQ(failure->retries, 2U);
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(failure->ev, ev_of(last[0]));
  EXPECT_EQ(failure->plane, last[0].plane);
  EXPECT_TRUE(failure->path_known);
  EXPECT_EQ(failure->last_heard, heard);
  EXPECT_EQ(failure->last_feedback, heard);
  EXPECT_EQ(peer.count(Count::kQueuePairsFailed), 1U);
  EXPECT_EQ(peer.peer().in_flight, ByteCount(0));
}

// MRC 7.4.1 (REL-83)
TEST(Requestor, TriesForEverIfToldSo) {
  ScriptedPeer peer({.timeout = 0,
                     .linear_retries = 0,
                     .exponential_retries = 25,
                     .congestion = FixedWindowSettings{.window = kPacket, .base_rtt = seconds(1)}});
  peer.post(1, kMtu);
  (void)peer.collect();
  EXPECT_EQ(retransmit_times(peer, 40).size(), 40U);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
}

// MRC 9.3.1 (PATH-43, REL-77)
TEST(Requestor, DoesNotBlameThePathsIfThePeerIsSilentAltogether) {
  ScriptedPeer peer;
  peer.post(1, 8 * kMtu);
  (void)peer.collect();
  EXPECT_EQ(retransmit_times(peer, 3).size(), 3U);
  for (std::size_t i = 0; i < peer.profile().size(); ++i) {
    EXPECT_EQ(peer.ev_state(peer.ev(i)), EvState::kGood);
  }
}

// MRC 9.3.1 (PATH-42, PATH-43, REL-77): the SACKs of what went over good paths are missing, too.
TEST(Requestor, DoesNotBlameThePathsIfThePeerFellSilentBeforeItCouldSpeakOfThem) {
  for (const bool spoke : {false, true}) {
    ScriptedPeer peer({.evs_per_plane = 64});
    peer.post(1, 4 * kMtu);
    Sent sent = peer.collect();
    peer.advance(nanoseconds(1));
    peer.post(2, 4 * kMtu);
    std::ranges::move(peer.collect(), std::back_inserter(sent));
    peer.advance(kRtt / 2);
    peer.deliver(peer.sack_out_of_order(4));
    if (spoke) {
      peer.advance(kRtt / 2);
      peer.deliver(peer.sack_out_of_order(4));
    }
    EXPECT_EQ(retransmit_times(peer, 1).size(), 1U);
    EXPECT_EQ(peer.ev_state(ev_of(sent[0])), spoke ? EvState::kAssumedBad : EvState::kGood);
    EXPECT_EQ(peer.ev_state(ev_of(sent[7])), EvState::kGood) << "nothing later has arrived";
  }
}

// MRC 7.4.1 (REL-76)
TEST(Requestor, RetransmitsAllThatIsAWholeTimeoutOld) {
  ScriptedPeer peer;
  peer.post(1, 3 * kMtu);
  (void)peer.collect();
  peer.advance(kTimeout / 2);
  (void)peer.collect();
  peer.post(2, 2 * kMtu);
  (void)peer.collect();
  peer.advance(kTimeout / 2);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100, 101, 102}));
}

// MRC 7.4.1 (REL-78)
TEST(Requestor, WaitsForTheCongestionWindowWithoutTimingOut) {
  ScriptedPeer peer({.linear_retries = 0, .exponential_retries = 0, .congestion = fixed_window(1)});
  const Qpn other = peer.connect(Qpn(0x777));
  ASSERT_TRUE(peer.endpoint().post_write(other, peer.now(),
                                         {.id = 9, .data = wire::Payload::of_length(kMtu)}));
  ASSERT_EQ(peer.collect().size(), 1U);
  peer.advance(kTimeout / 2);
  (void)peer.collect();
  peer.post(1, kMtu);
  EXPECT_EQ(psns_of(peer.collect()).size(), 0U);
  peer.advance(kTimeout * 3 / 4);
  EXPECT_EQ(*peer.endpoint().state(other), QueuePairState::kError);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100})) << "the other one left its share of the window";
}

// MRC 7.4.1: a gap that probes show again and again, and no retransmission ever fills, has an end.
// REL-75
TEST(Requestor, GivesUpInTimeThoughProbesAreAnsweredAllTheWhile) {
  ScriptedPeer peer({.linear_retries = 2, .exponential_retries = 2});
  peer.post(1, kMtu);
  const Instant start = peer.now();
  std::size_t answered = 0;
  while (peer.state() != QueuePairState::kError && peer.now() < start + seconds(1)) {
    for (const auto& probe : only<wire::ReliabilityProbe>(peer.await_packets(kTimeout))) {
      wire::Sack sack = peer.sack(0);
      sack.seth.trigger = wire::SackTrigger::probe(probe.peth.id);
      peer.advance(kRtt);
      peer.deliver(sack);
      ++answered;
    }
  }
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_GT(answered, 5U);
  EXPECT_LE(peer.now() - start, kTimeout * (3 + 2 + 4 + 1)) << "the intervals, and one more";
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kRetryExceeded});
}

}  // namespace
}  // namespace openmrc::core
