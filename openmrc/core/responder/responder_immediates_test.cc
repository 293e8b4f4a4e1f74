// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/responder_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::acknowledgements;
using test::ids_of;
using test::kMtu;
using test::nacks;
using test::ScriptedPeer;
using test::statuses_of;
using test::with_immediate;

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

}  // namespace
}  // namespace openmrc::core
