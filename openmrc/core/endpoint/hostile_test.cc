// SPDX-License-Identifier: BSD-3-Clause
// What a network may carry that no honest peer sends, or not now, or not from there. Each is
// counted under its name and changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/core/endpoint/request_limiter.h"
#include "openmrc/wire/field/connection_id.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::Arrival;
using test::ev_of;
using test::kMtu;
using test::kPacket;
using test::kTimeout;
using test::only;
using test::ScriptedPeer;
using wire::EndpointRequest;
using wire::EndpointRequestId;
using wire::EndpointResponse;
using wire::NackReason;
using Sent = std::vector<Transmit>;

// Four packets of two messages are in flight, and one request has arrived.
class Hostile : public testing::Test {
 protected:
  Hostile() : peer_({.planes = 2}) {
    peer_.post(1, 2 * kMtu);
    peer_.post(2, 2 * kMtu);
    sent_ = peer_.collect();
    peer_.deliver(peer_.write(0));
    (void)peer_.collect();
  }

  void expect_dropped(Count counter, const wire::Body& body, const Arrival& arrival = {}) {
    const std::uint64_t counted = peer_.count(counter);
    const ByteCount window = peer_.peer().congestion.window();
    const std::vector<std::byte> memory = peer_.memory();
    peer_.deliver(body, arrival);
    EXPECT_EQ(peer_.count(counter), counted + 1) << describe(counter).name;
    EXPECT_EQ(peer_.state(), QueuePairState::kReadyToSend);
    EXPECT_TRUE(peer_.memory() == memory);
    EXPECT_EQ(peer_.peer().in_flight, kPacket * 4);
    EXPECT_EQ(peer_.peer().congestion.window(), window);
    EXPECT_EQ(peer_.peer().remote_ports, PlaneMask::all());
    EXPECT_EQ(peer_.requestor().window().oldest().wrapped(), Psn(100));
    EXPECT_EQ(peer_.requestor().retries(), 0U);
    EXPECT_EQ(peer_.endpoint().queue_pair(peer_.qpn())->responder.cumulative().wrapped(),
              Psn(5000));
    EXPECT_TRUE(peer_.completions().empty());
    EXPECT_TRUE(peer_.events().empty());
    EXPECT_TRUE(peer_.collect().empty()) << "no answer";
    for (std::size_t i = 0; i < peer_.profile().size(); ++i) {
      EXPECT_EQ(peer_.ev_state(peer_.ev(i)), EvState::kGood);
    }
  }

  [[nodiscard]] Arrival from_unknown_peer() const { return {.source = peer_.address(0, 99)}; }

  ScriptedPeer peer_;
  Sent sent_;
};

// ---- SACKs ----

// MRC 7.4.5 (SEC-9)
TEST_F(Hostile, ASackOfPacketsThatWereNeverSent) {
  expect_dropped(Count::kDropSackUnsent, peer_.sack(5));
  expect_dropped(Count::kDropSackUnsent, peer_.sack(1 << 22));
}

// MRC 7.4.5 (SEC-9)
TEST_F(Hostile, ASackWhoseBitmapShowsPacketsThatWereNeverSent) {
  expect_dropped(Count::kDropSackUnsent, peer_.sack_out_of_order(4));
  wire::Sack sack = peer_.sack(0);
  sack.seth.sack_bitmap = ~std::uint64_t{0};
  expect_dropped(Count::kDropSackUnsent, sack);
  sack.seth.sack_bitmap = 1;
  sack.seth.sack_offset = 0x7fff;
  expect_dropped(Count::kDropSackUnsent, sack);
}

// MRC 7.4.5: nothing is on its way for so long that a whole window has been acknowledged since.
// SEC-10
TEST_F(Hostile, ASackFromBeforeTheLargestWindow) {
  constexpr std::int64_t kWindow = 8 * kPsnsPerMpr;
  wire::Sack sack = peer_.sack(0);
  sack.seth.cack_psn = sack.seth.cack_psn + -(kWindow + 1);
  sack.seth.mark = wire::PathMark::kAlwaysSkip;
  expect_dropped(Count::kDropSackOld, sack);
  sack.seth.cack_psn = sack.seth.cack_psn + -(1 << 22);
  expect_dropped(Count::kDropSackOld, sack);
}

// MRC 9.3.1 (SEC-11)
TEST_F(Hostile, AMarkOnAPathThatItsPacketDidNotTake) {
  for (const wire::PathMark mark : {wire::PathMark::kAlwaysSkip, wire::PathMark::kSkipOnce}) {
    wire::Sack sack = peer_.sack(0);
    sack.seth.trigger = wire::SackTrigger::packet(1);  // the first of the four
    sack.seth.entropy = ev_of(sent_[1]);
    sack.seth.mark = mark;
    ASSERT_NE(ev_of(sent_[0]), ev_of(sent_[1]));
    peer_.deliver(sack);
    EXPECT_EQ(peer_.ev_state(ev_of(sent_[1])), EvState::kGood);
  }
  EXPECT_EQ(peer_.count(Count::kDropSackEv), 2U);
}

// MRC 8 (SEC-12): congestion control counts what arrives.
TEST_F(Hostile, ASackOfMoreBytesThanWereSent) {
  wire::Sack sack = peer_.sack(0);
  sack.cc_state.received_units = wire::received_units(kPacket * 4) + 1;
  peer_.deliver(sack);
  EXPECT_EQ(peer_.count(Count::kDropSackBytes), 1U);
  sack.cc_state.received_units = wire::received_units(kPacket * 4);
  peer_.deliver(sack);
  EXPECT_EQ(peer_.count(Count::kDropSackBytes), 1U) << "which is all that was sent";
}

// MRC 6.1 (QP-17)
TEST_F(Hostile, FeedbackThatDoesNotComeFromThePeer) {
  expect_dropped(Count::kDropSource, peer_.sack(4), from_unknown_peer());
  expect_dropped(Count::kDropSource, peer_.nack(sent_[0], NackReason::kTrimmed),
                 from_unknown_peer());
  expect_dropped(Count::kDropSource, peer_.acknowledge(4, 2), from_unknown_peer());
  expect_dropped(Count::kDropSource, peer_.probe(1), from_unknown_peer());
}

// MRC 6.1 (QP-17)
TEST_F(Hostile, FeedbackFromThePeersAddressInAnotherPlane) {
  expect_dropped(Count::kDropSource, peer_.sack(4), {.source = peer_.address(1)});
}

// MRC 7.5.2 (QP-19)
TEST_F(Hostile, ControlPacketsThatNameOtherQueuePairs) {
  const wire::ConnectionId other(0x7777);
  wire::Sack sack = peer_.sack(4);
  sack.seth.spdcid = other;
  expect_dropped(Count::kDropConnectionId, sack);
  sack = peer_.sack(4);
  sack.seth.dpdcid = other;
  expect_dropped(Count::kDropConnectionId, sack);
  wire::Nack nack = peer_.nack(sent_[0], NackReason::kUnexpectedEvent);
  nack.neth.spdcid = other;
  expect_dropped(Count::kDropConnectionId, nack);
  nack = peer_.nack(sent_[0], NackReason::kUnexpectedEvent);
  nack.neth.dpdcid = other;
  expect_dropped(Count::kDropConnectionId, nack);
  wire::ReliabilityProbe probe = peer_.probe(1);
  probe.peth.spdcid = other;
  expect_dropped(Count::kDropConnectionId, probe);
  probe = peer_.probe(1);
  probe.peth.dpdcid = other;
  expect_dropped(Count::kDropConnectionId, probe);
}

// MRC 7.5.2.1 (PATH-27)
TEST_F(Hostile, ASackOfAPathThatIsNotOurs) {
  wire::Sack sack = peer_.sack(0);
  sack.seth.entropy = Ev(0x12345678);
  sack.seth.mark = wire::PathMark::kAlwaysSkip;
  expect_dropped(Count::kDropEvUnknown, sack);
}

// ---- acknowledgements ----

// MRC 6.3 (SEC-16)
TEST_F(Hostile, AnAcknowledgementOfWhatWasNeverSent) {
  expect_dropped(Count::kDropAckUnsent, peer_.acknowledge(5, 2));
  expect_dropped(Count::kDropAckUnsent, peer_.acknowledge(4, 3));
  expect_dropped(Count::kDropAckUnsent, peer_.acknowledge(4, 1 << 20));
}

// MRC 6.3: whoever knows that a packet in flight has arrived knows of all messages before it.
TEST_F(Hostile, AnAcknowledgementOfPacketsInFlightThatCountsTooFewMessages) {
  expect_dropped(Count::kDropAckUnsent, peer_.acknowledge(4, -1));
  expect_dropped(Count::kDropAckUnsent, peer_.acknowledge(1, -(1 << 22)));
}

// MRC 6.3: nothing is on its way for so long that a whole window has been acknowledged since.
TEST_F(Hostile, AnAcknowledgementFromBeforeTheLargestWindow) {
  constexpr std::int64_t kWindow = 8 * kPsnsPerMpr;
  expect_dropped(Count::kDropAckOld, peer_.acknowledge(-kWindow - 1, 0));
  expect_dropped(Count::kDropAckOld, peer_.acknowledge(-(1 << 22), -(1 << 22)));
  peer_.deliver(peer_.acknowledge(-kWindow, 0));
  EXPECT_EQ(peer_.count(Count::kAcksReceived), 1U) << "one that is as old as can be";
}

// MRC 6.3 (SEC-17)
TEST_F(Hostile, ARefusalOfWhatWasNeverSent) {
  wire::Acknowledge nak = peer_.acknowledge(5, 0);
  nak.aeth.syndrome = wire::AckSyndrome::kNakRemoteAccess;
  expect_dropped(Count::kDropAckUnsent, nak);
}

// MRC 6.3 (SEC-17): it comes last, so it counts no fewer messages than acknowledgements before it.
TEST(HostileRefusal, ThatCountsFewerMessagesThanAreAcknowledged) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  peer.post(2, kMtu);
  (void)peer.collect();
  peer.deliver(peer.acknowledge(1, 1));
  wire::Acknowledge nak = peer.acknowledge(2, 0);
  nak.aeth.syndrome = wire::AckSyndrome::kNakRemoteOperation;
  peer.deliver(nak);
  EXPECT_EQ(peer.count(Count::kDropAckUnsent), 1U);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
}

// MRC 6.3 (REL-72)
TEST_F(Hostile, AnAcknowledgementOfMessagesWhosePacketsItSaysAreMissing) {
  // The application may reuse its memory after a completion: nothing may be sent from there again.
  peer_.deliver(peer_.acknowledge(1, 1));
  const std::size_t completed = peer_.completions().size();
  Sent again;
  for (unsigned i = 0; i < 20; ++i) {
    for (const Transmit& packet : peer_.await_packets(kTimeout)) again.push_back(packet);
  }
  for (const auto& write : only<wire::RdmaWrite>(again)) {
    EXPECT_TRUE(completed == 0 || write.psn.raw() >= 102) << "of a message that is complete";
  }
}

// ---- NACKs ----

// MRC 7.5.3 (SEC-13, SEC-15)
TEST_F(Hostile, ANackOfWhatIsNotInFlight) {
  for (const NackReason reason : wire::kNackReasons) {
    wire::Nack nack = peer_.nack(sent_[3], reason);
    nack.neth.psn = Psn(104);
    expect_dropped(Count::kDropNackUnsent, nack);
  }
  wire::Nack nack = peer_.nack(sent_[0], NackReason::kTrimmed);
  nack.neth.psn = Psn(99);
  expect_dropped(Count::kDropNackUnsent, nack);
}

// MRC 7.5.3 (SEC-14)
TEST_F(Hostile, ANackOfAPathThatThePacketDidNotTake) {
  wire::Nack nack = peer_.nack(sent_[0], NackReason::kTrimmed);
  nack.neth.entropy = Ev(nack.neth.entropy.raw() ^ 1);
  expect_dropped(Count::kDropNackStale, nack);
}

// ---- requests ----

// MRC 6.3 (QP-17)
TEST_F(Hostile, ARequestThatDoesNotComeFromThePeer) {
  expect_dropped(Count::kDropSource, peer_.write(1), from_unknown_peer());
  wire::RdmaWrite wrong_key = peer_.write(1);
  wrong_key.reth.rkey = RKey(0);
  expect_dropped(Count::kDropSource, wrong_key, from_unknown_peer());
}

// MRC 6.3 (QP-20)
TEST_F(Hostile, ARequestWithMorePayloadThanTheMtu) {
  const std::vector<std::byte> large(kMtu + 1, std::byte{1});
  wire::RdmaWrite write = peer_.write(1);
  write.payload = wire::Payload::of_bytes(large);
  write.reth.dma_length = kMtu + 1;
  expect_dropped(Count::kDropOversize, write);
}

// MRC 6.2: message number 2 is the earliest that the third packet can belong to the second of, and
// one that is complete it cannot belong to (SEC-8).
TEST_F(Hostile, ARequestWhoseMessageNumberItsPsnCannotHave) {
  for (const bool has_payload : {true, false}) {
    wire::RdmaWrite write = peer_.write(2);
    if (!has_payload) {
      write.payload = {};
      write.reth = {};
    }
    for (const unsigned msn : {0U, 3U, 0x4321U, 0xffffU}) {
      write.meth.msn = Msn(static_cast<std::uint16_t>(msn));
      expect_dropped(Count::kDropMsn, write);
      expect_dropped(Count::kDropMsn, wire::TrimmedWrite{.destination_qp = write.destination_qp,
                                                         .psn = write.psn,
                                                         .meth = write.meth});
    }
  }
}

std::vector<wire::Body> one_of_each_kind(const ScriptedPeer& peer, const Transmit& sent, Qpn to) {
  wire::RdmaWrite write = peer.write(1);
  write.destination_qp = to;
  wire::Sack sack = peer.sack(4);
  sack.destination_qp = to;
  wire::Nack nack = peer.nack(sent, NackReason::kTrimmed);
  nack.destination_qp = to;
  wire::Acknowledge acknowledge = peer.acknowledge(4, 2);
  acknowledge.destination_qp = to;
  wire::ReliabilityProbe probe = peer.probe(1);
  probe.destination_qp = to;
  return {
      write,       wire::TrimmedWrite{.destination_qp = to, .psn = write.psn, .meth = write.meth},
      sack,        nack,
      acknowledge, probe};
}

// MRC 6.1 (QP-15)
TEST_F(Hostile, PacketsToAQueuePairThatIsNotThere) {
  for (const Qpn qpn : {Qpn(0), Qpn(2), Qpn(peer_.qpn().raw() + 1), Qpn(Qpn::kMax)}) {
    for (const auto& body : one_of_each_kind(peer_, sent_[0], qpn)) {
      expect_dropped(Count::kDropNoQueuePair, body);
    }
  }
}

// MRC 6.1 (QP-16)
TEST_F(Hostile, PacketsToAQueuePairThatKnowsNoPeer) {
  const Qpn fresh = *peer_.endpoint().create_queue_pair();
  for (const auto& body : one_of_each_kind(peer_, sent_[0], fresh)) {
    expect_dropped(Count::kDropState, body);
  }
  ASSERT_TRUE(peer_.endpoint().to_init(fresh, peer_.init_attributes()));
  for (const auto& body : one_of_each_kind(peer_, sent_[0], fresh)) {
    expect_dropped(Count::kDropState, body);
  }
}

// MRC 6.1 (QP-18)
TEST_F(Hostile, FeedbackToAQueuePairThatDoesNotSendYet) {
  ScriptedPeer peer({.state = QueuePairState::kReadyToRecv});
  peer.deliver(peer.sack(0));
  peer.deliver(peer.acknowledge(0, 0));
  peer.deliver(peer.nack(sent_[0], NackReason::kUnexpectedEvent));
  EXPECT_EQ(peer.count(Count::kDropState), 3U);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToRecv);
}

// MRC 6.2 (QP-14)
TEST_F(Hostile, PacketsOfAnotherPartition) {
  for (const auto& body : one_of_each_kind(peer_, sent_[0], peer_.qpn())) {
    expect_dropped(Count::kDropPKey, body, {.pkey = PKey(0x8001)});
  }
  expect_dropped(Count::kDropPKey, EndpointRequest{}, {.pkey = PKey(0x8001)});
}

// ---- the endpoint's own queue pair ----

EndpointRequest port_status(std::uint32_t mask) {
  return {.erth = {.op = wire::EndpointOp::kPortStatusUpdate, .port_status_mask = mask}};
}

// MRC 7.4.8 (PATH-60)
TEST_F(Hostile, APortStatusFromAnUnknownPeer) {
  expect_dropped(Count::kDropUnknownPeer, port_status(0b010), from_unknown_peer());
}

// MRC 7.4.8 (PATH-61)
TEST_F(Hostile, APortStatusThatLeavesNoPort) {
  expect_dropped(Count::kDropPortStatus, port_status(0));
  expect_dropped(Count::kDropPortStatus, port_status(0b001));       // port 0 does not exist
  expect_dropped(Count::kDropPortStatus, port_status(0xfffffff8));  // nor do ports 3 and up
}

// MRC 7.4.8 (PATH-61)
TEST(HostilePortStatus, ThatLeavesOnlyPortsThatAreDownHere) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), Plane(1), false);
  peer.deliver(port_status(0b100));
  EXPECT_EQ(peer.count(Count::kDropPortStatus), 1U);
  EXPECT_TRUE(peer.peer().remote_ports.has(Plane(0))) << "it came over that one";
}

// MRC 7.3 (SEC-25)
TEST_F(Hostile, AnEndpointResponseThatIsNotAwaited) {
  for (const unsigned id : {0U, 1U, 0x4321U, 0xffffU}) {
    expect_dropped(Count::kDropResponseUnknown,
                   EndpointResponse{.id = EndpointRequestId(static_cast<std::uint16_t>(id))});
  }
}

// MRC 7.3 (SEC-25)
TEST(HostileResponse, FromAnUnknownPeerOrForTheSecondTime) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  const auto probes = peer.collect_only<EndpointRequest>();
  ASSERT_EQ(probes.size(), 1U);
  const EndpointResponse response{.id = probes[0].id};
  peer.deliver(response, {.source = peer.address(0, 99)});
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), 1U);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 0U);
  peer.deliver(response);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 1U);
  peer.deliver(response);
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), 2U);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 1U);
}

// ---- floods ----

// MRC 7.3 (REL-90)
TEST(HostileFlood, OfEndpointRequestsIsBoundedAndSacksStillGoOut) {
  constexpr std::uint64_t kFlood = 10'000;
  ScriptedPeer peer;
  for (std::uint64_t i = 0; i < kFlood; ++i) peer.deliver(EndpointRequest{});
  constexpr std::size_t kShare = kEndpointResponsesQueuedMax / 2;
  EXPECT_EQ(peer.count(Count::kDropEndpointFlood), kFlood - kShare);
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  peer.deliver(write);
  const Sent sent = peer.collect();
  EXPECT_EQ(only<wire::Sack>(sent).size(), 1U);
  EXPECT_EQ(only<wire::Acknowledge>(sent).size(), 1U);
  EXPECT_EQ(only<EndpointResponse>(sent).size(), kShare);
  EXPECT_EQ(peer.count(Count::kDropControlFull), 0U);
}

// MRC 7.3 (REL-95): as many are asked for as leave.
TEST(HostileFlood, OfEndpointRequestsLeavesEverySecondPacketToData) {
  ScriptedPeer peer;
  peer.post(1, 32 * kMtu);
  std::size_t answers = 0;
  std::size_t data = 0;
  for (int i = 0; i < 200; ++i) peer.deliver(EndpointRequest{});
  for (int i = 0; i < 20; ++i) {
    Transmit one;
    ASSERT_EQ(
        peer.endpoint().poll_transmit(peer.now(), PlaneMask::all(), Ports::kTakenOnce, {&one, 1}),
        1U);
    answers += std::holds_alternative<EndpointResponse>(one.packet.transport.body) ? 1U : 0U;
    data += std::holds_alternative<wire::RdmaWrite>(one.packet.transport.body) ? 1U : 0U;
    peer.deliver(EndpointRequest{});
  }
  EXPECT_EQ(answers, 10U);
  EXPECT_EQ(data, 10U);
}

// MRC 7.3 (SEC-19)
TEST(HostileFlood, OfEndpointRequestsFromAnUnknownPeerIsAnsweredInPart) {
  ScriptedPeer peer;
  std::size_t answered = 0;
  for (int i = 0; i < 10'000; ++i) {
    peer.deliver(EndpointRequest{}, {.source = peer.address(0, 99)});
    answered += peer.collect_only<EndpointResponse>().size();
  }
  EXPECT_EQ(answered, RequestLimiter::kBurst);
  EXPECT_EQ(peer.count(Count::kDropEndpointFlood), 10'000 - RequestLimiter::kBurst);
  peer.deliver(EndpointRequest{});
  EXPECT_EQ(peer.collect_only<EndpointResponse>().size(), 1U) << "a peer's is answered";
}

// MRC 7.5.2 (REL-89)
TEST(HostileFlood, OfRequestsForSacksIsBounded) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  for (unsigned i = 0; i < 10'000; ++i) peer.deliver(write);
  EXPECT_GT(peer.count(Count::kDropControlShare), 0U);
  EXPECT_LE(peer.collect().size(), (kControlQueueMax + kControlUnshared) / 2);
  peer.deliver(write);
  const Sent sent = peer.collect();
  EXPECT_EQ(only<wire::Sack>(sent).size(), 1U) << "it is over";
  EXPECT_EQ(only<wire::Acknowledge>(sent).size(), 1U);
}

// MRC 7.5.2, 7.3: what one peer makes us say does not keep us from answering another.
TEST(HostileFlood, OfOnePeerLeavesRoomForTheAnswersToOthers) {
  ScriptedPeer peer;
  const Qpn other = peer.connect(Qpn(0x777), 3);
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  for (std::size_t i = 0; i < 2 * kEndpointResponsesQueuedMax; ++i) peer.deliver(EndpointRequest{});
  for (std::size_t i = 0; i < 2 * kControlQueueMax; ++i) peer.deliver(write);
  write.destination_qp = other;
  peer.deliver(write, {.source = peer.address(0, 3)});
  peer.deliver(EndpointRequest{.id = EndpointRequestId(7)}, {.source = peer.address(0, 3)});
  const Sent sent = peer.collect();
  const auto of_other = [](const auto& body) { return body.destination_qp == Qpn(0x777); };
  EXPECT_EQ(std::ranges::count_if(only<wire::Sack>(sent), of_other), 1);
  EXPECT_EQ(std::ranges::count_if(only<wire::Acknowledge>(sent), of_other), 1);
  EXPECT_EQ(std::ranges::count_if(
                only<EndpointResponse>(sent),
                [](const EndpointResponse& one) { return one.id == EndpointRequestId(7); }),
            1);
  EXPECT_EQ(peer.count(Count::kDropControlFull), 0U);
}

// MRC 7.3
TEST(HostileFlood, ThatFillsTheQueueDoesNotSilenceTheEndpointForEver) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  for (std::size_t i = 0; i < 2 * kControlQueueMax; ++i) peer.deliver(write);
  for (std::size_t i = 0; i < 2 * kEndpointResponsesQueuedMax; ++i) peer.deliver(EndpointRequest{});
  (void)peer.collect();
  peer.deliver(EndpointRequest{.id = EndpointRequestId(7)});
  EXPECT_EQ(peer.collect_only<EndpointResponse>().size(), 1U);
}

// MRC 9.3.1 (PATH-80)
TEST(HostileFlood, OfEventsThatNobodyFetchesIsBounded) {
  ScriptedPeer peer;
  for (std::size_t i = 0; i < kEventsMax; ++i) {
    peer.endpoint().set_ev_denied(peer.now(), peer.ev_profile(), EvIndex(0), true);
    peer.endpoint().set_ev_denied(peer.now(), peer.ev_profile(), EvIndex(0), false);
  }
  EXPECT_EQ(peer.count(Count::kEventsDropped), kEventsMax);
  EXPECT_EQ(peer.events().size(), kEventsMax);
}

// MSG-1: a plain MRC queue pair knows no messages.
TEST(HostileKey, OfMessagesIsUnknownToPlainQueuePairs) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.reth.rkey = kMessageKey;
  peer.deliver(write);
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto answers = peer.collect_only<wire::Acknowledge>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
}

}  // namespace
}  // namespace openmrc::core
