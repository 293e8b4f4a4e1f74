// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/wire/field/connection_id.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::Arrival;
using test::ids_of;
using test::kMtu;
using test::kPacket;
using test::kRtt;
using test::only;
using test::ScriptedPeer;
using test::statuses_of;
using wire::MessagePart;
using wire::NackReason;

constexpr Arrival kMarked{.ecn = wire::Ecn::kCongested};

std::vector<wire::Sack> sacks(ScriptedPeer& peer) { return peer.collect_only<wire::Sack>(); }
std::vector<wire::Nack> nacks(ScriptedPeer& peer) { return peer.collect_only<wire::Nack>(); }
std::vector<wire::Acknowledge> acknowledgements(ScriptedPeer& peer) {
  return peer.collect_only<wire::Acknowledge>();
}

// A request that asks for a SACK.
wire::RdmaWrite asking(const ScriptedPeer& peer, std::int64_t index) {
  wire::RdmaWrite write = peer.write(index);
  write.ack_request = true;
  return write;
}

// The `index`th request as the `rqmsn`th message with immediate.
wire::RdmaWrite with_immediate(const ScriptedPeer& peer, std::int64_t index, std::int64_t rqmsn) {
  wire::RdmaWrite write = peer.write(index);
  write.part = MessagePart::only(wire::Immediate(static_cast<std::uint32_t>(0x1000 + rqmsn)));
  write.meth.rqmsn = Rqmsn{} + rqmsn;
  return write;
}

wire::TrimmedWrite trimmed(const ScriptedPeer& peer, std::int64_t index,
                           wire::TrimPlace place = wire::TrimPlace::kOnPath) {
  const wire::RdmaWrite write = peer.write(index);
  return {.place = place,
          .destination_qp = write.destination_qp,
          .psn = write.psn,
          .kind = write.part.kind(),
          .meth = write.meth,
          .sent = write.sent};
}

// ---- when a SACK is sent ----

// MRC 7.5.2 (REL-21)
TEST(Responder, SendsNoSackWithoutReason) {
  ScriptedPeer peer;
  for (std::int64_t i = 0; i < 15; ++i) peer.deliver(peer.write(i));
  EXPECT_TRUE(sacks(peer).empty());
  EXPECT_EQ(peer.count(Count::kDataReceived), 15U);
}

// MRC 7.5.2 (REL-15, REL-21)
TEST(Responder, SendsASackForEvery16KiB) {
  ScriptedPeer peer;
  for (std::int64_t i = 0; i < 16; ++i) peer.deliver(peer.write(i));
  EXPECT_EQ(sacks(peer).size(), 1U);
  for (std::int64_t i = 16; i < 31; ++i) peer.deliver(peer.write(i));
  EXPECT_EQ(sacks(peer).size(), 0U) << "the count begins anew";
  peer.deliver(peer.write(31));
  EXPECT_EQ(sacks(peer).size(), 1U);
}

// MRC 7.5.2 (REL-15)
TEST(Responder, CountsASmallPacketAsOneKiB) {
  ScriptedPeer peer;
  for (std::int64_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(sacks(peer).empty()) << i;
    wire::RdmaWrite write = peer.write(i);
    write.payload = wire::Payload::of_bytes(write.payload.bytes().first(1));
    write.reth.dma_length = 1;
    peer.deliver(write);
  }
  EXPECT_EQ(sacks(peer).size(), 1U);
}

// MRC 7.5.2 (REL-15)
TEST(Responder, CountsALargePacketAsItIs) {
  ScriptedPeer peer({.mtu = 4096});
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(sacks(peer).empty()) << i;
    peer.deliver(peer.write(i));
  }
  EXPECT_EQ(sacks(peer).size(), 1U);
}

// MRC 7.5.2 (REL-16)
TEST(Responder, SendsASackWhenAsked) {
  ScriptedPeer peer;
  peer.deliver(asking(peer, 0));
  EXPECT_EQ(sacks(peer).size(), 1U);
}

// MRC 7.5.2 (REL-17, REL-24)
TEST(Responder, SendsASackForAPacketThatMetCongestion) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0), kMarked);
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].seth.mark, wire::PathMark::kSkipOnce);
  EXPECT_EQ(peer.count(Count::kEcnMarkedReceived), 1U);
}

// MRC 7.5.2 (REL-18, REL-23, REL-24)
TEST(Responder, SendsASackForARetransmissionAndSaysThatItWasOne) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.retransmission = true;
  peer.deliver(write);
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_TRUE(sent[0].retransmission);
  EXPECT_EQ(sent[0].seth.mark, wire::PathMark::kNone);
}

// MRC 7.5.2 (REL-19, REL-22, REL-25)
TEST(Responder, AnswersAProbeWithASackThatNamesIt) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  peer.deliver(peer.write(2));
  peer.deliver(peer.probe(0x4321), {.ev = Ev(0xabcd)});
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), kSearchWidth);
  EXPECT_EQ(sent[0].seth.trigger, wire::SackTrigger::probe(wire::ProbeId(0x4321)));
  EXPECT_EQ(sent[0].seth.entropy, Ev(0xabcd));
  EXPECT_EQ(sent[0].cc_state.tx_ticks, 0x7777);
  EXPECT_EQ(sent[0].seth.cack_psn, Psn(5000));
  EXPECT_EQ(sent[0].seth.bitmap_base(), Psn(5001));
  EXPECT_EQ(sent[0].seth.sack_bitmap, 0b10U);
  EXPECT_EQ(peer.count(Count::kProbesReceived), 1U);
}

// MRC 6.5 (REL-31)
TEST(Responder, ShowsTheLowestGapToAProbeWhateverWasReportedBefore) {
  ScriptedPeer peer;
  for (const std::int64_t i : {0, 3}) peer.deliver(asking(peer, i));
  wire::RdmaWrite far = asking(peer, 0);
  far.psn = Psn(5000) + 200;
  far.meth = peer.write(200).meth;
  peer.deliver(far);
  (void)sacks(peer);
  peer.deliver(peer.probe(1));
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), kSearchWidth);
  EXPECT_EQ(sent[0].seth.bitmap_base(), Psn(5001));
  EXPECT_EQ(sent[0].seth.sack_bitmap, 0b100U);
  EXPECT_EQ(sent[0].cc_state.ooo_count, 2);
}

// ---- what it says ----

// MRC 7.5.2.2 (REL-22, REL-25, REL-26)
TEST(Responder, SaysInASackWhatHasArrived) {
  ScriptedPeer peer;
  for (const std::int64_t i : {0, 1, 3}) peer.deliver(peer.write(i));
  peer.deliver(asking(peer, 5), {.ev = Ev(0x7777c123)});
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  const wire::Sack expected{
      .destination_qp = ScriptedPeer::kRemoteQpn,
      .seth = {.trigger = wire::SackTrigger::packet(4),
               .entropy = Ev(0x7777c123),
               .spdcid = wire::connection_id(peer.qpn()),
               .dpdcid = wire::connection_id(ScriptedPeer::kRemoteQpn),
               .cack_psn = Psn(5001),
               .sack_offset = 1,
               .sack_bitmap = 0b1010},
      .cc_state = {
          .tx_ticks = 0x5a5a, .ooo_count = 2, .received_units = wire::received_units(kPacket * 4)}};
  EXPECT_EQ(sent[0], expected);
}

// MRC 7.5.2 (REL-28)
TEST(Responder, SaysWhatHasArrivedByTheTimeThatTheSackLeaves) {
  ScriptedPeer peer;
  peer.deliver(asking(peer, 0));
  peer.deliver(peer.write(1));
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].seth.cack_psn, Psn(5001));
}

// MRC 7.5.2 (REL-25): the field has 16 bits.
TEST(Responder, NamesADuplicateFromFarBelowByTheLargestDistance) {
  ScriptedPeer peer({.remote_psn = Psn(0x10000)});
  wire::RdmaWrite old = peer.write(0);
  old.psn = Psn(0x10000 - 0x9000);
  peer.deliver(old);
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].seth.trigger, wire::SackTrigger::packet(-0x8000));
}

// MRC 7.5.2.2 (REL-29)
TEST(Responder, ShowsTheLatestPacketsHoweverFarTheGapIsBehind) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  wire::RdmaWrite far = asking(peer, 0);
  far.psn = Psn(5000) + 700;
  far.meth = peer.write(700).meth;
  peer.deliver(far);
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].seth.cack_psn, Psn(5000));
  const std::int64_t bit = far.psn.distance_from(sent[0].seth.bitmap_base());
  ASSERT_TRUE(bit >= 0 && bit < 64) << bit;
  EXPECT_EQ(sent[0].seth.sack_bitmap, std::uint64_t{1} << bit);
}

// MRC 7.5.2.2 (REL-29)
TEST(Responder, ReportsEveryPacketSoonerOrLater) {
  ScriptedPeer peer;
  std::set<std::int64_t> unreported;
  for (std::int64_t offset = 1; offset < 1000; offset += 37) {
    wire::RdmaWrite write = peer.write(0);
    write.psn = Psn(5000) + offset;
    peer.deliver(write);
    unreported.insert(offset);
  }
  for (unsigned i = 0; i < 16; ++i) {
    wire::RdmaWrite again = asking(peer, 0);  // a duplicate brings a SACK and changes nothing
    again.psn = Psn(5001);
    peer.deliver(again);
  }
  for (const wire::Sack& sack : sacks(peer)) {
    const std::int64_t base = sack.seth.bitmap_base().distance_from(Psn(5000));
    for (std::int64_t bit = 0; bit < 64; ++bit) {
      if ((sack.seth.sack_bitmap >> bit & 1) != 0) unreported.erase(base + bit);
    }
  }
  EXPECT_TRUE(unreported.empty());
}

// MRC 7.5.2 (CC-11, REL-27)
TEST(Responder, CountsReceivedBytesOfNewPacketsOnly) {
  ScriptedPeer peer;
  peer.deliver(asking(peer, 0));
  peer.deliver(asking(peer, 0));
  peer.deliver(trimmed(peer, 1));
  peer.deliver(asking(peer, 2));
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[2].cc_state.received_units, wire::received_units(kPacket * 2));
}

// MRC 6.3.1 (REL-1)
TEST(Responder, GoesOnBeyondTheLastPsn) {
  ScriptedPeer peer({.remote_psn = Psn(0xfffffe)});
  for (std::int64_t i = 0; i < 4; ++i) peer.deliver(peer.write(i));
  peer.deliver(asking(peer, 5));
  const auto sent = peer.collect();
  const auto reports = only<wire::Sack>(sent);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].seth.cack_psn, Psn(1));
  EXPECT_EQ(reports[0].seth.sack_bitmap, 0b10U);
  const auto acks = only<wire::Acknowledge>(sent);
  ASSERT_EQ(acks.size(), 1U);
  EXPECT_EQ(acks[0].psn, Psn(1));
  EXPECT_EQ(acks[0].aeth.msn, AckMsn(4));
}

// MRC 7.5.1 (REL-4, REL-5)
TEST(Responder, OffersItsWindowOnlyIfThatWasAgreed) {
  ScriptedPeer fixed;
  fixed.deliver(asking(fixed, 0));
  EXPECT_EQ(sacks(fixed).at(0).seth.mpr, 0);
  ScriptedPeer dynamic({.dynamic_mpr = true});
  dynamic.deliver(asking(dynamic, 0));
  EXPECT_EQ(sacks(dynamic).at(0).seth.mpr, 8);
  EXPECT_TRUE(dynamic.endpoint().offer_mpr(dynamic.qpn(), 3));
  dynamic.deliver(asking(dynamic, 1));
  EXPECT_EQ(sacks(dynamic).at(0).seth.mpr, 3);
  EXPECT_FALSE(dynamic.endpoint().offer_mpr(dynamic.qpn(), 9)) << "more than at first";
  EXPECT_FALSE(dynamic.endpoint().offer_mpr(dynamic.qpn(), 0));
}

// MRC 7.5.1 (REL-8): what was in flight is not refused.
TEST(Responder, AcceptsItsFirstWindowThoughItOffersLessNow) {
  ScriptedPeer peer({.dynamic_mpr = true});
  ASSERT_TRUE(peer.endpoint().offer_mpr(peer.qpn(), 1));
  wire::RdmaWrite write = peer.write(0);
  write.psn = Psn(5000) + (8 * 128 - 1);
  peer.deliver(write);
  EXPECT_TRUE(nacks(peer).empty());
  EXPECT_TRUE(peer.is_placed(0));
}

// MRC 8 (CC-13, WIRE-31)
TEST(Responder, SpeaksInPacketsThatAreNeitherMarkedNorTrimmed) {
  ScriptedPeer peer;
  peer.deliver(asking(peer, 0));
  peer.deliver(trimmed(peer, 1));
  const auto sent = peer.collect();
  EXPECT_EQ(only<wire::Acknowledge>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Sack>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Nack>(sent).size(), 1U);
  for (const Transmit& one : sent) {
    EXPECT_EQ(one.packet.traffic_class, wire::TrafficClass::kControl);
    EXPECT_EQ(one.packet.ecn, wire::Ecn::kNotCapable);
  }
}

// MRC 8 (CC-38)
TEST(Responder, TellsItsPenaltyInEverySack) {
  ScriptedPeer peer;
  EXPECT_TRUE(peer.endpoint().set_receiver_penalty(peer.qpn(), 64, true));
  peer.deliver(asking(peer, 0));
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].cc_state.receiver_penalty, 64);
  EXPECT_TRUE(sent[0].cc_state.restore_cwnd);
  EXPECT_FALSE(peer.endpoint().set_receiver_penalty(peer.qpn(), 128, false));
}

// MRC 8 (CC-39), UET 3.6.13.2
TEST(Responder, WhileMuchIsTrimmedAtTheLastHopNobodysWindowIsToGrow) {
  const auto penalty_after = [](wire::TrimPlace place) {
    ScriptedPeer peer;
    peer.deliver(asking(peer, 0));
    for (std::int64_t psn = 1; psn < 5; ++psn) peer.deliver(trimmed(peer, psn, place));
    peer.advance(kRtt * FairShare::kEpochInRtts);
    (void)peer.collect();
    peer.deliver(asking(peer, 5));
    return sacks(peer).at(0).cc_state.receiver_penalty;
  };
  EXPECT_EQ(penalty_after(wire::TrimPlace::kLastHop), 1);
  EXPECT_EQ(penalty_after(wire::TrimPlace::kOnPath), 0) << "another path may be free";
}

// MRC 9.3.1 (PATH-65)
TEST(Responder, TakesWhatArrivesByAPortThatIsDownAndTellsThePeerToLeaveThePath) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), Plane(1), false);
  peer.deliver(peer.write(0), {.plane = Plane(0)});
  EXPECT_TRUE(sacks(peer).empty());
  peer.deliver(peer.write(1), {.plane = Plane(1)});
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].seth.mark, wire::PathMark::kAlwaysSkip);
  EXPECT_EQ(sent[0].seth.cack_psn, Psn(5001)) << "nothing is lost";
  peer.endpoint().set_port(peer.now(), Plane(1), true);
  peer.deliver(peer.write(2), {.plane = Plane(1)});
  EXPECT_TRUE(sacks(peer).empty());
}

// MRC 9.3.1 (PATH-65)
TEST(Responder, TellsAProbeThatArrivesByAPortThatIsDownToLeaveThePathToo) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), Plane(1), false);
  peer.deliver(peer.probe(7), {.plane = Plane(1)});
  const auto sent = sacks(peer);
  ASSERT_EQ(sent.size(), kSearchWidth);
  EXPECT_EQ(sent[0].seth.mark, wire::PathMark::kAlwaysSkip);
}

// ---- which PSNs are accepted ----

// MRC 6.3.1 (REL-10)
TEST(Responder, AcknowledgesAndReportsADuplicateBelowTheWindow) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  peer.deliver(peer.write(1));
  (void)peer.collect();
  wire::RdmaWrite again = peer.write(0);
  const std::vector<std::byte> other(kMtu, std::byte{0x11});
  again.payload = wire::Payload::of_bytes(other);
  peer.deliver(again);
  const auto sent = peer.collect();
  ASSERT_EQ(only<wire::Acknowledge>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Acknowledge>(sent)[0].aeth.msn, AckMsn(2));
  ASSERT_EQ(only<wire::Sack>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Sack>(sent)[0].seth.trigger, wire::SackTrigger::packet(-1));
  EXPECT_TRUE(peer.is_placed(0)) << "it is not placed again";
  EXPECT_EQ(peer.count(Count::kDuplicatesReceived), 1U);
  EXPECT_EQ(peer.count(Count::kDataReceived), 2U);
}

// MRC 6.3.1 (REL-11, REL-20)
TEST(Responder, ReportsADuplicateAboveTheGapWithoutAnAcknowledgement) {
  ScriptedPeer peer;
  peer.deliver(peer.write(2));
  (void)peer.collect();
  peer.deliver(peer.write(2));
  const auto sent = peer.collect();
  EXPECT_EQ(only<wire::Acknowledge>(sent).size(), 0U);
  ASSERT_EQ(only<wire::Sack>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Sack>(sent)[0].cc_state.ooo_count, 1);
  EXPECT_EQ(peer.count(Count::kDuplicatesReceived), 1U);
}

// MRC 6.3.1 (QP-10, REL-3, REL-12, WIRE-67)
TEST(Responder, AcceptsTheLastPsnOfTheWindowAndRefusesTheNext) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.psn = Psn(5000) + (8 * 128);
  peer.deliver(write, {.ev = Ev(0x9999c999)});
  const auto refused = nacks(peer);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].destination_qp, ScriptedPeer::kRemoteQpn);
  EXPECT_EQ(refused[0].neth, (wire::Neth{.reason = NackReason::kPsnOutOfWindow,
                                         .entropy = Ev(0x9999c999),
                                         .spdcid = wire::connection_id(peer.qpn()),
                                         .dpdcid = wire::connection_id(ScriptedPeer::kRemoteQpn),
                                         .psn = write.psn,
                                         .tx_ticks = 0x5a5a}));
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  write.psn = Psn(5000) + (8 * 128 - 1);
  peer.deliver(write);
  EXPECT_TRUE(nacks(peer).empty());
  EXPECT_TRUE(peer.is_placed(0));
}

// MRC 6.3.1 (REL-3)
TEST(Responder, MovesItsWindowWhenTheGapCloses) {
  ScriptedPeer peer({.mpr = 1});
  for (std::int64_t i = 1; i < 64; ++i) peer.deliver(peer.write(i));
  (void)peer.collect();
  wire::RdmaWrite beyond = peer.write(0);
  beyond.psn = Psn(5000) + 128;
  beyond.meth = peer.write(128).meth;
  peer.deliver(beyond);
  EXPECT_EQ(nacks(peer).size(), 1U);
  peer.deliver(peer.write(0));
  peer.deliver(beyond);
  EXPECT_EQ(nacks(peer).size(), 0U);
  beyond.psn = Psn(5000) + (64 + 128);
  peer.deliver(beyond);
  EXPECT_EQ(nacks(peer).size(), 1U);
}

// MRC 6.3 (REL-9, REL-13)
TEST(Responder, PlacesPacketsInWhateverOrderTheyCome) {
  ScriptedPeer peer;
  for (const std::int64_t i : {5, 0, 9, 3}) {
    EXPECT_FALSE(peer.is_placed(i));
    peer.deliver(peer.write(i));
    EXPECT_TRUE(peer.is_placed(i));
  }
  EXPECT_FALSE(peer.is_placed(1));
  EXPECT_EQ(peer.count(Count::kBytesPlaced), 4U * kMtu);
}

// MRC 6.3 (REL-70)
TEST(Responder, AcknowledgesMessagesTogether) {
  ScriptedPeer peer;
  for (std::int64_t i = 0; i < 3; ++i) peer.deliver(peer.write(i));
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].destination_qp, ScriptedPeer::kRemoteQpn);
  EXPECT_EQ(sent[0].psn, Psn(5002));
  EXPECT_EQ(sent[0].aeth, (wire::Aeth{.syndrome = wire::AckSyndrome::kAck, .msn = AckMsn(3)}));
}

// MRC 6.3 (REL-14, REL-69)
TEST(Responder, AcknowledgesAMessageOnlyWhenAllBeforeItHasArrived) {
  ScriptedPeer peer;
  peer.deliver(peer.write(1));
  peer.deliver(peer.write(2));
  EXPECT_TRUE(acknowledgements(peer).empty());
  peer.deliver(peer.write(0));
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].aeth.msn, AckMsn(3));
}

// MRC 6.3 (REL-69)
TEST(Responder, AcknowledgesAMessageAtItsEndOnly) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.part = MessagePart::first();
  peer.deliver(write);
  write = peer.write(1);
  write.part = MessagePart::middle();
  write.meth = {};
  peer.deliver(write);
  EXPECT_TRUE(acknowledgements(peer).empty());
  write = peer.write(2);
  write.part = MessagePart::last();
  write.meth = {};
  peer.deliver(write);
  EXPECT_EQ(acknowledgements(peer).at(0).aeth.msn, AckMsn(1));
}

// MRC 6.3
TEST(Responder, AcknowledgesAgainAfterAllPortsWereDown) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  peer.endpoint().set_port(peer.now(), Plane(0), false);
  EXPECT_TRUE(peer.collect().empty());
  peer.endpoint().set_port(peer.now(), Plane(0), true);
  peer.deliver(peer.write(1));
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].aeth.msn, AckMsn(2));
}

// ---- trimmed packets ----

// MRC 7.5.3 (REL-44, REL-51, WIRE-67)
TEST(Responder, AsksForATrimmedPacketAgain) {
  for (const auto& [place, reason] :
       {std::pair{wire::TrimPlace::kOnPath, NackReason::kTrimmed},
        std::pair{wire::TrimPlace::kLastHop, NackReason::kTrimmedLastHop}}) {
    ScriptedPeer peer;
    peer.deliver(trimmed(peer, 3, place), {.ev = Ev(0x4444c444)});
    const auto sent = nacks(peer);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].neth.reason, reason);
    EXPECT_EQ(sent[0].neth.psn, Psn(5003));
    EXPECT_EQ(sent[0].neth.entropy, Ev(0x4444c444));
    EXPECT_EQ(sent[0].neth.tx_ticks, 0x5a5a);
    EXPECT_TRUE(peer.memory_is_untouched());
    EXPECT_EQ(peer.count(Count::kTrimmedReceived), 1U);
    EXPECT_EQ(peer.count(Count::kDataReceived), 0U);
  }
}

// MRC 7.5.3 (REL-20)
TEST(Responder, ReportsATrimmedPacketThatHasArrivedBefore) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  (void)peer.collect();
  peer.deliver(trimmed(peer, 0));
  const auto sent = peer.collect();
  EXPECT_EQ(only<wire::Sack>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Nack>(sent).size(), 0U);
}

// MRC 7.5.3 (REL-51)
TEST(Responder, RefusesATrimmedPacketAboveTheWindowAsSuch) {
  ScriptedPeer peer;
  peer.deliver(trimmed(peer, 8 * 128));
  EXPECT_EQ(nacks(peer).at(0).neth.reason, NackReason::kPsnOutOfWindow);
}

// ---- immediates ----

// MRC 6.3 (REL-85)
TEST(Responder, CompletesAReceiveForAnImmediate) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 77));
  peer.deliver(with_immediate(peer, 0, 0));
  const auto completions = peer.completions();
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].id, 77U);
  EXPECT_EQ(completions[0].qpn, peer.qpn());
  EXPECT_EQ(completions[0].kind, WorkKind::kReceive);
  EXPECT_EQ(completions[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(completions[0].length, kMtu);
  EXPECT_EQ(completions[0].immediate, wire::Immediate(0x1000));
}

// MRC 6.3 (REL-85)
TEST(Responder, CompletesImmediatesInTheOrderInWhichTheyWereSent) {
  ScriptedPeer peer;
  for (WorkId id = 0; id < 4; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  for (const std::int64_t i : {3, 1, 2}) peer.deliver(with_immediate(peer, i, i));
  EXPECT_TRUE(peer.completions().empty());
  peer.deliver(with_immediate(peer, 0, 0));
  const auto completions = peer.completions();
  EXPECT_EQ(ids_of(completions), (std::vector<WorkId>{0, 1, 2, 3}));
  for (std::size_t i = 0; i < completions.size(); ++i) {
    EXPECT_EQ(completions[i].immediate.raw(), 0x1000 + i);
  }
}

// MRC 6.3 (REL-85)
TEST(Responder, KeepsAnImmediateUntilMessagesWithoutOneHaveArrivedToo) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 1));
  peer.deliver(with_immediate(peer, 2, 0));
  peer.deliver(peer.write(0));
  EXPECT_TRUE(peer.completions().empty());
  peer.deliver(peer.write(1));
  EXPECT_EQ(peer.completions().size(), 1U);
}

// MRC 6.3
TEST(Responder, TakesNoReceiveForAMessageWithoutImmediate) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 1));
  peer.deliver(peer.write(0));
  EXPECT_TRUE(peer.completions().empty());
}

// MRC 6.3
TEST(Responder, TakesNoSecondReceiveForADuplicate) {
  ScriptedPeer peer;
  for (WorkId id = 0; id < 2; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  peer.deliver(with_immediate(peer, 0, 0));
  peer.deliver(with_immediate(peer, 0, 0));
  EXPECT_EQ(peer.completions().size(), 1U);
}

// MRC 6.3 (QP-35)
TEST(Responder, RefusesAnImmediateWithoutAReceive) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  peer.deliver(with_immediate(peer, 1, 0));
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto sent = acknowledgements(peer);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().aeth.syndrome, wire::AckSyndrome::kNakInvalidRequest);
  EXPECT_EQ(sent.back().psn, Psn(5001));
  EXPECT_TRUE(peer.completions().empty());
}

// MRC 6.3 (QP-36, QP-37)
TEST(Responder, DoesNotCountARefusedMessageAsComplete) {
  // Otherwise its sender would take it for done.
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  peer.deliver(with_immediate(peer, 1, 0));
  const auto sent = acknowledgements(peer);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().aeth.msn, AckMsn(1));
}

// MRC 7.5.1 (QP-34, QP-36, REL-86)
TEST(Responder, RefusesMoreImmediatesThanItHolds) {
  ScriptedPeer peer({.max_wimm = 2});
  for (WorkId id = 0; id < 8; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  peer.deliver(with_immediate(peer, 1, 0));
  peer.deliver(with_immediate(peer, 2, 1));
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  peer.deliver(with_immediate(peer, 3, 2));
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto sent = acknowledgements(peer);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().aeth.syndrome, wire::AckSyndrome::kNakInvalidRequest);
  EXPECT_EQ(sent.back().aeth.msn, AckMsn(0));
  EXPECT_FALSE(peer.is_placed(3));
  const auto completions = peer.completions();
  EXPECT_EQ(statuses_of(completions), std::vector(8, WorkStatus::kFlushed));
}

// MRC 6.2 (REL-88)
TEST(Responder, RefusesAnImmediateWhoseNumberIsNotThatOfItsPlace) {
  ScriptedPeer peer;
  for (WorkId id = 0; id < 2; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  peer.deliver(with_immediate(peer, 0, 1));
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto sent = acknowledgements(peer);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().aeth.syndrome, wire::AckSyndrome::kNakInvalidRequest);
}

// MRC 7.5.3 (REL-45, REL-92): a pool is rounded up to 16.
TEST(Responder, AsksForAnImmediateLaterIfOthersHaveTakenAllRoom) {
  ScriptedPeer peer({.limits = {.early_immediates = 16}});
  for (WorkId id = 0; id < 40; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  for (std::int64_t i = 1; i <= 8; ++i) peer.deliver(with_immediate(peer, i, i));
  EXPECT_TRUE(nacks(peer).empty());
  peer.deliver(with_immediate(peer, 9, 9));
  const auto refused = nacks(peer);
  ASSERT_EQ(refused.size(), 1U) << "a peer may have half of the room";
  EXPECT_EQ(refused[0].neth.reason, wire::NackReason::kNoResource);
  EXPECT_EQ(refused[0].neth.psn, Psn(5009));
  EXPECT_EQ(peer.count(Count::kImmediatesRefused), 1U);
  EXPECT_FALSE(peer.is_placed(9));
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  peer.deliver(with_immediate(peer, 0, 0));
  EXPECT_EQ(peer.completions().size(), 9U) << "what is next in order always has a place";
  peer.deliver(with_immediate(peer, 9, 9));
  EXPECT_EQ(peer.completions().size(), 1U);
}

// MRC 7.5.3: however many queue pairs a peer has, others can send in any order.
TEST(Responder, KeepsRoomForTheImmediatesOfOtherPeers) {
  ScriptedPeer peer({.limits = {.early_immediates = 16}});
  const auto deliver_early = [&](Qpn qpn, std::uint16_t host) {
    ASSERT_TRUE(peer.endpoint().post_receive(qpn, 1));
    wire::RdmaWrite early = with_immediate(peer, 1, 1);
    early.destination_qp = qpn;
    peer.deliver(early, {.source = peer.address(0, host)});
  };
  std::vector<Qpn> held;
  for (std::uint32_t i = 0; i < 30; ++i) {
    held.push_back(peer.connect(Qpn(0x60000 + i)));
    deliver_early(held.back(), ScriptedPeer::kHost);
  }
  EXPECT_EQ(peer.count(Count::kImmediatesRefused), 30U - 8U);
  for (std::uint16_t host = 3; host < 5; ++host)
    deliver_early(peer.connect(Qpn(0x777), host), host);
  EXPECT_EQ(peer.count(Count::kImmediatesRefused), 30U - 8U);
  for (const Qpn qpn : held) peer.endpoint().destroy_queue_pair(qpn);
  for (std::uint32_t i = 0; i < 6; ++i) {
    deliver_early(peer.connect(Qpn(0x61000 + i)), ScriptedPeer::kHost);
  }
  EXPECT_EQ(peer.count(Count::kImmediatesRefused), 30U - 8U) << "its share is free again";
}

// MRC 7.5.1 (REL-86)
TEST(Responder, HoldsAsManyImmediatesAsItSaid) {
  ScriptedPeer peer({.max_wimm = 2});
  for (WorkId id = 0; id < 40; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  for (std::int64_t i = 0; i < 40; i += 2) {
    peer.deliver(with_immediate(peer, i + 1, i + 1));
    peer.deliver(with_immediate(peer, i, i));
    EXPECT_EQ(peer.completions().size(), 2U);
  }
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
}

// MRC 10.1.2 (QP-10)
TEST(Responder, HoldsThirtyTwoImmediatesThatCameEarly) {
  ScriptedPeer peer;
  for (WorkId id = 0; id < 33; ++id) ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  for (std::int64_t i = 1; i <= 32; ++i) peer.deliver(with_immediate(peer, i, i));
  EXPECT_TRUE(nacks(peer).empty());
  peer.deliver(with_immediate(peer, 0, 0));
  EXPECT_EQ(peer.completions().size(), 33U);
}

// ---- memory ----

struct AccessCase {
  const char* name;
  std::function<void(ScriptedPeer&, wire::RdmaWrite&)> spoil;
};
// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for.
void PrintTo(const AccessCase& access, std::ostream* out) { *out << access.name; }

class ResponderAccess : public testing::TestWithParam<AccessCase> {};

// MRC 6.3 (QP-32, QP-33, QP-36, QP-37, REL-9)
TEST_P(ResponderAccess, IsRefusedAndTheMemoryStaysAsItWas) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 5));
  wire::RdmaWrite write = peer.write(0);
  GetParam().spoil(peer, write);
  peer.deliver(write);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
  EXPECT_EQ(sent[0].aeth.msn, AckMsn(0));
  EXPECT_EQ(sent[0].psn, write.psn);
  EXPECT_EQ(peer.count(Count::kNaksSent), 1U);
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kFlushed});
}

// MRC 6.1 (QP-32)
TEST_P(ResponderAccess, IsRefusedByAQueuePairThatOnlyReceives) {
  ScriptedPeer peer({.state = QueuePairState::kReadyToRecv});
  wire::RdmaWrite write = peer.write(0);
  GetParam().spoil(peer, write);
  peer.deliver(write);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(acknowledgements(peer).at(0).aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
}

constexpr std::uint64_t kEnd = ScriptedPeer::kMemoryAddress + ScriptedPeer::kMemorySize;

// A key of the same bytes under other terms.
RKey other_key(ScriptedPeer& peer, ProtectionDomain domain, bool writable) {
  return *peer.endpoint().register_memory({.domain = domain,
                                           .address = ScriptedPeer::kMemoryAddress,
                                           .length = ScriptedPeer::kMemorySize,
                                           .bytes = const_cast<std::byte*>(peer.memory().data()),
                                           .remote_write = writable});
}

INSTANTIATE_TEST_SUITE_P(
    Every, ResponderAccess,
    testing::Values(AccessCase{"WrongKey",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = RKey(peer.rkey().raw() ^ 1);
                               }},
                    AccessCase{
                        "KeyZero",
                        [](ScriptedPeer&, wire::RdmaWrite& write) { write.reth.rkey = RKey(0); }},
                    AccessCase{"KeyOfAllOnes",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.rkey = RKey(RKey::kMax);
                               }},
                    AccessCase{"KeyThatIsGone",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = other_key(peer, peer.domain(), true);
                                 peer.endpoint().deregister_memory(write.reth.rkey);
                                 (void)other_key(peer, peer.domain(), true);
                               }},
                    AccessCase{"OtherDomain",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 const auto domain = peer.endpoint().create_protection_domain();
                                 write.reth.rkey = other_key(peer, domain, true);
                               }},
                    AccessCase{"ReadOnly",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = other_key(peer, peer.domain(), false);
                               }},
                    AccessCase{"BelowTheRegion",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = ScriptedPeer::kMemoryAddress - 1;
                               }},
                    AccessCase{"AcrossTheEnd",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = kEnd - kMtu + 1;
                               }},
                    AccessCase{"BehindTheEnd",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = kEnd;
                               }},
                    AccessCase{"MessageThatBeganBelowTheRegion",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.part = MessagePart::last();
                                 write.reth.dma_length = 2 * kMtu;
                               }},
                    AccessCase{"AddressThatWraps",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = ~std::uint64_t{0} - 5;
                               }}),
    [](const auto& of) { return std::string(of.param.name); });

// MRC 6.3
TEST(Responder, PlacesUpToTheLastByteOfTheRegion) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.reth.virtual_address = kEnd - kMtu;
  peer.deliver(write);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  EXPECT_EQ(peer.memory().back(), ScriptedPeer::kWritten);
}

// MRC 6.3 (QP-38)
TEST(Responder, ReportsWhatItRefusedToTheOnesWhoWatch) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  wire::RdmaWrite write = peer.write(3);
  write.reth.rkey = RKey(0);
  peer.deliver(write);
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->qpn, peer.qpn());
  EXPECT_EQ(failure->psn, write.psn) << "the request that failed";
  EXPECT_TRUE(failure->by_us);
  EXPECT_FALSE(failure->by_peer);
}

// ---- in ERROR ----

// MRC 6.3 (QP-39)
TEST(Responder, RepeatsItsRefusalInError) {
  ScriptedPeer peer;
  wire::RdmaWrite bad = peer.write(0);
  bad.reth.rkey = RKey(0);
  peer.deliver(bad);
  (void)peer.collect();
  peer.deliver(peer.write(1));
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
  EXPECT_EQ(sent[0].psn, bad.psn);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.count(Count::kDropState), 1U);
}

// MRC 7.5.3 (QP-40)
TEST(Responder, AnswersAnUnexpectedEventInErrorIfItRefusedNothing) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().to_error(peer.qpn(), peer.now()));
  peer.deliver(peer.write(2), {.ev = Ev(0x5555c555)});
  peer.deliver(peer.probe(1));
  const auto sent = nacks(peer);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].neth.reason, NackReason::kUnexpectedEvent);
  EXPECT_EQ(sent[0].neth.psn, Psn(5002));
  EXPECT_EQ(sent[0].neth.entropy, Ev(0x5555c555));
  EXPECT_EQ(sent[1].neth.reason, NackReason::kUnexpectedEvent);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.count(Count::kDropState), 2U);
}

}  // namespace
}  // namespace openmrc::core
