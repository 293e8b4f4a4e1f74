// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/requestor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
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
using test::psns_of;
using test::ScriptedPeer;
using test::statuses_of;
using test::write_of;
using wire::MessagePart;
using wire::NackReason;
using Sent = std::vector<Transmit>;
using Psns = std::vector<std::uint32_t>;

// ---- cutting messages ----

// MRC 6.2 (QP-25)
TEST(Requestor, SendsOneByteInOneOnlyPacket) {
  ScriptedPeer peer;
  peer.post(1, 1);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(write_of(sent[0]).part, MessagePart::only());
  EXPECT_EQ(write_of(sent[0]).payload.size(), 1U);
  EXPECT_EQ(write_of(sent[0]).psn, peer.options().first_psn);
  EXPECT_EQ(write_of(sent[0]).destination_qp, ScriptedPeer::kRemoteQpn);
  EXPECT_FALSE(write_of(sent[0]).retransmission);
}

// MRC 6.2 (QP-25)
TEST(Requestor, CutsAnExactMultipleOfTheMtuWithoutARest) {
  ScriptedPeer peer;
  peer.post(1, 3 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(write_of(sent[0]).part, MessagePart::first());
  EXPECT_EQ(write_of(sent[1]).part, MessagePart::middle());
  EXPECT_EQ(write_of(sent[2]).part, MessagePart::last());
  for (const Transmit& packet : sent) EXPECT_EQ(write_of(packet).payload.size(), kMtu);
  EXPECT_EQ(psns_of(sent), (Psns{100, 101, 102}));
}

// MRC 6.2 (QP-25)
TEST(Requestor, SendsExactlyOneMtuInOneOnlyPacket) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(write_of(sent[0]).part, MessagePart::only());
}

// MRC 6.2 (QP-25)
TEST(Requestor, SendsTheByteBeyondTheMtuInALastPacket) {
  ScriptedPeer peer;
  peer.post(1, kMtu + 1);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(write_of(sent[0]).part, MessagePart::first());
  EXPECT_EQ(write_of(sent[1]).part, MessagePart::last());
  EXPECT_EQ(write_of(sent[1]).payload.size(), 1U);
}

// MRC 6.2 (WIRE-56)
TEST(Requestor, SendsTheImmediateWithTheLastPacketOnly) {
  ScriptedPeer peer;
  const wire::Immediate immediate(0xabcd);
  peer.post(1, 3 * kMtu, immediate);
  peer.post(2, 5, immediate);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 4U);
  EXPECT_EQ(write_of(sent[0]).part, MessagePart::first());
  EXPECT_EQ(write_of(sent[1]).part, MessagePart::middle());
  EXPECT_EQ(write_of(sent[2]).part, MessagePart::last(immediate));
  EXPECT_EQ(write_of(sent[3]).part, MessagePart::only(immediate));
}

// MRC 6.2 (WIRE-54, WIRE-55)
TEST(Requestor, SaysInEveryPacketWhereItGoesAndHowLongTheMessageIs) {
  ScriptedPeer peer;
  peer.post(1, 3 * kMtu + 7);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 4U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(write_of(sent[i]).reth,
              (wire::Reth{ScriptedPeer::kMemoryAddress + i * kMtu, peer.rkey(), 3 * kMtu + 7}));
  }
}

// MRC 6.2 (QP-25)
TEST(Requestor, SendsTheBytesOfTheMessageInOrder) {
  ScriptedPeer peer;
  std::vector<std::byte> data(2 * kMtu + 100);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 >> 2);
  ASSERT_TRUE(peer.endpoint().post_write(peer.qpn(), peer.now(),
                                         {.id = 1, .data = wire::Payload::of_bytes(data)}));
  std::vector<std::byte> received;
  for (const Transmit& packet : peer.collect()) {
    const ConstBytes bytes = write_of(packet).payload.bytes();
    received.insert(received.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(received, data);
}

// MRC 6.2 (QP-26, REL-88, WIRE-51)
TEST(Requestor, NumbersMessagesAndThoseWithImmediateApart) {
  ScriptedPeer peer;
  peer.post(1, 2 * kMtu);
  peer.post(2, 2 * kMtu, wire::Immediate(1));
  peer.post(3, 1);
  peer.post(4, 1, wire::Immediate(2));
  std::vector<unsigned> msns;
  std::vector<unsigned> rqmsns;
  for (const Transmit& packet : peer.collect()) {
    msns.push_back(write_of(packet).meth.msn.raw());
    rqmsns.push_back(write_of(packet).meth.rqmsn.raw());
  }
  EXPECT_EQ(msns, (std::vector<unsigned>{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(rqmsns[2], 0U);
  EXPECT_EQ(rqmsns[3], 0U);
  EXPECT_EQ(rqmsns[5], 1U);
}

// MRC 6.2 (QP-23)
TEST(Requestor, BeginsAMessageOf4GiBMinus1Right) {
  constexpr std::uint32_t kLength = std::numeric_limits<std::uint32_t>::max();
  ScriptedPeer peer;
  peer.post(1, kLength);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 8U * 128) << "as many as the window of PSNs";
  EXPECT_EQ(write_of(sent.front()).part, MessagePart::first());
  for (std::size_t i = 1; i < sent.size(); ++i) {
    ASSERT_EQ(write_of(sent[i]).part, MessagePart::middle());
    ASSERT_EQ(write_of(sent[i]).reth.dma_length, kLength);
    ASSERT_EQ(write_of(sent[i]).reth.virtual_address, ScriptedPeer::kMemoryAddress + i * kMtu);
  }
}

// MRC 6.2 (WIRE-52)
TEST(Requestor, StampsPacketsInTicksOf128Nanoseconds) {
  ScriptedPeer peer;
  peer.advance(nanoseconds(128 * 70'000));
  peer.post(1, 1);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  const auto ticks = static_cast<std::uint16_t>(peer.now().ns() / 128);
  EXPECT_EQ(write_of(sent[0]).sent, (wire::TxTimestamp{.ticks = ticks}));
}

// MRC 8 (CC-13)
TEST(Requestor, SendsDataThatMayBeMarkedAndTrimmed) {
  ScriptedPeer peer;
  peer.post(1, 1);
  const Sent sent = peer.collect();
  EXPECT_EQ(sent[0].packet.ecn, wire::Ecn::kCapable0);
  EXPECT_EQ(sent[0].packet.traffic_class, wire::TrafficClass::kTrimmable);
}

// MRC 8 (REL-52)
TEST(Requestor, AsksNotToTrimIfThePeerDoesNotAnswerTrimmedPackets) {
  ScriptedPeer peer({.peer_sends_trim_nacks = false});
  peer.post(1, 1);
  EXPECT_EQ(peer.collect()[0].packet.traffic_class, wire::TrafficClass::kNoTrim);
}

// MRC 6.2 (REL-1, WIRE-38)
TEST(Requestor, GoesOnBeyondTheLastPsn) {
  ScriptedPeer peer({.first_psn = Psn(0xfffffe)});
  peer.post(1, 5 * kMtu);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{0xfffffe, 0xffffff, 0, 1, 2}));
  peer.deliver(peer.sack(3));
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(1));
  peer.deliver(peer.sack(5));
  peer.deliver(peer.acknowledge(5, 1));
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kSuccess});
}

// MRC 7.4.4
TEST(Requestor, RetransmitsAcrossTheLastPsn) {
  ScriptedPeer peer({.first_psn = Psn(0xfffffe)});
  peer.post(1, 5 * kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[2], NackReason::kNoResource));
  peer.deliver(peer.nack(sent[1], NackReason::kNoResource));
  const Sent again = peer.collect();
  EXPECT_EQ(psns_of(again), (Psns{0xffffff, 0}));
  EXPECT_EQ(write_of(again[1]).reth, write_of(sent[2]).reth);
}

// ---- windows ----

// MRC 7.5.1 (REL-2)
TEST(Requestor, NeverSendsBeyondTheWindowOfPsns) {
  ScriptedPeer peer({.evs_per_plane = 64, .mpr = 1});
  peer.post(1, 300 * kMtu);
  EXPECT_EQ(peer.collect().size(), 128U);
  peer.deliver(peer.sack_out_of_order(5));
  EXPECT_EQ(peer.collect().size(), 0U) << "the oldest is still missing";
  peer.deliver(peer.sack(3));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{228, 229, 230}));
}

// MRC 7.5.1 (REL-87)
TEST(Requestor, HoldsMessagesWithImmediateBackAtThePeersLimit) {
  ScriptedPeer peer({.max_wimm = 2});
  for (WorkId id = 1; id <= 4; ++id) peer.post(id, 1, wire::Immediate(7));
  EXPECT_EQ(peer.collect().size(), 2U);
  peer.deliver(peer.sack(2));
  EXPECT_EQ(peer.collect().size(), 0U) << "arrived is not complete";
  peer.deliver(peer.acknowledge(2, 1));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{102}));
  peer.deliver(peer.acknowledge(3, 3));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{103}));
}

// MRC 7.5.1 (REL-87)
TEST(Requestor, SendsNoLaterMessageBeforeOneThatIsHeldBack) {
  ScriptedPeer peer({.max_wimm = 1});
  peer.post(1, 1, wire::Immediate(7));
  peer.post(2, 1, wire::Immediate(7));
  peer.post(3, 1);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{100}));
  peer.deliver(peer.acknowledge(1, 1));
  EXPECT_EQ(psns_of(peer.collect()), (Psns{101, 102}));
}

// MRC 7.5.1
TEST(Requestor, DoesNotHoldMessagesWithoutImmediateBack) {
  ScriptedPeer peer({.max_wimm = 1});
  peer.post(1, 1, wire::Immediate(7));
  peer.post(2, 1);
  peer.post(3, 1);
  EXPECT_EQ(peer.collect().size(), 3U);
}

// MRC 8 (CC-2)
TEST(Requestor, NeverSendsBeyondTheCongestionWindow) {
  ScriptedPeer peer({.congestion = fixed_window(5)});
  peer.post(1, 20 * kMtu);
  EXPECT_EQ(peer.collect().size(), 5U);
  peer.deliver(peer.sack(2));
  EXPECT_EQ(peer.collect().size(), 2U);
}

// MRC 8 (CC-3)
TEST(Requestor, SendsOnePacketHoweverSmallTheWindow) {
  ScriptedPeer peer({.congestion = FixedWindowSettings{.window = ByteCount(1), .base_rtt = kRtt}});
  peer.post(1, 2 * kMtu);
  EXPECT_EQ(peer.collect().size(), 1U);
  peer.deliver(peer.sack(1));
  EXPECT_EQ(peer.collect().size(), 1U);
}

// MRC 9.3.1
TEST(Requestor, SendsBurstsOverOnePathEach) {
  ScriptedPeer peer({.planes = 2, .evs_per_plane = 8, .ev_burst = 16});
  peer.post(1, 16 * 8 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 16U * 8);
  for (std::size_t i = 1; i < sent.size(); ++i) {
    EXPECT_EQ(ev_of(sent[i]) == ev_of(sent[i - 1]), i % 16 != 0) << i;
  }
}

// MRC 9.3.1 (PATH-37)
TEST(Requestor, LeavesABurstWholeThoughOthersWaitForTheirTurn) {
  // Two queue pairs to this peer, which share its paths, and one to another.
  ScriptedPeer peer({.evs_per_plane = 64, .ev_burst = 20});
  const Qpn neighbour = peer.connect(Qpn(0x778));
  const Qpn unknown_peer = peer.connect(Qpn(0x777), 9);
  peer.post(1, 80 * kMtu);
  for (const Qpn qpn : {neighbour, unknown_peer}) {
    ASSERT_TRUE(peer.endpoint().post_write(qpn, peer.now(),
                                           {.id = 2,
                                            .data = wire::Payload::of_length(80 * kMtu),
                                            .remote_address = ScriptedPeer::kMemoryAddress,
                                            .rkey = peer.rkey()}));
  }
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 240U);
  std::size_t length = 1;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    if (ev_of(sent[i]) == ev_of(sent[i - 1])) {
      ++length;
    } else {
      EXPECT_EQ(length, 20U) << "before packet " << i;
      length = 1;
    }
  }
  const auto of_unknown_peer = [&](const Transmit& one) {
    return std::get<wire::Ipv6Route>(one.packet.route).destination == peer.address(0, 9);
  };
  EXPECT_TRUE(std::any_of(sent.begin(), sent.begin() + 60, of_unknown_peer))
      << "all have their turn";
}

// MRC 7.4.6
TEST(Requestor, AProbeDoesNotTakeThePathOfTheBurstBeforeIt) {
  ScriptedPeer peer({.evs_per_plane = 8, .ev_burst = 16});
  peer.post(1, kMtu);
  const Ev silent = ev_of(peer.collect().at(0));
  std::set<Ev> probed;
  for (int i = 0; i < 3; ++i) {
    for (const Transmit& probe : peer.await_packets(test::kTimeout)) probed.insert(ev_of(probe));
  }
  EXPECT_EQ(probed.size(), 3U);
  EXPECT_FALSE(probed.contains(silent));
}

// MRC 7.5.1 (REL-6, REL-7)
TEST(Requestor, PausesWhenThePeerShrinksItsWindowAndGoesOnWhenItGrows) {
  ScriptedPeer peer({.mpr = 4, .dynamic_mpr = true});
  peer.post(1, 2000 * kMtu);
  EXPECT_EQ(peer.collect().size(), 512U);
  wire::Sack sack = peer.sack(300);
  sack.seth.mpr = 1;
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 0U) << "212 are out, and 128 are allowed";
  sack = peer.sack(400);
  sack.seth.mpr = 1;
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 16U);
  sack = peer.sack(401);
  sack.seth.mpr = 2;
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 1U + 128U);
  sack = peer.sack(402);
  sack.seth.mpr = 200;
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 1U + 256U) << "no more than was agreed at first";
}

// MRC 7.5.1 (REL-6): SACKs overtake each other.
TEST(Requestor, ASackFromBeforeTheWindowShrankDoesNotOpenItAgain) {
  ScriptedPeer peer({.mpr = 4, .dynamic_mpr = true});
  peer.post(1, 2000 * kMtu);
  EXPECT_EQ(peer.collect().size(), 512U);
  wire::Sack before = peer.sack(500);
  before.seth.mpr = 4;
  before.cc_state.received_units = wire::received_units(kPacket * 500);
  wire::Sack shrunk = before;
  shrunk.seth.mpr = 1;
  shrunk.seth.sack_offset = 3;
  shrunk.seth.sack_bitmap = 1;
  shrunk.cc_state.received_units = wire::received_units(kPacket * 501);
  peer.deliver(shrunk);
  EXPECT_EQ(peer.collect().size(), 116U);
  peer.deliver(before);
  EXPECT_EQ(peer.collect().size(), 0U) << "128 are allowed, and 128 are out";
  wire::Sack grown = shrunk;
  grown.seth.mpr = 2;
  grown.seth.sack_bitmap = 0b11;
  grown.cc_state.received_units = wire::received_units(kPacket * 502);
  peer.deliver(grown);
  EXPECT_EQ(peer.collect().size(), 128U) << "it is newer, though nothing moved below it";
}

// MRC 7.5.1 (REL-7)
TEST(Requestor, DelaysRetransmissionsThatLieBeyondAShrunkenWindow) {
  ScriptedPeer peer({.mpr = 2, .dynamic_mpr = true});
  peer.post(1, 256 * kMtu);
  const Sent sent = peer.collect();
  wire::Sack sack = peer.sack(1);
  sack.seth.mpr = 1;
  peer.deliver(sack);
  peer.deliver(peer.nack(sent[200], NackReason::kNoResource));
  EXPECT_EQ(peer.collect().size(), 0U);
  sack = peer.sack(100);
  sack.seth.mpr = 1;
  peer.deliver(sack);
  EXPECT_EQ(psns_of(peer.collect()), (Psns{300}));
}

// MRC 7.5.1 (REL-5)
TEST(Requestor, IgnoresTheWindowInSacksIfItWasNotAgreedToChange) {
  ScriptedPeer peer({.mpr = 2, .dynamic_mpr = false});
  peer.post(1, 1000 * kMtu);
  EXPECT_EQ(peer.collect().size(), 256U);
  wire::Sack sack = peer.sack(10);
  sack.seth.mpr = 1;
  peer.deliver(sack);
  EXPECT_EQ(peer.collect().size(), 10U);
}

// ---- asking for SACKs ----

// MRC 7.5.2 (REL-59)
TEST(Requestor, AsksForASackWithTheLastPacketThatThereIs) {
  ScriptedPeer peer;
  peer.post(1, 3 * kMtu);
  peer.post(2, 2 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(write_of(sent[i]).ack_request) << i;
  EXPECT_TRUE(write_of(sent[4]).ack_request);
}

// MRC 7.5.2 (REL-59)
TEST(Requestor, AsksForASackWithTheLastPacketOfTheWindowOfPsns) {
  ScriptedPeer peer({.mpr = 1});
  peer.post(1, 300 * kMtu);
  const Sent sent = peer.collect();
  for (std::size_t i = 0; i < 127; ++i) ASSERT_FALSE(write_of(sent[i]).ack_request) << i;
  EXPECT_TRUE(write_of(sent[127]).ack_request);
}

// MRC 8 (REL-59)
TEST(Requestor, AsksForASackWithTheLastPacketOfTheCongestionWindow) {
  ScriptedPeer peer({.congestion = fixed_window(20)});
  peer.post(1, 300 * kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 20U);
  for (std::size_t i = 0; i < 19; ++i) ASSERT_FALSE(write_of(sent[i]).ack_request) << i;
  EXPECT_TRUE(write_of(sent[19]).ack_request);
}

// MRC 8 (REL-59)
TEST(Requestor, AsksForASackWithEveryPacketIfTheWindowIsBelowTheTrigger) {
  ScriptedPeer peer({.congestion = fixed_window(10)});
  peer.post(1, 300 * kMtu);
  for (const Transmit& packet : peer.collect()) EXPECT_TRUE(write_of(packet).ack_request);
}

// ---- completions ----

// MRC 6.3 (QP-28)
TEST(Requestor, CompletesNothingForASack) {
  ScriptedPeer peer;
  peer.post(1, 2 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.sack(2));
  EXPECT_TRUE(peer.completions().empty());
  peer.deliver(peer.acknowledge(2, 1));
  const auto completions = peer.completions();
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].id, 1U);
  EXPECT_EQ(completions[0].qpn, peer.qpn());
  EXPECT_EQ(completions[0].kind, WorkKind::kWrite);
  EXPECT_EQ(completions[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(completions[0].length, 2 * kMtu);
}

// MRC 6.3 (QP-27, REL-72)
TEST(Requestor, CompletesInOrderWhatOneAcknowledgementCovers) {
  ScriptedPeer peer;
  for (WorkId id = 1; id <= 4; ++id) peer.post(id, kMtu);
  (void)peer.collect();
  peer.deliver(peer.acknowledge(3, 3));
  EXPECT_EQ(ids_of(peer.completions()), (std::vector<WorkId>{1, 2, 3}));
  peer.deliver(peer.acknowledge(2, 2));
  EXPECT_TRUE(peer.completions().empty()) << "an old one";
  peer.deliver(peer.acknowledge(4, 4));
  EXPECT_EQ(ids_of(peer.completions()), (std::vector<WorkId>{4}));
  EXPECT_EQ(peer.peer().in_flight, ByteCount(0));
}

// MRC 6.3 (REL-71)
TEST(Requestor, TakesAnAcknowledgementForArrival) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  peer.post(2, 3 * kMtu);
  (void)peer.collect();
  peer.deliver(peer.acknowledge(2, 1));
  EXPECT_EQ(peer.requestor().window().oldest().wrapped(), Psn(102));
  EXPECT_EQ(peer.peer().in_flight, kPacket * 2);
}

struct NakCase {
  wire::AckSyndrome syndrome;
  WorkStatus status;
};
class RequestorNak : public testing::TestWithParam<NakCase> {};

// MRC 6.3 (QP-29, QP-30, QP-31)
TEST_P(RequestorNak, EndsTheQueuePairAtTheMessageThatItNames) {
  ScriptedPeer peer;
  for (WorkId id = 1; id <= 4; ++id) peer.post(id, 2 * kMtu);
  (void)peer.collect();
  wire::Acknowledge nak = peer.acknowledge(5, 1);  // one message is complete, the third refused
  nak.aeth.syndrome = GetParam().syndrome;
  peer.deliver(nak);
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto completions = peer.completions();
  EXPECT_EQ(ids_of(completions), (std::vector<WorkId>{1, 2, 3, 4}));
  EXPECT_EQ(statuses_of(completions), (std::vector{WorkStatus::kSuccess, WorkStatus::kFlushed,
                                                   GetParam().status, WorkStatus::kFlushed}));
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, GetParam().status);
  EXPECT_EQ(failure->psn, nak.psn);
  EXPECT_TRUE(failure->by_peer);
  EXPECT_EQ(peer.collect().size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Syndromes, RequestorNak,
    testing::Values(NakCase{wire::AckSyndrome::kNakRemoteAccess, WorkStatus::kRemoteAccess},
                    NakCase{wire::AckSyndrome::kNakInvalidRequest,
                            WorkStatus::kRemoteInvalidRequest},
                    NakCase{wire::AckSyndrome::kNakSequenceError, WorkStatus::kRemoteOperation},
                    NakCase{wire::AckSyndrome::kNakRemoteOperation, WorkStatus::kRemoteOperation}),
    [](const auto& of) { return "Nak" + std::to_string(static_cast<int>(of.param.syndrome)); });

// ---- the window ----

// CC-7
TEST(Requestor, ASmallPacketMayTakeMoreOfTheWindowThanItsSize) {
  for (const ByteCount weight : {ByteCount(0), kPacket}) {
    ScriptedPeer peer({.congestion = fixed_window(4), .packet_weight_min = weight});
    for (core::WorkId id = 0; id < 10; ++id) peer.post(id, 1);
    EXPECT_EQ(peer.collect().size(), weight == kPacket ? 4U : 10U);
    peer.deliver(peer.sack(4));
    EXPECT_EQ(peer.collect().size(), weight == kPacket ? 4U : 0U);
  }
}

}  // namespace
}  // namespace openmrc::core
