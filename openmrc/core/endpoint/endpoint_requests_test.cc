// SPDX-License-Identifier: BSD-3-Clause
// Requests from endpoint to endpoint, and port status. Probes of paths are in path_probes_test.cc.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/field/connection_id.h"
#include "tests/support/endpoint_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::answer;
using test::ev_of;
using test::ev_probes;
using test::kMtu;
using test::kRtt;
using test::make_bad;
using test::only;
using test::port_statuses;
using test::request_of;
using test::requests;
using test::ScriptedPeer;
using test::Sent;
using wire::EndpointOp;
using wire::EndpointRequest;
using wire::EndpointRequestId;
using wire::EndpointResponse;

constexpr Plane kPlane0{0};
constexpr Plane kPlane1{1};

EndpointRequest port_status(std::uint32_t mask, std::uint16_t id = 0x4321) {
  return {.id = EndpointRequestId(id),
          .erth = {.op = EndpointOp::kPortStatusUpdate,
                   .port_status_mask = mask,
                   .sent = {.ticks = 0x1357}}};
}

// By which planes the packets of a new write leave.
std::set<Plane> planes_of_a_write(ScriptedPeer& peer) {
  peer.post(1, 20 * kMtu);
  std::set<Plane> planes;
  for (const Transmit& packet : peer.collect()) planes.insert(packet.plane);
  return planes;
}

// ---- answering ----

// MRC 7.4.7 (PATH-46, WIRE-31, WIRE-74)
TEST(EndpointRequests, AnEvProbeIsAnsweredWithItsNumberAndTimestamp) {
  ScriptedPeer peer;
  peer.deliver(EndpointRequest{.id = EndpointRequestId(0xbeef),
                               .erth = {.op = EndpointOp::kEvProbe, .sent = {.ticks = 0x2468}}});
  const Sent sent = peer.collect();
  const auto responses = only<EndpointResponse>(sent);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].id, EndpointRequestId(0xbeef));
  EXPECT_EQ(responses[0].eeth, (wire::Eeth{.op = EndpointOp::kEvProbe, .tx_ticks = 0x2468}));
  EXPECT_EQ(std::get<wire::Ipv6Route>(sent[0].packet.route).destination, peer.address(0));
  EXPECT_EQ(sent[0].packet.traffic_class, wire::TrafficClass::kControl);
  EXPECT_EQ(peer.count(Count::kEndpointResponsesSent), 1U);
}

// MRC 7.3 (PATH-46, PATH-47)
TEST(EndpointRequests, AProbeOfAnUnknownPeerIsAnsweredTheWayItCame) {
  ScriptedPeer peer({.planes = 2});
  const wire::Ipv6Address unknown_peer = peer.address(1, 99);
  peer.deliver(EndpointRequest{.id = EndpointRequestId(5)},
               {.plane = kPlane1, .ev = Ev(0x1111c111), .source = unknown_peer});
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 1U);
  const auto& route = std::get<wire::Ipv6Route>(sent[0].packet.route);
  EXPECT_EQ(sent[0].plane, kPlane1);
  EXPECT_EQ(route.destination, unknown_peer);
  EXPECT_EQ(route.source, peer.address(1, 1));
  EXPECT_EQ(route.ev, Ev(0x1111c111));
}

// Leads everything to host 99 by one segment list, and knows nothing of others.
class OneReturnRoute final : public ReturnRoutes {
 public:
  OneReturnRoute(const wire::Ipv6Address& known, const wire::Ipv6Address& outer)
      : known_(known), outer_(outer) {}
  [[nodiscard]] std::optional<wire::SrEncapsulation> route_to(
      Plane /*plane*/, const wire::Ipv6Address& source,
      const wire::Ipv6Address& destination) const override {
    if (destination != known_) return std::nullopt;
    return wire::SrEncapsulation{.source = source, .destination = outer_, .srh = std::nullopt};
  }

 private:
  wire::Ipv6Address known_;
  wire::Ipv6Address outer_;
};

// PATH-47
TEST(EndpointRequests, AnAnswerToAnUnknownPeerTakesTheReturnRouteIfThereIsOne) {
  const wire::Ipv6Address known = ScriptedPeer().address(0, 99);
  const wire::Ipv6Address outer = ScriptedPeer().address(0, 77);
  ScriptedPeer peer({.return_routes = std::make_shared<OneReturnRoute>(known, outer)});
  for (const std::uint16_t host : {std::uint16_t{99}, std::uint16_t{98}}) {
    peer.deliver(EndpointRequest{.id = EndpointRequestId(host)}, {.source = peer.address(0, host)});
  }
  const Sent sent = peer.collect();
  ASSERT_EQ(sent.size(), 2U);
  const auto& with_route = std::get<wire::Ipv6Route>(sent[0].packet.route);
  ASSERT_TRUE(with_route.encapsulation);
  EXPECT_EQ(with_route.encapsulation->destination, outer);
  EXPECT_EQ(with_route.encapsulation->source, peer.address(0, 1));
  EXPECT_FALSE(std::get<wire::Ipv6Route>(sent[1].packet.route).encapsulation);
}

// ---- order ----

bool is_control(const Transmit& sent) {
  return sent.packet.traffic_class == wire::TrafficClass::kControl;
}

// CC-5
TEST(EndpointOrder, DataLeavesBeforeControlInASmallBurstAndBehindItInALargeOne) {
  for (const std::uint32_t packets : {3U, 12U}) {
    ScriptedPeer peer;
    peer.deliver(EndpointRequest{.id = EndpointRequestId(5)});
    peer.post(1, packets * kMtu);
    const Sent sent = peer.collect();
    ASSERT_EQ(sent.size(), packets + 1);
    const bool small = sent.size() <= kSmallBurst;
    EXPECT_EQ(is_control(sent.front()), !small);
    EXPECT_EQ(is_control(sent.back()), small);
  }
}

// ---- asking ----

// MRC 7.3 (PATH-45)
TEST(EndpointRequests, APathIsProbedOnRequestWhateverItsState) {
  ScriptedPeer peer;
  const Ev bad = peer.ev(2);
  make_bad(peer, bad);
  (void)peer.collect();
  const auto index = peer.peer().paths.profile().find(bad);
  ASSERT_TRUE(index);
  (void)peer.events();
  ASSERT_TRUE(peer.endpoint().probe_path(peer.qpn(), peer.now(), *index, 77));
  const Sent probes = ev_probes(peer.collect());
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(ev_of(probes[0].packet), bad);
  peer.advance(microseconds(5));
  answer(peer, probes[0]);
  const auto events = peer.events();
  ASSERT_EQ(events.size(), 1U);
  const auto& told = std::get<ProbeAnswer>(events[0]);
  EXPECT_EQ(told.qpn, peer.qpn());
  EXPECT_EQ(told.tag, 77U);
  EXPECT_EQ(told.index, *index);
  EXPECT_EQ(told.rtt, microseconds(5));
  EXPECT_EQ(peer.ev_state(bad), EvState::kAssumedBad) << "one answer does not make it good";
}

// MRC 7.3
TEST(EndpointRequests, AControllerAsksWhomItLikesByThePathItLikes) {
  ScriptedPeer peer({.planes = 2});
  const wire::Ipv6Address unknown_peer = peer.address(1, 0x99);
  const wire::Ipv6Address carrier = wire::Ipv6Address::of({0xfcbb, 0xbb00, 0x4001, 0, 0, 0, 0, 0});
  ASSERT_TRUE(peer.endpoint().send_request(peer.now(), {.destination = unknown_peer,
                                                        .plane = Plane(1),
                                                        .ev = Ev(0x1234c111),
                                                        .outer = carrier,
                                                        .tag = 5}));
  const Sent probes = ev_probes(peer.collect());
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].plane, Plane(1));
  const auto& route = std::get<wire::Ipv6Route>(probes[0].packet.route);
  EXPECT_EQ(route.destination, unknown_peer);
  EXPECT_EQ(route.ev, Ev(0x1234c111));
  ASSERT_TRUE(route.encapsulation);
  EXPECT_EQ(route.encapsulation->destination, carrier);
  peer.advance(microseconds(7));
  answer(peer, probes[0]);
  answer(peer, probes[0]);  // a second one is nobody's
  const auto events = peer.events();
  ASSERT_EQ(events.size(), 1U);
  const auto& told = std::get<ProbeAnswer>(events[0]);
  EXPECT_EQ(told.qpn, Qpn{});
  EXPECT_EQ(told.tag, 5U);
  EXPECT_EQ(told.rtt, microseconds(7));
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), 1U);
}

// MRC 7.4.8
TEST(EndpointRequests, AControllerTellsOfPortsInItsOwnWords) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().send_request(
      peer.now(), {.destination = peer.address(0, 0x99), .port_status = 0b110}));
  const auto requests = peer.collect_only<wire::EndpointRequest>();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].erth.op, wire::EndpointOp::kPortStatusUpdate);
  EXPECT_EQ(requests[0].erth.port_status_mask, 0b110U);
}

TEST(EndpointRequests, AControllersRequestNeedsAPortThatIsUp) {
  ScriptedPeer peer({.planes = 2});
  EXPECT_FALSE(peer.endpoint().send_request(peer.now(),
                                            {.destination = peer.address(0), .plane = Plane(2)}));
  peer.endpoint().set_port(peer.now(), Plane(1), false);
  (void)peer.collect();
  ASSERT_TRUE(peer.endpoint().send_request(peer.now(),
                                           {.destination = peer.address(1), .plane = Plane(1)}));
  EXPECT_TRUE(ev_probes(peer.collect()).empty());
}

TEST(EndpointRequests, OnlyPathsOfConnectedQueuePairsAreProbed) {
  ScriptedPeer peer;
  EXPECT_FALSE(peer.endpoint().probe_path(Qpn(0x777), peer.now(), EvIndex(0), 1));
  EXPECT_FALSE(peer.endpoint().probe_path(peer.qpn(), peer.now(), EvIndex(255), 1));
  EXPECT_TRUE(ev_probes(peer.collect()).empty());
}

// ---- port status ----

// MRC 7.4.8 (PATH-1, PATH-57, WIRE-73)
TEST(EndpointRequests, APeerIsToldOfAPortThatWentDownUntilItAnswers) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  for (unsigned i = 0; i < 3; ++i) {
    const Sent told = port_statuses(peer.await_packets(kRtt * 4));
    ASSERT_EQ(told.size(), 1U) << i;
    EXPECT_EQ(request_of(told[0]).erth.port_status_mask, 0b010U) << "port 1 is plane 0";
    EXPECT_EQ(told[0].plane, kPlane0) << "a plane that works";
    if (i == 2) answer(peer, told[0]);
  }
  EXPECT_TRUE(peer.await_packets(seconds(1)).empty());
  EXPECT_EQ(peer.count(Count::kPortStatusSent), 3U);
  peer.endpoint().set_port(peer.now(), kPlane1, true);
  const Sent told = port_statuses(peer.collect());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(request_of(told[0]).erth.port_status_mask, 0b110U);
}

// MRC 7.4.8 (PATH-58)
TEST(EndpointRequests, TheAnswerToAnEarlierTellingOfTheSameCounts) {
  // The way there and back may take longer than the distance of the repeats.
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  const Sent first = port_statuses(peer.collect());
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(port_statuses(peer.await_packets(kRtt * 2)).size(), 1U);
  answer(peer, first[0]);
  EXPECT_TRUE(peer.await_packets(seconds(1)).empty());
}

// MRC 7.4.8
TEST(EndpointRequests, NobodyIsToldOfAPortThatDidNotChange) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, true);
  EXPECT_TRUE(peer.collect().empty());
}

// MRC 7.4.8 (PATH-59)
TEST(EndpointRequests, ANewPeerIsToldOfAPortThatIsDown) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  answer(peer, port_statuses(peer.collect()).at(0));
  (void)peer.connect(Qpn(0x777), 9);
  const Sent told = port_statuses(peer.collect());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(std::get<wire::Ipv6Route>(told[0].packet.route).destination, peer.address(0, 9));
}

// MRC 7.4.8 (PATH-28, PATH-56)
TEST(EndpointRequests, NothingLeavesByAPortThatIsDown) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  EXPECT_EQ(planes_of_a_write(peer), std::set{kPlane0});
  peer.endpoint().set_port(peer.now(), kPlane1, true);
  EXPECT_EQ(planes_of_a_write(peer).size(), 2U);
}

// MRC 7.4.8 (PATH-60, PATH-64)
TEST(EndpointRequests, ThePortStatusOfAPeerIsAppliedAndAnswered) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010));
  const auto responses = peer.collect_only<EndpointResponse>();
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].id, EndpointRequestId(0x4321));
  EXPECT_EQ(responses[0].eeth.tx_ticks, 0x1357);
  EXPECT_EQ(peer.count(Count::kPortStatusReceived), 1U);
  EXPECT_EQ(planes_of_a_write(peer), std::set{kPlane0});
  peer.deliver(port_status(0b110));
  EXPECT_EQ(planes_of_a_write(peer).size(), 2U);
}

// MRC 7.4.8 (PATH-64): MRC has no authentication; that the port answers proves the contrary.
// SEC-21, SEC-22
TEST(EndpointRequests, APortThatIsSaidToBeDownIsProbedAndUsedAgainOnceItAnswers) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010));
  const Sent probes = ev_probes(peer.collect());
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].plane, kPlane1);
  peer.advance(kRtt);
  EXPECT_FALSE(peer.peer().remote_ports.has(kPlane1));
  answer(peer, probes[0]);
  EXPECT_TRUE(peer.peer().remote_ports.has(kPlane1));
  EXPECT_EQ(peer.count(Count::kPortStatusRefuted), 1U);
  EXPECT_EQ(planes_of_a_write(peer).size(), 2U);
}

// MRC 7.4.8 (SEC-21)
TEST(EndpointRequests, APortThatIsDownIsProbedOverItsPathsEverMoreSeldom) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010));
  std::vector<Duration> distances;
  std::set<Ev> evs;
  Instant last = peer.now();
  (void)peer.collect();
  for (int i = 0; i < 5; ++i) {
    const Sent probes = ev_probes(peer.await_packets(seconds(1)));
    ASSERT_EQ(probes.size(), 1U);
    evs.insert(ev_of(probes[0]));
    distances.push_back(peer.now() - last);
    last = peer.now();
  }
  EXPECT_EQ(distances, (std::vector{kRtt * 2, kRtt * 4, kRtt * 8, kRtt * 16, kRtt * 32}));
  EXPECT_EQ(evs.size(), 4U) << "all of the plane's";
  EXPECT_FALSE(peer.peer().remote_ports.has(kPlane1));
}

// MRC 7.4.8 (SEC-23)
TEST(EndpointRequests, AfterAFalsePortStatusTheNextIsBelievedOnlyIfTheProbeIsNotAnswered) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010, 1));
  answer(peer, ev_probes(peer.collect()).at(0));
  peer.advance(kRtt);
  peer.deliver(port_status(0b010, 2));
  EXPECT_TRUE(peer.peer().remote_ports.has(kPlane1));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 1U);
  peer.advance(kRtt * 2);
  EXPECT_FALSE(peer.peer().remote_ports.has(kPlane1)) << "it had no answer";
  peer.deliver(port_status(0b110, 3));
  EXPECT_TRUE(peer.peer().remote_ports.has(kPlane1));
  peer.advance(PortClaims::kDistrustFor);
  peer.deliver(port_status(0b010, 4));
  EXPECT_FALSE(peer.peer().remote_ports.has(kPlane1)) << "as in the beginning";
}

// MRC 7.4.8 (SEC-23)
TEST(EndpointRequests, APortThatWasDownAndAnswersAgainMayBeSaidToBeDownAgain) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010, 1));
  (void)peer.collect();
  const Sent probes = ev_probes(peer.await_packets(kRtt * 2));
  answer(peer, probes.at(0));
  EXPECT_TRUE(peer.peer().remote_ports.has(kPlane1));
  peer.deliver(port_status(0b010, 2));
  EXPECT_FALSE(peer.peer().remote_ports.has(kPlane1));
}

// MRC 7.4.8 (SEC-24)
TEST(EndpointRequests, AFloodOfPortStatusesDoesNotMakeAFloodOfProbes) {
  ScriptedPeer peer({.planes = 2});
  for (std::uint16_t i = 0; i < 1000; ++i) peer.deliver(port_status(i % 2 == 0 ? 0b010 : 0b110, i));
  EXPECT_EQ(ev_probes(peer.collect()).size(), 1U);
}

// MRC 7.4.8 (SEC-20), 9.3.1 (PATH-66)
TEST(EndpointRequests, APortThatIsDownHereDoesNotAnswer) {
  ScriptedPeer peer({.planes = 2});
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  (void)peer.collect();
  peer.deliver(EndpointRequest{}, {.plane = kPlane1});
  EXPECT_TRUE(peer.collect_only<EndpointResponse>().empty());
  EXPECT_EQ(peer.count(Count::kDropUnwelcomePlane), 1U);
}

// MRC 11.5 (PATH-60)
TEST(EndpointRequests, APortStatusConcernsOnlyThePeerItComesFrom) {
  ScriptedPeer peer({.planes = 2});
  const Qpn other = peer.connect(Qpn(0x777), 9);
  peer.deliver(port_status(0b100), {.plane = kPlane1});
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b10));
  EXPECT_TRUE(peer.endpoint().peer_of(other)->remote_ports.has(kPlane0));
}

// MRC 7.4.8 (PATH-62)
TEST(EndpointRequests, APortStatusThatWasOvertakenIsNotApplied) {
  ScriptedPeer peer({.planes = 2});
  peer.deliver(port_status(0b010, 3));
  peer.deliver(port_status(0b110, 0xfffe));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b01)) << "numbers wrap";
  EXPECT_EQ(peer.collect_only<EndpointResponse>().size(), 2U) << "it is answered all the same";
  peer.deliver(port_status(0b110, 4));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b11));
  peer.advance(seconds(2));
  peer.deliver(port_status(0b010, 1));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b01)) << "nothing is on its way for so long";
}

// MRC 7.4.8 (PATH-63): the endpoints of one host share its addresses, and each tells of its ports.
TEST(EndpointRequests, PortStatusesOfEachSlotAreOrderedApart) {
  ScriptedPeer peer({.planes = 2, .request_ids = RequestIds::of_slot(1)});
  const auto id = [](unsigned slot, unsigned number) {
    return static_cast<std::uint16_t>(slot << 10 | number);
  };
  peer.deliver(port_status(0b010, id(9, 0x3ff)));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b01));
  peer.deliver(port_status(0b110, id(9, 0)));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b11)) << "numbers wrap within a slot";
  peer.deliver(port_status(0b010, id(2, 5)));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b01)) << "another slot, another order";
  peer.deliver(port_status(0b110, id(2, 6)));
  peer.deliver(port_status(0b110, id(9, 1)));
  peer.deliver(port_status(0b010, id(2, 5)));
  peer.deliver(port_status(0b010, id(9, 0x3ff)));
  EXPECT_EQ(peer.peer().remote_ports, PlaneMask(0b11)) << "both are old in their slots";
}

// MRC 7.3 (SEC-5): who has not seen one does not know the next.
TEST(EndpointRequests, AreNumberedFromANumberThatIsDrawn) {
  std::set<std::uint16_t> first;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ScriptedPeer peer({.planes = 2, .seed = seed});
    peer.endpoint().set_port(peer.now(), kPlane1, false);
    first.insert(request_of(port_statuses(peer.collect()).at(0)).id.raw());
  }
  EXPECT_EQ(first.size(), 4U);
}

// MRC 7.3 (PATH-63)
TEST(EndpointRequests, AreNumberedWithinTheSlotOfTheEndpoint) {
  ScriptedPeer peer({.planes = 2, .request_ids = RequestIds::of_slot(63)});
  make_bad(peer, peer.ev(0));
  const Sent probes = ev_probes(peer.await_packets(kRtt * 4));
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(request_of(probes[0]).id.raw() >> 10, 63);
  answer(peer, probes[0]);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 1U);
}

// ---- many peers ----

constexpr std::uint16_t kFirstHost = 100;
constexpr std::uint16_t kHosts = 5000;

// To each of them one queue pair; as one of many endpoints of its host, with few numbers.
std::vector<Qpn> connect_to_many(ScriptedPeer& peer) {
  std::vector<Qpn> qpns;
  for (std::uint16_t i = 0; i < kHosts; ++i) {
    qpns.push_back(peer.connect(Qpn(0x1000U + i), static_cast<std::uint16_t>(kFirstHost + i)));
  }
  return qpns;
}

void answer_from(ScriptedPeer& peer, const Transmit& request) {
  peer.deliver(EndpointResponse{.id = request_of(request).id, .eeth = {}},
               {.plane = request.plane,
                .source = std::get<wire::Ipv6Route>(request.packet.route).destination});
}

// MRC 7.3, 7.4.8 (PATH-55): an answer says who answers, so numbers need not differ between hosts.
TEST(EndpointRequests, EachOfFiveThousandPeersIsToldOfAPortUntilItAnswers) {
  ScriptedPeer peer({.planes = 2, .request_ids = RequestIds::of_slot(7)});
  const std::vector<Qpn> qpns = connect_to_many(peer);
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  std::map<wire::Ipv6Address, int> told;
  for (int round = 0; round < 20; ++round) {
    for (const Transmit& status : port_statuses(peer.collect())) {
      ++told[std::get<wire::Ipv6Route>(status.packet.route).destination];
      answer_from(peer, status);
    }
    peer.advance(kRtt * 4);
  }
  EXPECT_EQ(told.size(), kHosts + 1U) << "and the one that there was before";
  for (const auto& [host, times] : told) EXPECT_EQ(times, 1) << to_string(host);
  for (const Qpn qpn : qpns) {
    EXPECT_FALSE(peer.endpoint().peer_of(qpn)->port_status.unanswered) << qpn.raw();
  }
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), 0U);
}

// MRC 7.3, 7.4.7
TEST(EndpointRequests, APathToEachOfFiveThousandPeersIsGoodAgainAfterThreeProbes) {
  ScriptedPeer peer({.request_ids = RequestIds::of_slot(7)});
  const std::vector<Qpn> qpns = connect_to_many(peer);
  const Ev bad = peer.ev(0);
  for (std::uint16_t i = 0; i < kHosts; ++i) {
    wire::Sack sack = peer.sack(0);
    sack.destination_qp = qpns[i];
    sack.seth.spdcid = wire::connection_id(Qpn(0x1000U + i));
    sack.seth.dpdcid = wire::connection_id(qpns[i]);
    sack.seth.mark = wire::PathMark::kAlwaysSkip;
    sack.seth.entropy = bad;
    peer.deliver(sack, {.source = peer.address(0, static_cast<std::uint16_t>(kFirstHost + i))});
  }
  for (int round = 0; round < 12; ++round) {
    peer.advance(kRtt);
    const Sent probes = ev_probes(peer.collect());
    for (const Transmit& probe : probes) answer_from(peer, probe);
  }
  const auto index = peer.profile().find(bad);
  for (const Qpn qpn : qpns) {
    ASSERT_EQ(peer.endpoint().peer_of(qpn)->paths.state(*index), EvState::kGood) << qpn.raw();
  }
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), 0U);
}

// MRC 7.3 (SEC-25)
TEST(EndpointRequests, AnAnswerToWhatWasNotAskedOrFromAnotherHostChangesNothing) {
  ScriptedPeer peer({.planes = 2, .request_ids = RequestIds::of_slot(7)});
  (void)peer.connect(Qpn(0x777), 9);
  make_bad(peer, peer.ev(0));
  peer.endpoint().set_port(peer.now(), kPlane1, false);
  const Sent status = port_statuses(peer.collect());
  const Sent probes = ev_probes(peer.await_packets(kRtt * 4));
  ASSERT_EQ(status.size(), 2U);
  ASSERT_EQ(probes.size(), 1U);
  const auto forge = [&](EndpointRequestId id, std::uint16_t host) {
    peer.deliver(EndpointResponse{.id = id, .eeth = {}}, {.source = peer.address(0, host)});
  };
  std::uint64_t dropped = 0;
  for (int id = 0; id < 0x10000; ++id) {
    const EndpointRequestId forged(static_cast<std::uint16_t>(id));
    forge(forged, 0x99);
    ++dropped;
    if (forged == request_of(probes[0]).id || forged == request_of(status[0]).id) continue;
    forge(forged, ScriptedPeer::kHost);
    ++dropped;
  }
  forge(request_of(probes[0]).id, 9);
  ++dropped;
  EXPECT_EQ(peer.count(Count::kDropResponseUnknown), dropped);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 0U);
  EXPECT_TRUE(peer.peer().port_status.unanswered);
  answer(peer, probes[0]);
  EXPECT_EQ(peer.count(Count::kEvProbesAnswered), 1U) << "it is still awaited";
}

// MRC 7.4.8 (PATH-58): peers tell by the number which of two updates is newer.
TEST(EndpointRequests, PortStatusesAreNumberedOneByOneHoweverMuchIsProbed) {
  ScriptedPeer peer({.planes = 2, .request_ids = RequestIds::of_slot(7)});
  const auto number_of_next = [&](bool up) {
    peer.endpoint().set_port(peer.now(), kPlane1, up);
    const Sent status = port_statuses(peer.collect());
    EXPECT_EQ(status.size(), 1U);
    return request_of(status.at(0)).id.raw() & 0x1ff;
  };
  const int first = number_of_next(false);
  for (std::uint32_t i = 0; i < 700; ++i) {
    ASSERT_TRUE(peer.endpoint().probe_path(peer.qpn(), peer.now(), EvIndex(0), i));
    for (const Transmit& probe : ev_probes(peer.collect())) answer(peer, probe);
  }
  EXPECT_EQ(number_of_next(true), (first + 1) & 0x1ff);
}

// MRC 7.3 (REL-94)
TEST(EndpointRequests, TheOwnersRequestsAreRefusedWhileAllTheirNumbersAreAwaited) {
  ScriptedPeer peer({.request_ids = RequestIds::of_slot(7)});
  const auto ask = [&](std::uint32_t tag) {
    return peer.endpoint().send_request(peer.now(),
                                        {.destination = peer.address(0, 0x99), .tag = tag});
  };
  std::set<std::uint16_t> ids;
  std::uint32_t asked = 0;
  Sent sent;
  while (ask(asked)) {
    ++asked;
    for (const Transmit& one : ev_probes(peer.collect())) {
      ids.insert(request_of(one).id.raw());
      sent.push_back(one);
    }
    ASSERT_LE(asked, kAskedMax);
  }
  EXPECT_EQ(asked, kAskedMax - 1) << "one number is that of the port status";
  EXPECT_EQ(ids.size(), asked);
  answer_from(peer, sent.at(17));
  EXPECT_EQ(std::get<ProbeAnswer>(peer.events().at(0)).tag, 17U);
  EXPECT_TRUE(ask(1000)) << "there is room for one";
  EXPECT_FALSE(ask(1001));
  peer.advance(kAskedAwaitedFor);
  EXPECT_TRUE(ask(1001)) << "nobody waits that long";
}

}  // namespace
}  // namespace openmrc::core
