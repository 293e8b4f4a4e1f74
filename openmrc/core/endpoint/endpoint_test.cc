// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/endpoint.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::ev_of;
using test::fixed_window;
using test::ids_of;
using test::kMtu;
using test::kPacket;
using test::only;
using test::psns_of;
using test::ScriptedOptions;
using test::ScriptedPeer;
using test::statuses_of;
using test::write_of;
using Sent = std::vector<Transmit>;
using enum QueuePairState;

constexpr std::array kStates{kReset, kInit, kReadyToRecv, kReadyToSend, kError};
constexpr Qpn kNobody{0x123456};

using Modified = Result<void, ModifyError>;
using Posted = Result<void, PostError>;

Posted post_to(ScriptedPeer& peer, Qpn qpn, WorkId id, std::uint32_t length) {
  return peer.endpoint().post_write(qpn, peer.now(),
                                    {.id = id, .data = wire::Payload::of_length(length)});
}

// ---- states ----

// A queue pair in each state, and what a step from there leads to.
class EndpointState : public testing::TestWithParam<QueuePairState> {
 protected:
  EndpointState() : peer_({.state = GetParam() == kError ? kReadyToSend : GetParam()}) {
    if (GetParam() == kError) (void)endpoint().to_error(qpn(), peer_.now());
  }
  Endpoint& endpoint() { return peer_.endpoint(); }
  [[nodiscard]] Qpn qpn() const { return peer_.qpn(); }
  void expect_step(const Modified& outcome, QueuePairState from, QueuePairState to) {
    EXPECT_EQ(outcome, GetParam() == from ? Modified() : failure(ModifyError::kTransition));
    EXPECT_EQ(peer_.state(), GetParam() == from ? to : GetParam());
  }

  ScriptedPeer peer_;
};

// MRC 6.1 (QP-1)
TEST_P(EndpointState, GoesToInitOnlyFromReset) {
  expect_step(endpoint().to_init(qpn(), peer_.init_attributes()), kReset, kInit);
}

// MRC 6.1 (QP-1)
TEST_P(EndpointState, GoesToReadyToRecvOnlyFromInit) {
  expect_step(endpoint().to_ready_to_recv(qpn(), peer_.now(), peer_.receive_attributes()), kInit,
              kReadyToRecv);
}

// MRC 6.1 (QP-1)
TEST_P(EndpointState, GoesToReadyToSendOnlyFromReadyToRecv) {
  expect_step(endpoint().to_ready_to_send(qpn(), peer_.now(), peer_.send_attributes()),
              kReadyToRecv, kReadyToSend);
}

// MRC 6.1 (QP-2)
TEST_P(EndpointState, GoesToErrorFromEverywhere) {
  EXPECT_TRUE(endpoint().to_error(qpn(), peer_.now()));
  EXPECT_EQ(peer_.state(), kError);
}

// MRC 6.1 (QP-2)
TEST_P(EndpointState, GoesToResetFromEverywhereAndUpAgain) {
  EXPECT_TRUE(endpoint().to_reset(qpn()));
  EXPECT_EQ(peer_.state(), kReset);
  EXPECT_TRUE(endpoint().to_init(qpn(), peer_.init_attributes()));
  EXPECT_TRUE(endpoint().to_ready_to_recv(qpn(), peer_.now(), peer_.receive_attributes()));
  EXPECT_TRUE(endpoint().to_ready_to_send(qpn(), peer_.now(), peer_.send_attributes()));
  peer_.post(1, kMtu);
  EXPECT_EQ(psns_of(peer_.collect()), std::vector<std::uint32_t>{100});
}

// MRC 6.1
TEST_P(EndpointState, CanBeDestroyedEverywhere) {
  EXPECT_TRUE(endpoint().destroy_queue_pair(qpn()));
  EXPECT_EQ(endpoint().state(qpn()), std::nullopt);
  EXPECT_FALSE(endpoint().destroy_queue_pair(qpn()));
}

// MRC 6.1 (QP-21)
TEST_P(EndpointState, AcceptsWritesOnlyInReadyToSend) {
  EXPECT_EQ(post_to(peer_, qpn(), 1, 1),
            GetParam() == kReadyToSend ? Posted() : failure(PostError::kState));
}

// MRC 6.1 (QP-21)
TEST_P(EndpointState, AcceptsReceivesFromInitToReadyToSend) {
  const bool accepted = GetParam() != kReset && GetParam() != kError;
  EXPECT_EQ(endpoint().post_receive(qpn(), 1), accepted ? Posted() : failure(PostError::kState));
}

INSTANTIATE_TEST_SUITE_P(Every, EndpointState, testing::ValuesIn(kStates),
                         [](const auto& of) { return std::string(name(of.param)); });

// MRC 10.1.2
TEST(Endpoint, ChangesNoQueuePairThatIsNotThere) {
  ScriptedPeer peer;
  Endpoint& endpoint = peer.endpoint();
  EXPECT_EQ(endpoint.to_init(kNobody, peer.init_attributes()), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint.to_ready_to_recv(kNobody, peer.now(), peer.receive_attributes()),
            failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint.to_ready_to_send(kNobody, peer.now(), peer.send_attributes()),
            failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint.to_error(kNobody, peer.now()), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint.to_reset(kNobody), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(post_to(peer, kNobody, 1, 1), failure(PostError::kNoQueuePair));
  EXPECT_EQ(endpoint.post_receive(kNobody, 1), failure(PostError::kNoQueuePair));
  EXPECT_FALSE(endpoint.offer_mpr(kNobody, 1));
  EXPECT_FALSE(endpoint.set_receiver_penalty(kNobody, 1, false));
  EXPECT_EQ(endpoint.peer_of(kNobody), nullptr);
}

// MRC 10.1.2 (QP-4, QP-5)
TEST(Endpoint, RefusesProfilesThatAreNotThere) {
  ScriptedPeer peer({.state = kReset});
  InitAttributes attributes = peer.init_attributes();
  attributes.ev_profile = EvProfileId(1);
  EXPECT_EQ(peer.endpoint().to_init(peer.qpn(), attributes), failure(ModifyError::kProfile));
  attributes = peer.init_attributes();
  attributes.cc_profile = CcProfileId(1);
  EXPECT_EQ(peer.endpoint().to_init(peer.qpn(), attributes), failure(ModifyError::kProfile));
  EXPECT_EQ(peer.state(), kReset);
}

Modified to_recv(const ReadyToRecvAttributes& attributes) {
  ScriptedPeer peer({.planes = 2, .state = kInit});
  const auto outcome = peer.endpoint().to_ready_to_recv(peer.qpn(), peer.now(), attributes);
  EXPECT_EQ(peer.state(), outcome ? kReadyToRecv : kInit);
  return outcome;
}

// MRC 10.1.2 (QP-4, QP-6)
TEST(Endpoint, ChecksWhatItIsToldOfItsPeer) {
  const ReadyToRecvAttributes good = ScriptedPeer({.planes = 2}).receive_attributes();
  EXPECT_TRUE(to_recv(good));
  const auto with = [&](auto change) {
    ReadyToRecvAttributes attributes = good;
    change(attributes);
    return to_recv(attributes);
  };
  EXPECT_EQ(with([](auto& a) { a.remote_qpn = Qpn(2); }), failure(ModifyError::kRemoteQpn));
  EXPECT_TRUE(with([](auto& a) { a.remote_qpn = Qpn(3); }));
  EXPECT_EQ(with([](auto& a) { a.mtu = kMtuMin - 1; }), failure(ModifyError::kMtu));
  EXPECT_TRUE(with([](auto& a) { a.mtu = kMtuMin; }));
  EXPECT_TRUE(with([](auto& a) { a.mtu = kMtuMax; }));
  EXPECT_EQ(with([](auto& a) { a.mtu = kMtuMax + 1; }), failure(ModifyError::kMtu));
  EXPECT_EQ(with([](auto& a) { a.mpr_dest = 0; }), failure(ModifyError::kWindow));
  EXPECT_TRUE(with([](auto& a) { a.mpr_dest = 255; }));
  EXPECT_EQ(with([](auto& a) { a.max_wimm_dest = 0; }), failure(ModifyError::kWindow));
  EXPECT_EQ(with([](auto& a) { a.remote_addresses.pop_back(); }), failure(ModifyError::kPlanes));
  EXPECT_EQ(with([](auto& a) { a.remote_addresses.push_back({}); }), failure(ModifyError::kPlanes));
}

// MRC 10.1.2 (QP-6)
TEST(Endpoint, RefusesAProfileForAnotherNumberOfPlanes) {
  ScriptedPeer peer({.planes = 2,
                     .profile = EvProfile::simple({.planes = 1, .evs_per_plane = 4}),
                     .state = kInit});
  EXPECT_EQ(peer.endpoint().to_ready_to_recv(peer.qpn(), peer.now(), peer.receive_attributes()),
            failure(ModifyError::kPlanes));
}

Modified to_send(const ReadyToSendAttributes& attributes) {
  ScriptedPeer peer({.state = kReadyToRecv});
  const auto outcome = peer.endpoint().to_ready_to_send(peer.qpn(), peer.now(), attributes);
  EXPECT_EQ(peer.state(), outcome ? kReadyToSend : kReadyToRecv);
  return outcome;
}

// MRC 10.1.2 (QP-4, QP-7)
TEST(Endpoint, ChecksHowItIsToSend) {
  EXPECT_TRUE(to_send({}));
  EXPECT_EQ(to_send({.mpr = 0}), failure(ModifyError::kWindow));
  EXPECT_TRUE(to_send({.mpr = 255}));
  EXPECT_EQ(to_send({.max_wimm = 0}), failure(ModifyError::kWindow));
  EXPECT_TRUE(to_send({.timeout = 24, .linear_retries = 7, .exponential_retries = 25}));
  EXPECT_EQ(to_send({.timeout = 25}), failure(ModifyError::kRetry));
  EXPECT_EQ(to_send({.linear_retries = 8}), failure(ModifyError::kRetry));
  EXPECT_EQ(to_send({.exponential_retries = 26}), failure(ModifyError::kRetry));
}

// CC-21
TEST(Endpoint, WhoKnowsHowManySendToAPeerBeginsWithAShareOfItsLink) {
  const NsccSettings settings = nscc_defaults({.mtu = ByteCount(4096),
                                               .base_rtt = microseconds(12),
                                               .link_bits_per_second = 100'000'000'000,
                                               .trimming = true});
  ScriptedPeer peer({.congestion = settings, .state = kReadyToRecv});
  ReadyToSendAttributes attributes = peer.send_attributes();
  attributes.senders = 10;
  ASSERT_TRUE(peer.endpoint().to_ready_to_send(peer.qpn(), peer.now(), attributes));
  EXPECT_EQ(peer.peer().congestion.window().raw(), settings.max_window.raw() / 10);
}

// ---- posting ----

// MRC 6.2 (WIRE-50)
TEST(Endpoint, AMessageOfNoBytesIsOnePacket) {
  ScriptedPeer peer;
  ASSERT_TRUE(post_to(peer, peer.qpn(), 1, 0));
  const auto sent = peer.collect_only<wire::RdmaWrite>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].part, wire::MessagePart::only());
  EXPECT_EQ(sent[0].payload.size(), 0U);
  EXPECT_EQ(sent[0].reth.dma_length, 0U);
  peer.deliver(peer.sack(1));
  peer.deliver(peer.acknowledge(1, 1));
  EXPECT_EQ(test::statuses_of(peer.completions()), std::vector{WorkStatus::kSuccess});
}

// MRC 6.2 (QP-23)
TEST(Endpoint, RefusesAMessageThatWouldWrapAroundTheEndOfMemory) {
  ScriptedPeer peer;
  WriteRequest request{.data = wire::Payload::of_length(100),
                       .remote_address = std::numeric_limits<std::uint64_t>::max() - 99};
  EXPECT_EQ(peer.endpoint().post_write(peer.qpn(), peer.now(), request),
            failure(PostError::kAddressWraps));
  --request.remote_address;
  EXPECT_TRUE(peer.endpoint().post_write(peer.qpn(), peer.now(), request));
}

// MRC 10.1.2 (QP-24)
TEST(Endpoint, LimitsWorkThatIsOutstanding) {
  // Limits are rounded up to whole slabs of 256.
  ScriptedPeer peer({.limits = {.sends_outstanding = 256, .receives_outstanding = 256}});
  for (WorkId id = 0; id < 256; ++id) {
    ASSERT_TRUE(post_to(peer, peer.qpn(), id, 1));
    ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), id));
  }
  EXPECT_EQ(post_to(peer, peer.qpn(), 256, 1), failure(PostError::kLimit));
  EXPECT_EQ(peer.endpoint().post_receive(peer.qpn(), 256), failure(PostError::kLimit));
  (void)peer.collect();
  peer.deliver(peer.acknowledge(1, 1));
  EXPECT_TRUE(post_to(peer, peer.qpn(), 256, 1));
}

// ---- numbers ----

// MRC 6.1 (QP-12)
TEST(Endpoint, GivesOutNoReservedNumberAndNoneTwice) {
  ScriptedPeer peer;
  std::set<Qpn> numbers{peer.qpn()};
  for (int i = 0; i < 100; ++i) numbers.insert(*peer.endpoint().create_queue_pair());
  EXPECT_EQ(numbers.size(), 101U);
  EXPECT_GE(*numbers.begin(), kFirstUsableQpn);
}

// MRC 6.1 (QP-13)
TEST(Endpoint, DoesNotGiveANumberOutAgainAtOnce) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(peer.qpn()));
  for (int i = 0; i < 1000; ++i) {
    const Qpn qpn = *peer.endpoint().create_queue_pair();
    ASSERT_NE(qpn, peer.qpn());
    ASSERT_TRUE(peer.endpoint().destroy_queue_pair(qpn));
  }
}

// MRC 6.1 (QP-13)
TEST(Endpoint, LimitsTheNumberOfQueuePairs) {
  ScriptedPeer peer({.limits = {.queue_pairs = 2}});
  const auto second = peer.endpoint().create_queue_pair();
  ASSERT_TRUE(second);
  EXPECT_EQ(peer.endpoint().create_queue_pair().error(), CreateError::kLimit);
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(*second));
  EXPECT_TRUE(peer.endpoint().create_queue_pair());
}

// ---- the end of a queue pair ----

// MRC 6.1 (CC-6, QP-41)
TEST(Endpoint, CompletesAllThatWasPostedOnTheWayToError) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  peer.post(2, kMtu);
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 7));
  (void)peer.collect();
  peer.post(3, kMtu);
  ASSERT_TRUE(peer.endpoint().to_error(peer.qpn(), peer.now()));
  const auto completions = peer.completions();
  const std::vector<WorkId> ids = ids_of(completions);
  EXPECT_EQ(std::multiset(ids.begin(), ids.end()), (std::multiset<WorkId>{1, 2, 3, 7}));
  EXPECT_EQ(statuses_of(completions), std::vector(4, WorkStatus::kFlushed));
  EXPECT_EQ(peer.peer().in_flight, ByteCount(0));
  EXPECT_TRUE(peer.collect().empty());
  EXPECT_TRUE(peer.await_packets(seconds(10)).empty());
}

// MRC 6.1 (QP-42)
TEST(Endpoint, ForgetsAllThatWasPostedOnTheWayToReset) {
  ScriptedPeer peer;
  peer.post(1, 2 * kMtu);
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 7));
  (void)peer.collect();
  ASSERT_TRUE(peer.endpoint().to_reset(peer.qpn()));
  EXPECT_TRUE(peer.completions().empty());
  EXPECT_TRUE(peer.await_packets(seconds(10)).empty());
  EXPECT_EQ(peer.endpoint().peer_of(peer.qpn()), nullptr);
}

// MRC 6.1
TEST(Endpoint, SendsNothingForAQueuePairThatWasDestroyedWhileItsTurnWasDue) {
  ScriptedPeer peer;
  peer.post(1, kMtu);
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(peer.qpn()));
  EXPECT_TRUE(peer.collect().empty());
  EXPECT_FALSE(peer.endpoint().wants_to_send());
  EXPECT_TRUE(peer.completions().empty());
  EXPECT_TRUE(peer.await_packets(seconds(10)).empty());
}

// MRC 6.1 (QP-43)
TEST(Endpoint, SendsNothingForAQueuePairThatWasDestroyedWithControlPacketsQueued) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  peer.deliver(write);
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(peer.qpn()));
  EXPECT_TRUE(peer.collect().empty());
}

// MRC 6.1
TEST(Endpoint, LetsOthersSendWhenAQueuePairIsDestroyedThatWaitedForTheWindow) {
  ScriptedPeer peer({.congestion = fixed_window(2)});
  const Qpn other = peer.connect(Qpn(0x777));
  peer.post(1, 2 * kMtu);
  ASSERT_EQ(peer.collect().size(), 2U);
  ASSERT_TRUE(post_to(peer, other, 2, kMtu));
  ASSERT_EQ(peer.collect().size(), 0U);
  ASSERT_TRUE(peer.endpoint().destroy_queue_pair(other));
  EXPECT_EQ(peer.collect().size(), 0U);
  peer.post(3, kMtu);
  peer.deliver(peer.sack(2));
  EXPECT_EQ(psns_of(peer.collect()), std::vector<std::uint32_t>{102});
}

// MRC 6.1 (QP-43)
TEST(Endpoint, SendsNoControlPacketOfAFormerConnectionToTheNextPeer) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.ack_request = true;
  peer.deliver(write);
  ASSERT_TRUE(peer.endpoint().to_reset(peer.qpn()));
  ASSERT_TRUE(peer.endpoint().to_init(peer.qpn(), peer.init_attributes()));
  ASSERT_TRUE(peer.endpoint().to_ready_to_recv(peer.qpn(), peer.now(),
                                               peer.receive_attributes(Qpn(0x999), 9)));
  const Sent sent = peer.collect();
  EXPECT_EQ(only<wire::Sack>(sent).size(), 0U);
  EXPECT_EQ(only<wire::Acknowledge>(sent).size(), 0U);
}

// ---- sharing ----

// MRC 8 (CC-1, PATH-11)
TEST(Endpoint, SharesOneWindowAmongTheQueuePairsToAPeer) {
  ScriptedPeer peer({.congestion = fixed_window(6)});
  const Qpn other = peer.connect(Qpn(0x777));
  EXPECT_EQ(peer.endpoint().peer_of(other), &peer.peer());
  peer.post(1, 4 * kMtu);
  ASSERT_TRUE(post_to(peer, other, 2, 4 * kMtu));
  EXPECT_EQ(peer.collect().size(), 6U);
  EXPECT_EQ(peer.peer().in_flight, kPacket * 6);
  peer.deliver(peer.sack(4));
  EXPECT_EQ(peer.collect().size(), 2U) << "the other one takes the room";
}

// MRC 8 (CC-1, PATH-11)
TEST(Endpoint, HasAWindowForEachPeer) {
  ScriptedPeer peer({.congestion = fixed_window(3)});
  const Qpn other = peer.connect(Qpn(0x777), 9);
  EXPECT_NE(peer.endpoint().peer_of(other), &peer.peer());
  peer.post(1, 4 * kMtu);
  ASSERT_TRUE(post_to(peer, other, 2, 4 * kMtu));
  EXPECT_EQ(peer.collect().size(), 6U);
}

// MRC 8 (CC-4)
TEST(Endpoint, GivesTheShareOfAQueuePairThatEndedToTheOthersAtOnce) {
  ScriptedPeer peer({.congestion = fixed_window(2)});
  const Qpn other = peer.connect(Qpn(0x777));
  peer.post(1, 2 * kMtu);
  ASSERT_EQ(peer.collect().size(), 2U);
  ASSERT_TRUE(post_to(peer, other, 2, kMtu));
  ASSERT_EQ(peer.collect().size(), 0U);
  ASSERT_TRUE(peer.endpoint().to_error(peer.qpn(), peer.now()));
  EXPECT_EQ(peer.collect().size(), 1U);
}

// MRC 8 (CC-4)
TEST(Endpoint, PassesTheWindowOnFromOneThatIsWokenAndHasNothingToSend) {
  ScriptedPeer peer({.congestion = fixed_window(1)});
  const Qpn first = peer.connect(Qpn(0x777));
  const Qpn second = peer.connect(Qpn(0x778));
  peer.post(1, kMtu);
  ASSERT_EQ(peer.collect().size(), 1U);
  ASSERT_TRUE(post_to(peer, first, 2, kMtu));
  ASSERT_TRUE(post_to(peer, second, 3, kMtu));
  ASSERT_EQ(peer.collect().size(), 0U);
  ASSERT_TRUE(peer.endpoint().to_error(first, peer.now()));
  peer.deliver(peer.sack(1));
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(write_of(sent[0]).destination_qp, Qpn(0x778));
}

// MRC 8 (CC-4)
TEST(Endpoint, WhoTimesOutDoesNotTakeTheWindowFromWhoWaitsForIt) {
  ScriptedPeer peer({.congestion = fixed_window(1)});
  const Qpn other = peer.connect(Qpn(0x777));
  peer.post(1, kMtu);
  ASSERT_EQ(peer.collect().size(), 1U);
  ASSERT_TRUE(post_to(peer, other, 2, kMtu));
  ASSERT_EQ(peer.collect().size(), 0U);
  std::vector<wire::RdmaWrite> sent;
  while (sent.empty() && peer.fire_next()) sent = peer.collect_only<wire::RdmaWrite>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].destination_qp, Qpn(0x777));
}

// MRC 8 (CC-4)
TEST(Endpoint, LetsQueuePairsTakeTurns) {
  ScriptedPeer peer;
  const Qpn other = peer.connect(Qpn(0x777));
  peer.post(1, 100 * kMtu);
  ASSERT_TRUE(post_to(peer, other, 2, 100 * kMtu));
  const Sent sent = peer.collect();
  std::size_t of_other = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    if (write_of(sent[i]).destination_qp == Qpn(0x777)) ++of_other;
  }
  EXPECT_EQ(of_other, 16U);
}

// MRC 9.3.2 (CC-4)
TEST(Endpoint, SendsToOthersWhileOnePeerCannotBeReached) {
  ScriptedPeer peer({.planes = 2});
  // This peer has only plane 1 left, and we only plane 0.
  peer.deliver(wire::EndpointRequest{
      .erth = {.op = wire::EndpointOp::kPortStatusUpdate, .port_status_mask = 0b100}});
  const Qpn other = peer.connect(Qpn(0x777), 9);
  peer.endpoint().set_port(peer.now(), Plane(1), false);
  (void)peer.collect();
  peer.post(1, kMtu);
  ASSERT_TRUE(post_to(peer, other, 2, kMtu));
  EXPECT_EQ(only<wire::RdmaWrite>(peer.collect()).size(), 1U);
}

// ---- ports and routes ----

// MRC 9.3.2
TEST(Endpoint, SpreadsPacketsOverAllPlanesEqually) {
  ScriptedPeer peer({.planes = 4, .evs_per_plane = 8});
  peer.post(1, 400 * kMtu);
  for (const Transmit& packet : peer.collect()) {
    const auto& route = std::get<wire::Ipv6Route>(packet.packet.route);
    EXPECT_EQ(route.destination, peer.address(packet.plane.raw()));
    EXPECT_EQ(route.source, peer.address(packet.plane.raw(), 1));
    EXPECT_EQ(peer.profile().entry(*peer.profile().find(route.ev)).plane, packet.plane);
  }
  for (std::uint8_t plane = 0; plane < 4; ++plane) {
    EXPECT_EQ(peer.endpoint().counters().sent(Plane(plane)), 100U);
  }
}

// MRC 9.3.1 (PATH-29)
TEST(Endpoint, TakesEveryPathOnceInEachRound) {
  ScriptedPeer peer({.evs_per_plane = 16});
  peer.post(1, 64 * kMtu);
  const Sent sent = peer.collect();
  for (std::size_t round = 0; round < 4; ++round) {
    std::set<Ev> evs;
    for (std::size_t i = 0; i < 16; ++i) evs.insert(ev_of(sent[round * 16 + i]));
    EXPECT_EQ(evs.size(), 16U);
  }
}

// MRC 9.3.2 (PATH-28)
TEST(Endpoint, SendsOnlyFromFreePorts) {
  ScriptedPeer peer({.planes = 4});
  peer.post(1, 10 * kMtu);
  for (const Transmit& packet : peer.collect(PlaneMask(0b0110))) {
    EXPECT_TRUE(packet.plane == Plane(1) || packet.plane == Plane(2));
  }
}

// MRC 9.3.2
TEST(Endpoint, TakesAPortOnceIfAsked) {
  ScriptedPeer peer({.planes = 4});
  peer.post(1, 10 * kMtu);
  std::array<Transmit, 8> out;
  const std::size_t count = peer.endpoint().poll_transmit(peer.now(), PlaneMask(0b1011),
                                                          Endpoint::Ports::kTakenOnce, out);
  ASSERT_EQ(count, 3U);
  std::set<Plane> planes;
  for (std::size_t i = 0; i < count; ++i) planes.insert(out[i].plane);
  EXPECT_EQ(planes, (std::set{Plane(0), Plane(1), Plane(3)}));
}

// MRC 9.3.5 (PATH-76, PATH-77)
TEST(Endpoint, PutsThePathIntoTheOuterAddressWithSrv6) {
  const EvFormat format{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 16, 16}};
  const std::vector<EvField> fields{{.width = 32, .init = 0xfcbbbb00},
                                    {.width = 16, .init = 0x100, .max = 7, .mask = 7},
                                    {.width = 16, .init = 0x200, .max = 7, .mask = 7}};
  const auto profile = EvProfile::generated({.format = format, .fields = fields, .count = 4});
  ASSERT_TRUE(profile);
  ScriptedPeer peer({.profile = *profile, .state = kInit});
  ReadyToRecvAttributes attributes = peer.receive_attributes();
  attributes.path_overlay = wire::Ipv6Address::of({0, 0, 0, 0, 0x345, 0x678, 0, 0});
  ASSERT_TRUE(peer.endpoint().to_ready_to_recv(peer.qpn(), peer.now(), attributes));
  ASSERT_TRUE(peer.endpoint().to_ready_to_send(peer.qpn(), peer.now(), peer.send_attributes()));
  peer.post(1, 8 * kMtu);
  std::set<wire::Ipv6Address> outer;
  for (const Transmit& packet : peer.collect()) {
    const auto& route = std::get<wire::Ipv6Route>(packet.packet.route);
    ASSERT_TRUE(route.encapsulation);
    wire::Ipv6Address expected = profile->entry(*profile->find(route.ev)).outer;
    expected.set_group(4, 0x345);
    expected.set_group(5, 0x678);
    EXPECT_EQ(route.encapsulation->destination, expected);
    EXPECT_EQ(route.encapsulation->source, peer.address(0, 1));
    EXPECT_EQ(route.destination, peer.address(0));
    outer.insert(route.encapsulation->destination);
  }
  EXPECT_EQ(outer.size(), 4U);
}

ScriptedOptions ipv4_options() {
  const std::vector<EvField> fields{{.width = 16, .init = 0xc000, .max = 255, .mask = 255}};
  return {
      .profile = *EvProfile::generated({.format = {.mode = EvFormatMode::kUdp, .slot_widths = {16}},
                                        .fields = fields,
                                        .count = 8}),
      .ipv4 = true};
}

// MRC 9.1
TEST(Endpoint, SendsOverIpv4IfTheAddressesAreMappedOnes) {
  ScriptedPeer peer(ipv4_options());
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  const auto& route = std::get<wire::Ipv4Route>(sent[0].packet.route);
  EXPECT_EQ(route.source, wire::Ipv4Address(0x0a000001));
  EXPECT_EQ(route.destination, wire::Ipv4Address(0x0a000002));
  EXPECT_EQ(route.ev_low, ev_of(sent[0]).raw());
}

// MRC 9.1 (QP-8)
TEST(Endpoint, RefusesEvsThatIpv4CannotCarry) {
  ScriptedPeer peer({.ipv4 = true, .state = kInit});
  EXPECT_EQ(peer.endpoint().to_ready_to_recv(peer.qpn(), peer.now(), peer.receive_attributes()),
            failure(ModifyError::kEvFormat));
}

// MRC 9.1
TEST(Endpoint, HearsItsPeerOverIpv4) {
  ScriptedPeer peer(ipv4_options());
  peer.post(1, kMtu);
  const Sent sent = peer.collect();
  peer.deliver(peer.nack(sent[0], wire::NackReason::kTrimmed));
  EXPECT_EQ(peer.ev_state(ev_of(sent[0])), EvState::kSkip);
  EXPECT_EQ(peer.collect().size(), 1U);
  peer.deliver(peer.write(0));
  EXPECT_EQ(peer.count(Count::kDataReceived), 1U);
  EXPECT_EQ(peer.collect_only<wire::Acknowledge>().size(), 1U);
  peer.deliver(peer.write(1), {.source = peer.address(0, 9)});
  EXPECT_EQ(peer.count(Count::kDropSource), 1U);
}

// ---- the rest ----

// MRC 6.1
TEST(Endpoint, DoesTheSameForTheSameSeedAndInputs) {
  const auto run = [](std::uint64_t seed) {
    ScriptedPeer peer({.planes = 2, .evs_per_plane = 8, .seed = seed});
    peer.post(1, 50 * kMtu);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> trace;
    Sent sent = peer.collect();
    peer.deliver(peer.nack(sent[3], wire::NackReason::kTrimmed));
    for (unsigned i = 0; i < 20; ++i) {
      for (const Transmit& packet : sent)
        trace.emplace_back(ev_of(packet).raw(), packet.plane.raw());
      sent = peer.await_packets(milliseconds(1));
    }
    return trace;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

// MRC 8
TEST(Endpoint, HoldsNoRecordOfPacketsInFlightForAnIdlePeer) {
  ScriptedPeer peer;
  EXPECT_FALSE(peer.peer().losses.is_running());
  peer.post(1, kMtu);
  (void)peer.collect();
  EXPECT_TRUE(peer.peer().losses.is_running());
  peer.deliver(peer.acknowledge(1, 1));
  peer.advance(seconds(3));
  EXPECT_FALSE(peer.peer().losses.is_running());
}

// MRC 7.4.1
TEST(Endpoint, ReturnsFromATimeoutThoughPacketsAreInFlightForLong) {
  // A path is disabled, so that the peer has a timer; and no response for seconds.
  ScriptedPeer peer({.timeout = 21});
  wire::Sack sack = peer.sack(0);
  sack.seth.mark = wire::PathMark::kAlwaysSkip;
  peer.deliver(sack);
  peer.post(1, kMtu);
  const Instant end = peer.now() + seconds(2);
  while (peer.now() < end) (void)peer.await_packets(milliseconds(100));
  EXPECT_EQ(peer.state(), kReadyToSend);
}

// A queue pair for whose packets there is no room must not keep others from sending (REL-91).
TEST(Endpoint, WhoHasNoRoomForMoreInFlightWaitsAndOthersGoOn) {
  constexpr unsigned kChunks = 4;  // of 64 packets each; as many queue pairs have packets in flight
  ScriptedPeer peer({.limits = {.packets_in_flight = kChunks * 64}});
  std::vector<Qpn> qpns{peer.qpn()};
  for (std::uint32_t i = 1; i <= kChunks; ++i) qpns.push_back(peer.connect(Qpn(0x6000 + i)));
  for (const Qpn qpn : qpns) {
    ASSERT_TRUE(post_to(peer, qpn, 1, kMtu));
  }
  EXPECT_EQ(peer.collect().size(), kChunks) << "the last has no room";
  // The one that waits is in front of another that can send.
  ASSERT_TRUE(post_to(peer, qpns.back(), 1, kMtu));
  ASSERT_TRUE(post_to(peer, qpns.front(), 1, kMtu));
  EXPECT_EQ(peer.collect().size(), 1U);
  // When another one's packets have arrived there is room.
  peer.deliver(peer.sack(2));
  EXPECT_EQ(psns_of(peer.collect()), (std::vector<std::uint32_t>{100, 101}));
}

}  // namespace
}  // namespace openmrc::core
