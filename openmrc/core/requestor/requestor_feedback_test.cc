// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/requestor.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::ev_of;
using test::fixed_window;
using test::ids_of;
using test::kMtu;
using test::kPacket;
using test::kRtt;
using test::nscc;
using test::only;
using test::psns_of;
using test::ScriptedPeer;
using test::statuses_of;
using test::write_of;
using wire::NackReason;
using Sent = std::vector<Transmit>;
using Psns = std::vector<std::uint32_t>;

// The packet after `index` that took the same path.
std::size_t next_on_same_ev(const Sent& sent, std::size_t index) {
  for (std::size_t i = index + 1; i < sent.size(); ++i) {
    if (ev_of(sent[i]) == ev_of(sent[index])) return i;
  }
  ADD_FAILURE() << "no packet took that path again";
  return index;
}

// ---- SACKs ----

// MRC 7.4.5 (CC-6, REL-32)
TEST(Requestor, ForgetsWhatTheCumulativePsnCovers) {
  ScriptedPeer peer;
  peer.post(1, 10 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(4));
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(104));
  EXPECT_EQ(peer.peer().in_flight, kPacket * 6);
}

// MRC 7.4.5 (CC-6, REL-32, WIRE-63)
TEST(Requestor, ForgetsWhatTheBitmapShows) {
  ScriptedPeer peer({.evs_per_plane = 64});
  peer.post(1, 20 * kMtu);
  (void)peer.collect();
  wire::Sack sack = peer.sack(2);
  sack.seth.sack_offset = 5;
  sack.seth.sack_bitmap = 0b1011;  // PSNs 106, 107 and 109
  peer.deliver(sack);
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(102));
  EXPECT_EQ(peer.peer().in_flight, kPacket * 15);
  peer.deliver(sack);
  EXPECT_EQ(peer.peer().in_flight, kPacket * 15) << "each is taken once";
}

// MRC 7.4.5
TEST(Requestor, LearnsNothingFromAnOldSack) {
  ScriptedPeer peer;
  peer.post(1, 10 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(8));
  peer.deliver(peer.sack(3));
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(108));
  EXPECT_EQ(peer.peer().in_flight, kPacket * 2);
  EXPECT_EQ(peer.collect().size(), 0U);
  EXPECT_EQ(peer.count(Count::kSacksReceived), 2U);
}

// MRC 7.4.5 (PATH-41, REL-37, REL-42)
TEST(Requestor, HoldsAPacketForLostThatALaterOneOnItsPathOvertook) {
  ScriptedPeer peer;
  peer.post(1, 8 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.sack_out_of_order(next_on_same_ev(sent, 0)));
  const Sent again = peer.collect();
  EXPECT_EQ(psns_of(again), (Psns{100}));
  EXPECT_EQ(peer.count(Count::kRetransmitsLoss), 1U);
  EXPECT_EQ(peer.endpoint().counters().lost(sent[0].plane), 1U);
  EXPECT_EQ(peer.endpoint().counters().trimmed(sent[0].plane), 0U);
  EXPECT_EQ(peer.ev_state(ev_of(sent[0])), EvState::kGood) << "SACKs overtake each other as well";
}

// 40 packets of which the first four on one path are known, and the first of them is overtaken.
struct OneOvertaken {
  OneOvertaken() {
    peer.post(1, 40 * kMtu);
    sent = peer.collect();
    const std::size_t second = next_on_same_ev(sent, 0);
    fourth = next_on_same_ev(sent, next_on_same_ev(sent, second));
    peer.deliver(peer.sack_out_of_order(second));
  }
  // So that the third is overtaken, too.
  void deliver_the_fourth() { peer.deliver(peer.sack_out_of_order(fourth)); }

  ScriptedPeer peer;
  Sent sent;
  std::size_t fourth = 0;
};

// MRC 9.3.1 (PATH-41)
TEST(Requestor, SuspectsAPathOnWhichASecondPacketIsOvertakenSoon) {
  OneOvertaken path;
  EXPECT_EQ(path.peer.ev_state(ev_of(path.sent[0])), EvState::kGood);
  path.deliver_the_fourth();
  EXPECT_EQ(path.peer.count(Count::kEvsSuspected), 1U);
  EXPECT_EQ(path.peer.ev_state(ev_of(path.sent[0])), EvState::kSuspect);
}

// MRC 9.3.1
TEST(Requestor, ToleratesAnotherOvertakenPacketIfTheFirstWasOnlyLate) {
  OneOvertaken path;
  path.peer.deliver(path.peer.sack(1));
  EXPECT_EQ(path.peer.count(Count::kSpuriousRetransmits), 1U);
  path.deliver_the_fourth();
  EXPECT_EQ(path.peer.count(Count::kEvsSuspected), 0U);
}

// MRC 7.4.5 (REL-33)
TEST(Requestor, DoesNotHoldAPacketForLostBecauseOfOtherPaths) {
  ScriptedPeer peer({.evs_per_plane = 64});
  peer.post(1, 40 * kMtu);
  (void)peer.collect();
  wire::Sack sack = peer.sack(0);
  sack.seth.sack_bitmap = (std::uint64_t{1} << 40) - 2;  // all but the first
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 0U);
}

// Sends 100 at once, and 101 after `later`; then 101 arrives.
void send_two_and_deliver_the_second(ScriptedPeer& peer, Duration later) {
  peer.post(1, kMtu);
  (void)peer.collect();
  peer.advance(later);
  peer.post(2, kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack_out_of_order(1));
}

// MRC 7.4.5 (PATH-40, REL-38)
TEST(Requestor, HoldsAPacketForLostThatWasSentSevenEighthsOfARoundTripEarlier) {
  ScriptedPeer early({.evs_per_plane = 64});
  send_two_and_deliver_the_second(early, kRtt * 7 / 8);
  EXPECT_EQ(early.collect().size(), 0U) << "it may still come";
  ScriptedPeer late({.evs_per_plane = 64});
  send_two_and_deliver_the_second(late, kRtt * 7 / 8 + nanoseconds(1));
  EXPECT_EQ(late.count(Count::kEvsSuspected), 1U);
  EXPECT_EQ(psns_of(late.collect()), (Psns{100}));
}

// MRC 7.4.5 (REL-43)
TEST(Requestor, WaitsLongerForLatePacketsOnceOneTurnedUpThatWasHeldForLost) {
  ScriptedPeer peer({.evs_per_plane = 64});
  send_two_and_deliver_the_second(peer, kRtt);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
  peer.advance(kRtt / 4);
  peer.deliver(peer.sack(2));  // sooner than the retransmission can have been acknowledged
  EXPECT_EQ(peer.count(Count::kSpuriousRetransmits), 1U);
  EXPECT_EQ(peer.peer().losses.lateness(), kRtt / 4);
}

// MRC 7.4.5 (REL-43)
TEST(Requestor, GivesTheWindowBackWhatALossTookThatWasNone) {
  ScriptedPeer peer({.evs_per_plane = 64,
                     .congestion = nscc_defaults({.mtu = kPacket,
                                                  .base_rtt = kRtt,
                                                  .link_bits_per_second = 100'000'000'000,
                                                  .trimming = true})});
  const ByteCount before = peer.peer().congestion.window();
  send_two_and_deliver_the_second(peer, kRtt);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
  EXPECT_LT(peer.peer().congestion.window(), before);
  peer.advance(kRtt / 4);
  peer.deliver(peer.sack(2));
  EXPECT_EQ(peer.count(Count::kSpuriousRetransmits), 1U);
  EXPECT_EQ(peer.peer().congestion.window(), before);
}

// MRC 7.4.5 (REL-41)
TEST(Requestor, DoesNotWaitLongerForARetransmissionThatArrives) {
  ScriptedPeer peer({.evs_per_plane = 64});
  send_two_and_deliver_the_second(peer, kRtt * 2);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
  peer.advance(kRtt);
  peer.deliver(peer.sack(2));
  EXPECT_EQ(peer.count(Count::kSpuriousRetransmits), 0U);
  EXPECT_EQ(peer.peer().losses.lateness(), Duration{});
}

// MRC 7.4.5 (REL-40)
TEST(Requestor, HoldsNothingForLostBelowTheReorderFloor) {
  ScriptedPeer early({.evs_per_plane = 64, .reorder_floor = kRtt * 5});
  send_two_and_deliver_the_second(early, kRtt * 5);
  EXPECT_EQ(early.count(Count::kRetransmitsLoss), 0U);
  EXPECT_EQ(only<wire::RdmaWrite>(early.collect()).size(), 0U) << "it may still come";
  ScriptedPeer late({.evs_per_plane = 64, .reorder_floor = kRtt * 5});
  send_two_and_deliver_the_second(late, kRtt * 5 + nanoseconds(1));
  EXPECT_EQ(only<wire::RdmaWrite>(late.collect()).size(), 1U);
  EXPECT_EQ(late.count(Count::kRetransmitsLoss), 1U);
}

// MRC 7.4.5: the way that a SACK takes may be longer than that of the one before it.
TEST(Requestor, AGapOnOnePathIsLookedAtAgainWhenTheReorderFloorHasPassed) {
  ScriptedPeer peer({.evs_per_plane = 1, .reorder_floor = kRtt / 2});
  peer.post(1, 2 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack_out_of_order(1));
  EXPECT_TRUE(peer.collect().empty()) << "both were sent at once";
  peer.advance(kRtt / 2);
  peer.post(2, kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack_out_of_order(2));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100})) << "sooner than over different paths";
}

// MRC 7.4.6 (REL-64)
TEST(Requestor, AProbeShowsNothingForLostBelowTheReorderFloor) {
  for (const bool late : {false, true}) {
    ScriptedPeer peer({.reorder_floor = kRtt * (late ? 2 : 3)});
    peer.post(1, kMtu);
    (void)peer.collect();
    const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kRtt * 2));
    ASSERT_EQ(probes.size(), 1U);
    wire::Sack answer = peer.sack(0);
    answer.seth.trigger = wire::SackTrigger::probe(probes[0].peth.id);
    peer.deliver(answer);
    EXPECT_EQ(only<wire::RdmaWrite>(peer.collect()).size(), late ? 1U : 0U);
  }
}

// MRC 7.4.6, 8. The answer shows 64 packets. What is above may have arrived or not, but it has left
// the network: were it to count as in flight, a window that was cut below it would stay closed
// until the timeout (REL-68).
TEST(Requestor, WhatWasSentLongBeforeAnAnsweredProbeDoesNotCloseTheWindow) {
  ScriptedPeer peer({.evs_per_plane = 64, .congestion = nscc()});
  peer.post(1, 1000 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_GT(sent.size(), 70U);
  const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kRtt * 2));
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_FALSE(peer.peer().network_is_empty);
  wire::Sack answer = peer.sack(0);
  answer.seth.trigger = wire::SackTrigger::probe(probes[0].peth.id);
  answer.seth.sack_bitmap = ~std::uint64_t{0};
  answer.cc_state.ooo_count = 66;
  peer.deliver(answer);
  EXPECT_TRUE(peer.peer().network_is_empty);
  EXPECT_FALSE(only<wire::RdmaWrite>(peer.collect()).empty());
  EXPECT_FALSE(peer.peer().network_is_empty);

  Peer cut(EvProfile::simple({.planes = 1, .evs_per_plane = 1, .seed = 1}), nscc(), 1);
  cut.in_flight = cut.congestion.window() * 2;
  EXPECT_FALSE(cut.may_send(kPacket));
  cut.network_is_empty = true;
  EXPECT_TRUE(cut.may_send(kPacket));
}

// MRC 7.4.5 (REL-41)
TEST(Requestor, WhatIsTooSoonGoesByTheLeastRoundTripNotByTheBaseOne) {
  NsccSettings settings = std::get<NsccSettings>(nscc());
  settings.measures_base_rtt = false;
  for (const bool seen : {false, true}) {
    ScriptedPeer peer({.evs_per_plane = 64, .congestion = settings});
    if (seen) {
      peer.post(9, kMtu);
      (void)peer.collect();
      peer.advance(kRtt / 2);
      peer.deliver(peer.sack(1));
      peer.deliver(peer.acknowledge(1, 1));
    }
    const std::int64_t base = seen ? 1 : 0;
    peer.post(1, kMtu);
    (void)peer.collect();
    peer.advance(kRtt);
    peer.post(2, kMtu);
    (void)peer.collect();
    peer.deliver(peer.sack_out_of_order(static_cast<std::size_t>(base + 1)));
    EXPECT_EQ(psns_of(peer.collect()).size(), 1U);
    peer.advance(kRtt / 2);
    peer.deliver(peer.sack(base + 2));
    EXPECT_EQ(peer.count(Count::kSpuriousRetransmits), seen ? 0U : 1U);
  }
}

// MRC 7.4.5 (REL-41): a path must not count as good because the base RTT is configured far too
// long.
TEST(Requestor, ARetransmissionThatComesBackSoonClearsNoPathWhereRoundTripsAreShort) {
  NsccSettings settings = std::get<NsccSettings>(nscc());
  settings.measures_base_rtt = false;
  constexpr Duration kShort = kRtt / 20;
  ScriptedPeer peer({.evs_per_plane = 64, .congestion = settings});
  peer.post(9, kMtu);
  (void)peer.collect();
  peer.advance(kShort);
  peer.deliver(peer.sack(1));
  peer.deliver(peer.acknowledge(1, 1));
  peer.post(1, kMtu);
  const Sent lost = peer.collect();
  peer.advance(kRtt * 2);
  peer.post(2, kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack_out_of_order(2));
  EXPECT_EQ(psns_of(peer.collect()).size(), 1U);
  EXPECT_EQ(peer.ev_state(ev_of(lost.at(0))), EvState::kSuspect);
  peer.advance(kShort);
  peer.deliver(peer.sack(3));
  EXPECT_EQ(peer.count(Count::kSpuriousRetransmits), 0U);
  EXPECT_EQ(peer.ev_state(ev_of(lost.at(0))), EvState::kSuspect);
}

// MRC 7.4.5 (REL-58)
TEST(Requestor, DoesNotSendTwiceForTheSameNews) {
  ScriptedPeer peer;
  peer.post(1, 8 * kMtu);
  const Sent sent = peer.collect();
  const wire::Sack sack = peer.sack_out_of_order(next_on_same_ev(sent, 0));
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 1U);
  peer.deliver(sack);
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 0U);
}

// MRC 7.4.4 (REL-55, REL-56)
TEST(Requestor, SaysOfARetransmissionThatItIsOne) {
  ScriptedPeer peer;
  peer.post(1, 8 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.sack_out_of_order(next_on_same_ev(sent, 0)));
  const Sent again = peer.collect();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(write_of(again[0]).retransmission);
  EXPECT_TRUE(write_of(again[0]).ack_request);
  EXPECT_EQ(again[0].packet.traffic_class, wire::TrafficClass::kTrimmableRetransmission);
  EXPECT_EQ(write_of(again[0]).part, write_of(sent[0]).part);
  EXPECT_EQ(write_of(again[0]).meth, write_of(sent[0]).meth);
  EXPECT_EQ(write_of(again[0]).reth, write_of(sent[0]).reth);
  EXPECT_EQ(write_of(again[0]).payload.size(), write_of(sent[0]).payload.size());
}

// MRC 7.4.4 (REL-57)
TEST(Requestor, RetransmitsOnAnotherPath) {
  // A refusal does not disable the path, so that only the rule keeps the packet off it.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ScriptedPeer peer({.evs_per_plane = 2, .seed = seed});
    peer.post(1, kMtu);
    const Sent sent = peer.collect();
    peer.deliver(peer.nack(sent[0], NackReason::kNoResource));
    const Sent again = peer.collect();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_NE(ev_of(again[0]), ev_of(sent[0])) << "seed " << seed;
  }
}

// MRC 7.4.4 (REL-53)
TEST(Requestor, SendsTheOldestGapFirstAndGapsBeforeNewPackets) {
  ScriptedPeer peer({.congestion = fixed_window(8)});
  peer.post(1, 20 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 8U);
  for (const std::size_t index : {6U, 1U, 3U}) {
    peer.deliver(peer.nack(sent[index], NackReason::kNoResource));
  }
  peer.deliver(peer.sack(1));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{101, 103, 106, 108}));
}

// MRC 7.4.4 (REL-54)
TEST(Requestor, RetransmitsOnlyWithinTheCongestionWindow) {
  ScriptedPeer peer({.evs_per_plane = 64, .congestion = nscc()});
  peer.post(1, 1000 * kMtu);
  const Sent sent = peer.collect();
  for (std::size_t i = 0; i < 20; ++i) {
    peer.deliver(peer.nack(sent[i], NackReason::kTrimmed));
    (void)peer.collect();
    EXPECT_LE(peer.peer().in_flight, peer.peer().congestion.window());
  }
}

// MRC 9.3.1 (PATH-14, PATH-79)
TEST(Requestor, PassesOverAPathThatMetCongestion) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ScriptedPeer peer({.evs_per_plane = 8, .seed = seed});
    peer.post(1, 12 * 8 * kMtu);  // whole rounds
    const Ev marked = ev_of(peer.collect().at(0));
    wire::Sack sack = peer.sack(1);
    sack.seth.mark = wire::PathMark::kSkipOnce;
    sack.seth.entropy = marked;
    peer.deliver(sack);
    EXPECT_EQ(peer.ev_state(marked), EvState::kSkip);
    EXPECT_EQ(peer.count(Count::kEvsMarked), 1U);
    peer.post(2, (7 + 8 + 8) * kMtu);
    unsigned uses = 0;
    for (const Transmit& packet : peer.collect()) {
      if (ev_of(packet) == marked) ++uses;
    }
    // In one of three rounds it is passed over; in two, if it is the last of one and would be the
    // first of the next, for the same packet.
    EXPECT_TRUE(uses == 1 || uses == 2) << uses;
    EXPECT_EQ(peer.ev_state(marked), EvState::kGood);
  }
}

// MRC 9.3.1 (PATH-16, PATH-25, PATH-79)
TEST(Requestor, LeavesAPathThatThePeerHoldsForBad) {
  ScriptedPeer peer({.evs_per_plane = 8});
  peer.post(1, 10 * kMtu);
  const Ev bad = ev_of(peer.collect().at(0));
  wire::Sack sack = peer.sack(1);
  sack.seth.mark = wire::PathMark::kAlwaysSkip;
  sack.seth.entropy = bad;
  peer.deliver(sack);
  EXPECT_EQ(peer.ev_state(bad), EvState::kAssumedBad);
  peer.post(2, 50 * kMtu);
  for (const Transmit& packet : peer.collect()) EXPECT_NE(ev_of(packet), bad);
  const auto events = peer.events();
  ASSERT_EQ(events.size(), 1U);
  const auto& change = std::get<EvChange>(events[0]);
  EXPECT_EQ(change.ev, bad);
  EXPECT_EQ(change.after, EvState::kAssumedBad);
  EXPECT_EQ(change.cause, EvInput::kAlwaysSkip);
}

// ---- round trips ----

// MRC 8 (CC-8, REL-34)
TEST(Requestor, MeasuresTheRoundTripOfThePacketThatTriggeredTheSack) {
  ScriptedPeer peer({.congestion = nscc()});
  peer.post(1, 3 * kMtu);
  (void)peer.collect();
  peer.advance(kRtt * 3 / 2);
  ASSERT_EQ(peer.peer().congestion.rtt(), kRtt);
  peer.deliver(peer.sack(2));
  EXPECT_GT(peer.peer().congestion.rtt(), kRtt);
}

// The round trip that is known after a packet was sent twice and answered once.
Duration rtt_after_answer(bool as_retransmission) {
  ScriptedPeer peer({.congestion = nscc()});
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[0], NackReason::kNoResource));
  EXPECT_EQ(peer.collect().size(), 1U);
  peer.advance(kRtt * 3 / 2);
  wire::Sack sack = peer.sack(1);
  sack.retransmission = as_retransmission;
  peer.deliver(sack);
  return peer.peer().congestion.rtt();
}

// MRC 8 (REL-34): whether it is clear which transmission was answered.
TEST(Requestor, MeasuresTheRoundTripOfARetransmissionOnlyIfItIsAnsweredAsSuch) {
  EXPECT_EQ(rtt_after_answer(false), kRtt);
  EXPECT_GT(rtt_after_answer(true), kRtt);
}

// MRC 8: in a deep incast most packets are sent many times. Without any round trip the window would
// never open again (REL-34).
TEST(Requestor, MeasuresTheRoundTripOfAnyRetransmissionByItsTimestamp) {
  for (const bool latest : {false, true}) {
    ScriptedPeer peer({.congestion = nscc()});
    peer.post(1, kMtu);
    Sent sent = peer.collect();
    std::uint16_t ticks = 0;
    for (unsigned i = 0; i < 3; ++i) {
      peer.deliver(peer.nack(sent.at(0), NackReason::kNoResource));
      ticks = write_of(sent.at(0)).sent->ticks;
      peer.advance(microseconds(1));
      sent = peer.collect();
    }
    peer.advance(kRtt * 3 / 2);
    wire::Sack sack = peer.sack(1);
    sack.retransmission = true;
    sack.cc_state.tx_ticks = latest ? write_of(sent.at(0)).sent->ticks : ticks;
    peer.deliver(sack);
    EXPECT_EQ(peer.peer().congestion.rtt() > kRtt, latest);
  }
}

// MRC 8 (REL-35)
TEST(Requestor, MeasuresTheRoundTripThoughTheAcknowledgementOvertookTheSack) {
  // Every message of one packet is answered by both, and the acknowledgement may come first. If
  // that hid the round trip, congestion control would never hear of one.
  ScriptedPeer peer({.congestion = nscc()});
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  peer.advance(kRtt * 3 / 2);
  peer.deliver(peer.acknowledge(1, 1));
  wire::Sack sack = peer.sack(1);
  sack.seth.entropy = ev_of(sent[0]);
  sack.cc_state.tx_ticks = write_of(sent[0]).sent->ticks;
  peer.deliver(sack);
  EXPECT_GT(peer.peer().congestion.rtt(), kRtt);
}

// MRC 8 (CC-25), UET 3.6.13
TEST(Requestor, TheAnswerToAProbeMeasuresTheBaseRoundTrip) {
  ScriptedPeer peer({.congestion = nscc()});
  peer.post(1, kMtu);
  (void)peer.collect();
  const auto probes = only<wire::ReliabilityProbe>(peer.await_packets(kRtt * 2));
  ASSERT_EQ(probes.size(), 1U);
  peer.advance(kRtt / 2);
  wire::Sack answer = peer.sack(0);
  answer.seth.trigger = wire::SackTrigger::probe(probes[0].peth.id);
  peer.deliver(answer);
  EXPECT_EQ(peer.peer().congestion.base_rtt(), kRtt / 2);
}

// MRC 8 (CC-11): SACKs overtake each other. A penalty shows what counts as newly received.
TEST(Requestor, TakesTheTotalOfAnOldSackForNothingNew) {
  ScriptedPeer peer({.evs_per_plane = 64, .congestion = nscc()});
  peer.post(1, 20 * kMtu);
  (void)peer.collect();
  const auto window_after = [&](std::int64_t packets) {
    wire::Sack sack = peer.sack(0);
    sack.cc_state.received_units = wire::received_units(kPacket * packets);
    sack.cc_state.receiver_penalty = 64;
    peer.deliver(sack);
    return peer.peer().congestion.window();
  };
  (void)window_after(4);
  const ByteCount after_old = window_after(2);
  EXPECT_EQ(window_after(4), after_old);
  EXPECT_LT(window_after(6), after_old);
  EXPECT_EQ(peer.count(Count::kDropSackBytes), 0U);
}

// ---- NACKs ----

struct NackCase {
  NackReason reason;
  EvState ev_after;
  Count counted_as;
};
// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for.
void PrintTo(const NackCase& nack, std::ostream* out) { *out << name(nack.reason); }

class RequestorNack : public testing::TestWithParam<NackCase> {
 protected:
  static bool is_out_of_window() { return GetParam().reason == NackReason::kPsnOutOfWindow; }
};

// MRC 7.5.3 (CC-6, REL-47)
TEST_P(RequestorNack, HasThePacketRetransmittedAtOnce) {
  ScriptedPeer peer;
  peer.post(1, 4 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[2], GetParam().reason));
  EXPECT_EQ(peer.count(Count::kNacksReceived), 1U);
  const Sent again = peer.collect();
  ASSERT_EQ(psns_of(again), (Psns{102}));
  EXPECT_TRUE(write_of(again[0]).retransmission);
  EXPECT_EQ(peer.count(GetParam().counted_as), 1U);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  EXPECT_EQ(peer.peer().in_flight, kPacket * 4);
}

// MRC 7.5.3 (PATH-15, REL-49)
TEST_P(RequestorNack, BlamesThePathOnlyForATrimOnTheWay) {
  ScriptedPeer peer;
  peer.post(1, 4 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[2], GetParam().reason));
  EXPECT_EQ(peer.ev_state(ev_of(sent[2])), GetParam().ev_after);
}

// MRC 8 (CC-9, CC-10, REL-42, REL-48)
TEST_P(RequestorNack, CutsTheWindow) {
  ScriptedPeer peer({.evs_per_plane = 64, .congestion = nscc()});
  peer.post(1, 100 * kMtu);
  const Sent sent = peer.collect();
  const ByteCount before = peer.peer().congestion.window();
  peer.deliver(peer.nack(sent[2], GetParam().reason));
  EXPECT_LT(peer.peer().congestion.window(), before);
}

TEST_P(RequestorNack, OfATrimIsCountedByPlaneAndAShortageIsNobodysLoss) {
  ScriptedPeer peer;
  peer.post(1, 4 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[1], GetParam().reason));
  const Counters& counters = peer.endpoint().counters();
  const bool is_trim = GetParam().counted_as != Count::kRetransmitsRefused;
  EXPECT_EQ(counters.trimmed(sent[1].plane), is_trim ? 1U : 0U);
  EXPECT_EQ(counters.lost(sent[1].plane), 0U);
}

// MRC 7.4.1 (REL-79)
TEST_P(RequestorNack, OfARetransmissionIsChargedAsARetryIfItIsOutOfTheWindow) {
  ScriptedPeer peer;
  peer.post(1, 4 * kMtu);
  Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[0], GetParam().reason));
  sent = peer.collect();
  const auto before = peer.requestor().retries();
  peer.deliver(peer.nack(sent[0], GetParam().reason));
  EXPECT_EQ(peer.requestor().retries(), before + (is_out_of_window() ? 1 : 0));
  peer.deliver(peer.sack(1));
  EXPECT_EQ(peer.requestor().retries(), 0U) << "progress";
}

// MRC 7.4.1 (REL-81)
TEST_P(RequestorNack, AgainAndAgainEndsTheQueuePairIfItIsOutOfTheWindow) {
  ScriptedPeer peer({.linear_retries = 2, .exponential_retries = 1});
  peer.post(1, kMtu);
  for (unsigned tries = 0; tries < 10 && peer.state() == QueuePairState::kReadyToSend; ++tries) {
    const Sent sent = peer.collect();
    ASSERT_EQ(sent.size(), 1U);
    peer.deliver(peer.nack(sent[0], GetParam().reason));
  }
  if (!is_out_of_window()) {
    EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend) << "neither congestion nor a shortage is";
    return;
  }
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kRetryExceeded});
}

INSTANTIATE_TEST_SUITE_P(
    Table73, RequestorNack,
    testing::Values(
        NackCase{NackReason::kTrimmed, EvState::kSkip, Count::kRetransmitsTrim},
        NackCase{NackReason::kTrimmedLastHop, EvState::kGood, Count::kRetransmitsTrimLastHop},
        NackCase{NackReason::kNoBitmap, EvState::kGood, Count::kRetransmitsRefused},
        NackCase{NackReason::kNoPacketBuffer, EvState::kGood, Count::kRetransmitsRefused},
        NackCase{NackReason::kNoResource, EvState::kGood, Count::kRetransmitsRefused},
        NackCase{NackReason::kPsnOutOfWindow, EvState::kGood, Count::kRetransmitsRefused}),
    [](const auto& of) { return std::string(name(of.param.reason)); });

// MRC 7.5.3 (QP-30, REL-50)
TEST(Requestor, EndsAtAnUnexpectedEventOfThePeer) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  peer.post(2, kMtu);
  peer.post(3, kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[1], NackReason::kUnexpectedEvent));
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(peer.collect().size(), 0U) << "it is not retried";
  const auto completions = peer.completions();
  EXPECT_EQ(ids_of(completions), (std::vector<WorkId>{1, 2, 3}));
  EXPECT_EQ(
      statuses_of(completions),
      (std::vector{WorkStatus::kFlushed, WorkStatus::kRemoteOperation, WorkStatus::kFlushed}));
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, WorkStatus::kRemoteOperation);
  EXPECT_TRUE(failure->by_peer);
  EXPECT_EQ(failure->psn, write_of(sent[1]).psn);
}

// MRC 7.5.3 (SEC-14)
TEST(Requestor, IgnoresANackOfAnEarlierTransmission) {
  ScriptedPeer peer({.evs_per_plane = 2});
  peer.post(1, kMtu);
  const Sent first = peer.collect();
  peer.deliver(peer.nack(first[0], NackReason::kTrimmed));
  ASSERT_EQ(peer.collect().size(), 1U);
  peer.deliver(peer.nack(first[0], NackReason::kTrimmed));
  EXPECT_EQ(peer.count(Count::kDropNackStale), 1U);
  EXPECT_EQ(peer.collect().size(), 0U);
}

// MRC 7.5.3 (SEC-14): the path is the same; only the time of transmission tells.
TEST(Requestor, IgnoresANackOfAnEarlierTransmissionOnTheSamePath) {
  ScriptedPeer peer({.planes = 1, .evs_per_plane = 1});
  peer.post(1, kMtu);
  const Sent first = peer.collect();
  peer.advance(kRtt);
  peer.deliver(peer.nack(first[0], NackReason::kTrimmed));
  const Sent second = peer.collect();
  ASSERT_EQ(second.size(), 1U);
  ASSERT_EQ(ev_of(second[0]), ev_of(first[0]));
  peer.deliver(peer.nack(first[0], NackReason::kTrimmed));
  EXPECT_EQ(peer.count(Count::kDropNackStale), 1U);
  EXPECT_EQ(peer.collect().size(), 0U);
}

// The acknowledgement of a short message overtakes its SACK, whose timestamp wraps after 8.4 ms.
// REL-35
TEST(Requestor, ARoundTripThatIsLongerThanATurnOfTheTimestampIsNotTakenForAShortOne) {
  constexpr Duration kTurn = ticks_long(0xffff) + ticks_long(1);
  ScriptedPeer peer({.timeout = 20, .congestion = test::nscc()});
  peer.post(1, kMtu);
  (void)peer.collect();
  const std::uint16_t sent = ticks_at(peer.now());
  peer.advance(kTurn);
  peer.deliver(peer.acknowledge(1, 1));
  wire::Sack sack = peer.sack(1);
  sack.cc_state.tx_ticks = sent;
  const Duration before = peer.peer().congestion.rtt();
  peer.deliver(sack);
  EXPECT_GT(peer.peer().congestion.rtt(), before);
}

}  // namespace
}  // namespace openmrc::core
