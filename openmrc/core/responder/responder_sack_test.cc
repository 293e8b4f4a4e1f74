// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <gtest/gtest.h>

#include <set>

#include "openmrc/wire/field/connection_id.h"
#include "tests/support/responder_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::Arrival;
using test::asking;
using test::kPacket;
using test::kRtt;
using test::nacks;
using test::only;
using test::sacks;
using test::ScriptedPeer;
using test::trimmed;

constexpr Arrival kMarked{.ecn = wire::Ecn::kCongested};

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

}  // namespace
}  // namespace openmrc::core
