// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "openmrc/wire/field/connection_id.h"
#include "tests/support/responder_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::acknowledgements;
using test::kMtu;
using test::nacks;
using test::only;
using test::ScriptedPeer;
using test::trimmed;
using wire::MessagePart;
using wire::NackReason;

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
