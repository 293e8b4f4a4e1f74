// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/datagrams.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::only;
using test::ScriptedPeer;
using wire::QKey;
using wire::UdSend;

constexpr QKey kKey{0x11223344};
constexpr Qpn kRemote{0xabcde};

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text_of(const wire::Payload& payload) {
  const ConstBytes bytes = payload.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Received final : DatagramHandler {
  void on_datagram(const ArrivedDatagram& datagram) override {
    all.push_back(datagram);
    texts.push_back(text_of(datagram.payload));
  }
  std::vector<ArrivedDatagram> all;
  std::vector<std::string> texts;
};

// An endpoint with a datagram queue pair and, beside it, a connection to the same host.
class DatagramsTest : public testing::Test {
 protected:
  void make(const test::ScriptedOptions& options = {.planes = 2},
            const DatagramAttributes& attributes = {.qkey = kKey, .mtu = 64, .send_queue = 4}) {
    peer_.emplace(options);
    const auto made = endpoint().create_datagram_queue_pair(received_, attributes);
    ASSERT_TRUE(made);
    qpn_ = *made;
  }
  Endpoint& endpoint() { return peer_->endpoint(); }
  [[nodiscard]] std::uint64_t count(Count count) const { return peer_->count(count); }

  Result<void, PostError> post(std::string_view text, std::uint16_t host = 9) {
    const std::array pieces{bytes_of(text)};
    return post(pieces, host);
  }
  Result<void, PostError> post(std::span<const ConstBytes> pieces, std::uint16_t host = 9) {
    DatagramRequest request = request_to(host);
    request.pieces = pieces;
    return endpoint().post_datagram(qpn_, request);
  }
  DatagramRequest request_to(std::uint16_t host) {
    addresses_.clear();
    for (std::size_t i = 0; i < endpoint().planes(); ++i) {
      addresses_.push_back(peer_->address(i, host));
    }
    return {.addresses = addresses_,
            .ev_profile = peer_->ev_profile(),
            .remote_qpn = kRemote,
            .qkey = QKey(5)};
  }
  // One that comes, as it should be.
  [[nodiscard]] UdSend arriving(std::string_view text) const {
    return {.destination_qp = qpn_,
            .deth = {.qkey = kKey, .source_qp = kRemote},
            .payload = wire::Payload::of_bytes(bytes_of(text))};
  }
  static std::vector<unsigned> planes_of(const std::vector<Transmit>& sent) {
    std::vector<unsigned> planes;
    for (const Transmit& one : sent) planes.push_back(one.plane.raw());
    return planes;
  }

  static std::vector<Transmit> only_datagrams(std::vector<Transmit> sent) {
    std::erase_if(sent, [](const Transmit& one) {
      return !std::holds_alternative<UdSend>(one.packet.transport.body);
    });
    return sent;
  }

  Received received_;
  std::optional<ScriptedPeer> peer_;
  std::vector<wire::Ipv6Address> addresses_;
  Qpn qpn_;
};

// ---- what arrives ----

// UD-4
TEST_F(DatagramsTest, WhatArrivesIsDelivered) {
  make();
  UdSend with_immediate = arriving("hello");
  with_immediate.immediate = wire::Immediate(7);
  peer_->deliver(with_immediate, {.plane = Plane(1)});
  peer_->deliver(arriving(""));
  ASSERT_EQ(received_.texts, (std::vector<std::string>{"hello", ""}));
  EXPECT_EQ(received_.all[0].source, peer_->address(1));
  EXPECT_EQ(received_.all[0].plane, Plane(1));
  EXPECT_EQ(received_.all[0].source_qp, kRemote);
  EXPECT_EQ(received_.all[0].immediate, wire::Immediate(7));
  EXPECT_EQ(received_.all[1].immediate, std::nullopt);
  EXPECT_EQ(count(Count::kDatagramsReceived), 2u);
}

// UD-4: whoever knows number and key may send, connected or not.
TEST_F(DatagramsTest, WhatArrivesMayComeFromAnybody) {
  make();
  const auto unknown_host = peer_->address(0, 77);
  peer_->deliver(arriving("hello"), {.source = unknown_host});
  ASSERT_EQ(received_.all.size(), 1u);
  EXPECT_EQ(received_.all[0].source, unknown_host);
}

// UD-4
TEST_F(DatagramsTest, AWrongKeyIsDroppedAndCounted) {
  make();
  UdSend wrong = arriving("hello");
  wrong.deth.qkey = QKey(kKey.raw() + 1);
  peer_->deliver(wrong);
  EXPECT_TRUE(received_.all.empty());
  EXPECT_EQ(count(Count::kDropQKey), 1u);
  EXPECT_TRUE(endpoint().set_qkey(qpn_, wrong.deth.qkey));
  peer_->deliver(wrong);
  EXPECT_EQ(received_.texts, std::vector<std::string>{"hello"});
  peer_->deliver(arriving("old key"));
  EXPECT_EQ(count(Count::kDropQKey), 2u);
  EXPECT_FALSE(endpoint().set_qkey(peer_->qpn(), kKey));
}

// UD-5
TEST_F(DatagramsTest, OneThatIsTooLongIsDroppedAndCounted) {
  make();
  peer_->deliver(arriving(std::string(64, 'x')));
  EXPECT_EQ(received_.all.size(), 1u);
  peer_->deliver(arriving(std::string(65, 'x')));
  EXPECT_EQ(received_.all.size(), 1u);
  EXPECT_EQ(count(Count::kDropOversize), 1u);
}

// UD-3, UD-4
TEST_F(DatagramsTest, QueuePairsThatAreNotThereOrForConnectionsGetNone) {
  make();
  UdSend datagram = arriving("hello");
  datagram.destination_qp = Qpn(0x123456);
  peer_->deliver(datagram);
  datagram.destination_qp = peer_->qpn();
  peer_->deliver(datagram);
  EXPECT_TRUE(received_.all.empty());
  EXPECT_EQ(count(Count::kDropNoQueuePair), 2u);
  EXPECT_EQ(peer_->state(), QueuePairState::kReadyToSend);
  EXPECT_TRUE(peer_->collect().empty()) << "and nobody is told";
}

TEST_F(DatagramsTest, AnotherPartitionIsDropped) {
  make();
  peer_->deliver(arriving("hello"), {.pkey = PKey(1)});
  EXPECT_TRUE(received_.all.empty());
  EXPECT_EQ(count(Count::kDropPKey), 1u);
}

// UD-3
TEST_F(DatagramsTest, ItsQueuePairTakesNothingElse) {
  make();
  wire::RdmaWrite write = peer_->write(0);
  write.destination_qp = qpn_;
  peer_->deliver(write);
  wire::Sack sack = peer_->sack(1);
  sack.destination_qp = qpn_;
  peer_->deliver(sack);
  EXPECT_EQ(count(Count::kDropState), 2u);
  EXPECT_TRUE(peer_->memory_is_untouched());
  EXPECT_EQ(endpoint().to_init(qpn_, peer_->init_attributes()), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint().to_error(qpn_, peer_->now()), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint().to_reset(qpn_), failure(ModifyError::kNoQueuePair));
  EXPECT_EQ(endpoint().post_write(qpn_, peer_->now(), {}), failure(PostError::kState));
  EXPECT_EQ(endpoint().post_receive(qpn_, 1), failure(PostError::kState));
}

// ---- what is sent ----

// UD-1, UD-7
TEST_F(DatagramsTest, WhatIsPostedLeavesOnce) {
  make();
  std::string first = "one, ";
  const std::array pieces{bytes_of(first), bytes_of("two")};
  DatagramRequest request = request_to(9);
  request.immediate = wire::Immediate(3);
  request.pieces = pieces;
  ASSERT_TRUE(endpoint().post_datagram(qpn_, request));
  first = "gone!";  // it was copied
  EXPECT_TRUE(endpoint().wants_to_send());
  const auto sent = peer_->collect();
  ASSERT_EQ(sent.size(), 1u);
  const auto& datagram = std::get<UdSend>(sent[0].packet.transport.body);
  EXPECT_EQ(datagram.destination_qp, kRemote);
  EXPECT_EQ(datagram.deth, (wire::Deth{.qkey = QKey(5), .source_qp = qpn_}));
  EXPECT_EQ(datagram.immediate, wire::Immediate(3));
  EXPECT_EQ(text_of(datagram.payload), "one, two");
  EXPECT_EQ(sent[0].packet.traffic_class, wire::TrafficClass::kNoTrim);
  EXPECT_EQ(sent[0].packet.ecn, wire::Ecn::kNotCapable);
  const auto& route = std::get<wire::Ipv6Route>(sent[0].packet.route);
  EXPECT_EQ(route.destination, peer_->address(sent[0].plane.raw(), 9));
  EXPECT_EQ(route.encapsulation, std::nullopt);
  EXPECT_FALSE(endpoint().wants_to_send());
  EXPECT_EQ(count(Count::kDatagramsSent), 1u);
  EXPECT_EQ(endpoint().next_deadline(), std::nullopt) << "nothing is awaited";
}

// UD-5
TEST_F(DatagramsTest, WhatIsLongerThanTheMtuIsRefused) {
  make();
  EXPECT_TRUE(post(std::string(64, 'x')));
  EXPECT_EQ(post(std::string(65, 'x')), failure(PostError::kTooLong));
  const std::string half(33, 'x');
  const std::array pieces{bytes_of(half), bytes_of(half)};
  EXPECT_EQ(post(pieces), failure(PostError::kTooLong));
}

// UD-6
TEST_F(DatagramsTest, AFullQueueRefusesMoreUntilSomeHaveLeft) {
  make();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(post(std::to_string(i)));
    EXPECT_EQ(post("one more"), failure(PostError::kLimit));
    std::vector<std::string> texts;
    for (const UdSend& sent : only<UdSend>(peer_->collect()))
      texts.push_back(text_of(sent.payload));
    EXPECT_EQ(texts, (std::vector<std::string>{"0", "1", "2", "3"}));
  }
}

// UD-6
TEST_F(DatagramsTest, AttributesOutOfRangeAreRefused) {
  make();
  const DatagramAttributes refused[] = {{.mtu = kMtuMin - 1},
                                        {.mtu = kMtuMax + 1},
                                        {.send_queue = 0},
                                        {.send_queue = kDatagramQueueMax + 1}};
  for (const DatagramAttributes& attributes : refused) {
    EXPECT_EQ(endpoint().create_datagram_queue_pair(received_, attributes),
              failure(CreateError::kAttributes));
  }
}

// UD-6
TEST_F(DatagramsTest, ThereIsALimitOfQueuePairs) {
  make();
  const DatagramAttributes small{.mtu = kMtuMin, .send_queue = 1};
  for (std::size_t i = 1; i < kDatagramQueuePairsMax; ++i) {
    ASSERT_TRUE(endpoint().create_datagram_queue_pair(received_, small));
  }
  EXPECT_EQ(endpoint().create_datagram_queue_pair(received_, small), failure(CreateError::kLimit));
  EXPECT_TRUE(endpoint().destroy_queue_pair(qpn_));
  EXPECT_TRUE(endpoint().create_datagram_queue_pair(received_, small));
}

// UD-6
TEST_F(DatagramsTest, ThereIsNoWayToADestinationThatDoesNotFit) {
  make();
  const auto refuses = [&](const DatagramRequest& request) {
    return endpoint().post_datagram(qpn_, request) == failure(PostError::kDestination);
  };
  DatagramRequest request = request_to(9);
  request.remote_qpn = Qpn(2);
  EXPECT_TRUE(refuses(request));
  request = request_to(9);
  request.ev_profile = EvProfileId(7);
  EXPECT_TRUE(refuses(request));
  request = request_to(9);
  request.addresses = request.addresses.first(1);
  EXPECT_TRUE(refuses(request));
  request = request_to(9);
  addresses_[1] = wire::mapped(wire::Ipv4Address(1));
  EXPECT_TRUE(refuses(request));
  EXPECT_EQ(endpoint().post_datagram(peer_->qpn(), request_to(9)),
            failure(PostError::kNoQueuePair));
  EXPECT_FALSE(endpoint().wants_to_send());
}

// UD-8
TEST_F(DatagramsTest, PlanesAndEvsTakeTurns) {
  make({.planes = 2, .evs_per_plane = 4}, {.qkey = kKey, .mtu = 64, .send_queue = 16});
  std::vector<Transmit> sent;
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(post("x"));
    std::ranges::copy(only_datagrams(peer_->collect()), std::back_inserter(sent));
    peer_->advance(Datagrams::kFlowletGap + microseconds(1));
  }
  EXPECT_EQ(planes_of(sent),
            (std::vector<unsigned>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  std::set<Ev> evs;
  for (const Transmit& one : sent) {
    const auto index = peer_->profile().find(test::ev_of(one));
    ASSERT_TRUE(index);
    EXPECT_EQ(peer_->profile().entry(*index).plane, one.plane);
    evs.insert(test::ev_of(one));
  }
  EXPECT_EQ(evs.size(), 8u) << "all of both planes";
}

// UD-12
TEST_F(DatagramsTest, ThoseThatFollowEachOtherStayOnAPath) {
  make({.planes = 2, .evs_per_plane = 4}, {.qkey = kKey, .mtu = 64, .send_queue = 16});
  std::vector<Transmit> sent;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(post("x"));
    std::ranges::copy(only_datagrams(peer_->collect()), std::back_inserter(sent));
    peer_->advance(Datagrams::kFlowletGap / 2);
  }
  ASSERT_EQ(sent.size(), 8u);
  for (const Transmit& one : sent) EXPECT_EQ(test::ev_of(one), test::ev_of(sent[0]));
  // Not on one that is of no use any more.
  endpoint().set_port(peer_->now(), sent[0].plane, false);
  ASSERT_TRUE(post("x"));
  const auto next = only_datagrams(peer_->collect());
  ASSERT_EQ(next.size(), 1u);
  EXPECT_NE(next[0].plane, sent[0].plane);
}

// UD-8
TEST_F(DatagramsTest, EvsThatAreDeniedAreNotTaken) {
  make({.planes = 1, .evs_per_plane = 4}, {.qkey = kKey, .mtu = 64, .send_queue = 8});
  for (std::uint8_t i = 0; i < 3; ++i) {
    endpoint().set_ev_denied(peer_->now(), peer_->ev_profile(), EvIndex(i), true);
  }
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(post("x"));
  for (const Transmit& one : peer_->collect()) EXPECT_EQ(test::ev_of(one), peer_->ev(3));
}

// UD-8
TEST_F(DatagramsTest, APortThatIsDownIsPassedOver) {
  make();
  endpoint().set_port(peer_->now(), Plane(0), false);
  (void)peer_->collect();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(post("x"));
  std::vector<unsigned> planes;
  for (const Transmit& one : peer_->collect()) {
    if (std::holds_alternative<UdSend>(one.packet.transport.body)) {
      planes.push_back(one.plane.raw());
    }
  }
  EXPECT_EQ(planes, (std::vector<unsigned>{1, 1, 1}));
}

// UD-8
TEST_F(DatagramsTest, APortThatIsBusyIsWaitedForOnlyIfNoOtherIsFree) {
  make();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(post("x"));
  EXPECT_EQ(planes_of(peer_->collect(PlaneMask::only(Plane(1)))), (std::vector<unsigned>{1, 1}));
  endpoint().set_port(peer_->now(), Plane(0), false);
  (void)peer_->collect();
  ASSERT_TRUE(post("x"));
  EXPECT_TRUE(peer_->collect(PlaneMask::only(Plane(0))).empty());
  EXPECT_TRUE(endpoint().wants_to_send());
  EXPECT_EQ(only<UdSend>(peer_->collect()).size(), 1u);
}

// UD-9
TEST_F(DatagramsTest, WhatConnectionsKnowOfTheHostIsUsed) {
  make({.planes = 2}, {.qkey = kKey, .mtu = 64, .send_queue = 8});
  // The peer of the connection says that its port in plane 1 is down.
  peer_->deliver(wire::EndpointRequest{
      .id = wire::EndpointRequestId(1),
      .erth = {.op = wire::EndpointOp::kPortStatusUpdate, .port_status_mask = 0b010}});
  (void)peer_->collect();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(post("to the peer", ScriptedPeer::kHost));
  for (const Transmit& one : peer_->collect()) {
    if (std::holds_alternative<UdSend>(one.packet.transport.body)) {
      EXPECT_EQ(one.plane, Plane(0));
    }
  }
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(post("to another"));
  EXPECT_EQ(planes_of(peer_->collect()).size(), 2u);
  EXPECT_EQ(count(Count::kDatagramsSent), 5u);
}

// UD-10
TEST_F(DatagramsTest, WithoutAPortTheyAreLostAndCounted) {
  make();
  endpoint().set_port(peer_->now(), Plane(0), false);
  endpoint().set_port(peer_->now(), Plane(1), false);
  (void)peer_->collect();
  ASSERT_TRUE(post("x"));
  EXPECT_TRUE(only<UdSend>(peer_->collect()).empty());
  EXPECT_FALSE(endpoint().wants_to_send());
  EXPECT_EQ(count(Count::kDropDatagramNoPort), 1u);
}

// UD-7
TEST_F(DatagramsTest, ControlPacketsLeaveFirstAndDataTakesTurns) {
  make({.planes = 1}, {.qkey = kKey, .mtu = 64, .send_queue = 16});
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(post("x"));
  peer_->post(1, 8 * test::kMtu);
  wire::RdmaWrite asks = peer_->write(0);
  asks.ack_request = true;
  peer_->deliver(asks);
  std::string order;
  std::array<Transmit, 32> out;
  const std::size_t sent =
      endpoint().poll_transmit(peer_->now(), PlaneMask::all(), Ports::kReused, out);
  for (const Transmit& one : std::span(out).first(sent)) {
    const wire::Body& body = one.packet.transport.body;
    order += std::holds_alternative<UdSend>(body)            ? 'u'
             : std::holds_alternative<wire::RdmaWrite>(body) ? 'w'
                                                             : 'c';
  }
  EXPECT_EQ(order.substr(order.find_first_not_of('c')), "uwuwuwuwuwuwuwuw");
  EXPECT_EQ(order.find('c'), 0u);
}

// UD-7
TEST_F(DatagramsTest, QueuePairsTakeTurns) {
  make();
  const Qpn first = qpn_;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(post("x"));
  qpn_ = *endpoint().create_datagram_queue_pair(received_, {.mtu = 64, .send_queue = 4});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(post("y"));
  std::vector<Qpn> from;
  for (const UdSend& sent : only<UdSend>(peer_->collect())) from.push_back(sent.deth.source_qp);
  ASSERT_EQ(from.size(), 6u);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(from[i], from[i - 2]);
  EXPECT_NE(from[0], from[1]);
  EXPECT_TRUE(from[0] == first || from[1] == first);
}

// UD-11
TEST_F(DatagramsTest, WhatWaitsIsGoneWithItsQueuePair) {
  make();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(post("x"));
  EXPECT_TRUE(endpoint().destroy_queue_pair(qpn_));
  EXPECT_FALSE(endpoint().wants_to_send());
  EXPECT_TRUE(peer_->collect().empty());
  peer_->deliver(arriving("late"));
  EXPECT_TRUE(received_.all.empty());
  EXPECT_EQ(count(Count::kDropNoQueuePair), 1u);
  EXPECT_EQ(post("x"), failure(PostError::kNoQueuePair));
  EXPECT_FALSE(endpoint().destroy_queue_pair(qpn_));
}

// UD-7
TEST_F(DatagramsTest, WithSrv6TheOuterAddressIsThePath) {
  const EvFormat format{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 16, 16}};
  const std::vector<EvField> fields{{.width = 32, .init = 0xfcbbbb00},
                                    {.width = 16, .init = 0x100, .max = 7, .mask = 7},
                                    {.width = 16, .init = 0x200, .max = 7, .mask = 7}};
  const auto profile = EvProfile::generated({.format = format, .fields = fields, .count = 4});
  ASSERT_TRUE(profile);
  make({.profile = *profile});
  DatagramRequest request = request_to(9);
  request.path_overlay = wire::Ipv6Address::of({0, 0, 0, 0, 0x345, 0x678, 0, 0});
  std::set<wire::Ipv6Address> outer;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(endpoint().post_datagram(qpn_, request));
    const auto sent = only_datagrams(peer_->collect());
    ASSERT_EQ(sent.size(), 1u);
    peer_->advance(Datagrams::kFlowletGap + microseconds(1));
    const auto& route = std::get<wire::Ipv6Route>(sent[0].packet.route);
    ASSERT_TRUE(route.encapsulation);
    wire::Ipv6Address expected = profile->entry(*profile->find(route.ev)).outer;
    expected.set_group(4, 0x345);
    expected.set_group(5, 0x678);
    EXPECT_EQ(route.encapsulation->destination, expected);
    EXPECT_EQ(route.destination, peer_->address(0, 9));
    outer.insert(route.encapsulation->destination);
  }
  EXPECT_EQ(outer.size(), 4u) << "the EVs in turn";
}

TEST_F(DatagramsTest, TheyLeaveOverIpv4) {
  const std::vector<EvField> fields{{.width = 16, .init = 0xc000, .max = 255, .mask = 255}};
  const auto profile = EvProfile::generated(
      {.format = {.mode = EvFormatMode::kUdp, .slot_widths = {16}}, .fields = fields, .count = 8});
  make({.profile = *profile, .ipv4 = true});
  ASSERT_TRUE(post("x"));
  const auto sent = peer_->collect();
  ASSERT_EQ(sent.size(), 1u);
  const auto& route = std::get<wire::Ipv4Route>(sent[0].packet.route);
  EXPECT_EQ(wire::mapped(route.destination), peer_->address(0, 9));
  peer_->deliver(arriving("back"));
  ASSERT_EQ(received_.all.size(), 1u);
  EXPECT_EQ(received_.all[0].source, peer_->address(0));
}

}  // namespace
}  // namespace openmrc::core
