// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/switch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "openmrc/softswitch/test_packets.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/field/byte_order.h"
#include "openmrc/wire/trim.h"

namespace openmrc::softswitch {
namespace {

using wire::Ecn;
using wire::Srh;
using wire::TrafficClass;
using wire::TrimPlace;
using wire::Usid;

constexpr PortIndex kIn{0};
constexpr std::size_t kPorts = 8;
const wire::Ipv6Address kElsewhere = wire::Ipv6Address::of({0x2001, 0, 0, 0, 0, 0, 0, 1});

// Eight ports. uSID 0x100 + n leads to port n; the destination host is at port 3, its IPv4 address
// at port 2, and ports 4 to 7 lead to all other IPv6 hosts.
SwitchSettings test_settings() {
  SwitchSettings settings;
  settings.ports.assign(kPorts, recommended_policy(100'000, TrimPlace::kOnPath));
  settings.forwarding.block = kTestBlock;
  settings.forwarding.own = kTestOwn;
  for (std::size_t i = 0; i < kPorts; ++i) {
    settings.forwarding.usids.push_back({Usid(static_cast<std::uint16_t>(0x100 + i)), port(i)});
  }
  settings.forwarding.prefixes = {{{kDestinationHost, 128}, {port(3)}},
                                  {Prefix::of(wire::Ipv4Address(0x0a000000), 24), {port(2)}},
                                  {{wire::Ipv6Address{}, 0}, {port(4), port(5), port(6), port(7)}}};
  settings.buffers = 64;
  return settings;
}

Switch test_switch(const std::function<void(SwitchSettings&)>& change = [](SwitchSettings&) {}) {
  SwitchSettings settings = test_settings();
  change(settings);
  auto made = Switch::make(settings);
  EXPECT_TRUE(made) << describe(made.error().fault);
  return std::move(made).value();
}

Bytes path_packet(std::initializer_list<unsigned> usids, PacketOptions options = {}) {
  return write_packet(path_route(carrier_of(usids)), options);
}

Bytes transmitted(Switch& it, PortIndex from) {
  const ConstBytes bytes = it.transmit(from);
  return {bytes.begin(), bytes.end()};
}

// Where the packet leaves, and as what.
struct Departure {
  std::optional<PortIndex> port{};
  std::optional<wire::Packet> packet{};
};

Departure through(Switch& it, const Bytes& packet) {
  const auto way = it.receive(kIn, packet);
  if (!way) return {};
  static Bytes kept;  // what the decoded payload refers to
  kept = transmitted(it, *way);
  const auto decoded = wire::decode_ip(kept, {});
  EXPECT_TRUE(decoded);
  return {*way, decoded.value_or(wire::Packet{})};
}

const wire::SrEncapsulation& outer(const Departure& departure) {
  return *std::get<wire::Ipv6Route>(departure.packet->route).encapsulation;
}

// ---- forwarding ----

// MRC 9.2 (WIRE-22)
TEST(Switch, ForwardsByTheUsidAfterItsOwn) {
  Switch it = test_switch();
  const Departure departure = through(it, path_packet({0x10, 0x105, 0x20, 0x30}));
  EXPECT_EQ(departure.port, port(5));
  EXPECT_EQ(outer(departure).destination, carrier_of({0x105, 0x20, 0x30}));
  EXPECT_TRUE(std::holds_alternative<wire::RdmaWrite>(departure.packet->transport.body));
}

// MRC 9.2
TEST(Switch, ForwardsWithoutAShiftByAUsidThatIsNotItsOwn) {
  Switch it = test_switch();
  const Departure departure = through(it, path_packet({0x105, 0x20}));
  EXPECT_EQ(departure.port, port(5));
  EXPECT_EQ(outer(departure).destination, carrier_of({0x105, 0x20}));
}

// MRC 9.2 (WIRE-24)
TEST(Switch, TakesTheNextSegmentWhenItsOwnUsidIsTheLast) {
  Switch it = test_switch();
  const Srh srh{.segment = carrier_of({0x106, 0x20}), .segments_left = 1};
  const Departure departure = through(it, write_packet(path_route(carrier_of({0x10}), srh)));
  EXPECT_EQ(departure.port, port(6));
  EXPECT_EQ(outer(departure).destination, carrier_of({0x106, 0x20}));
  EXPECT_EQ(outer(departure).srh, (Srh{.segment = srh.segment, .segments_left = 0}));
}

TEST(Switch, ASegmentMayBeAHost) {
  Switch it = test_switch();
  const Srh srh{.segment = kDestinationHost, .segments_left = 1};
  const Departure departure = through(it, write_packet(path_route(carrier_of({0x10}), srh)));
  EXPECT_EQ(departure.port, port(3));
  EXPECT_EQ(outer(departure).destination, kDestinationHost);
}

TEST(Switch, KeepsTheSegmentForLaterWhileUsidsAreLeft) {
  Switch it = test_switch();
  const Srh srh{.segment = carrier_of({0x106}), .segments_left = 1};
  const Departure departure = through(it, write_packet(path_route(carrier_of({0x10, 0x105}), srh)));
  EXPECT_EQ(departure.port, port(5));
  EXPECT_EQ(outer(departure).srh, srh);
}

TEST(Switch, ForwardsToHostsByTheLongestPrefix) {
  Switch it = test_switch();
  EXPECT_EQ(through(it, write_packet(plain_route())).port, port(3));
  EXPECT_EQ(through(it, write_packet(ipv4_route())).port, port(2));
}

TEST(Switch, SendsAPacketBackWhereItCameFromIfThePathSaysSo) {
  Switch it = test_switch();
  EXPECT_EQ(through(it, path_packet({0x10, 0x100})).port, kIn);
}

TEST(Switch, WithoutAUsidOfItsOwnStillForwardsByUsid) {
  Switch it = test_switch([](SwitchSettings& s) { s.forwarding.own = Usid(0); });
  EXPECT_EQ(through(it, path_packet({0x105, 0x20})).port, port(5));
  EXPECT_EQ(it.receive(kIn, write_packet(path_route(carrier_of({})))), failure(Drop::kUsidUnknown));
}

// MRC 9.3.3
TEST(Switch, SpreadsFlowsOverTheGroupAndKeepsEachOnItsWay) {
  Switch it = test_switch();
  std::map<PortIndex, int> flows;
  constexpr int kFlows = 400;
  for (int i = 0; i < kFlows; ++i) {
    wire::Ipv6Route route = plain_route(kElsewhere);
    route.ev = Ev(static_cast<std::uint32_t>(i));
    const Bytes packet = write_packet(route, {.payload = 1});
    const auto way = through(it, packet).port;
    ASSERT_TRUE(way);
    EXPECT_EQ(through(it, packet).port, way);
    ++flows[*way];
  }
  ASSERT_EQ(flows.size(), 4u);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_NEAR(flows[port(i)], 100, 34) << i;
}

TEST(Switch, SpreadsDifferentlyByItsSeed) {
  const auto ways = [](std::uint64_t seed) {
    Switch it = test_switch([seed](SwitchSettings& s) { s.seed = seed; });
    std::vector<std::optional<PortIndex>> list;
    for (std::uint32_t i = 0; i < 64; ++i) {
      wire::Ipv6Route route = plain_route(kElsewhere);
      route.ev = Ev(i);
      list.push_back(through(it, write_packet(route, {.payload = 1})).port);
    }
    return list;
  };
  EXPECT_EQ(ways(1), ways(1));
  EXPECT_NE(ways(1), ways(2));
}

// ---- reasons ----

struct DropCase {
  Drop reason;
  PortIndex counted_at;
  // Makes the switch, and the packet that it drops.
  std::function<std::pair<Switch, Bytes>()> make;
};

QueuePolicy tiny(std::uint32_t data, std::uint32_t control) {
  return {.data_max_bytes = data, .control_max_bytes = control};
}

std::vector<DropCase> packet_cases() {
  const auto here = [](const Bytes& packet) { return std::pair(test_switch(), packet); };
  const auto hops = [](int left) {
    Bytes packet = path_packet({0x10, 0x105});
    packet[kHopLimitAt] = static_cast<std::byte>(left);
    return packet;
  };
  const auto with_segment = [](const Srh& srh) {
    return write_packet(path_route(carrier_of({0x10}), srh));
  };
  return {
      {Drop::kTooLong, kIn, [=] { return here(Bytes(kPacketSizeMax + 1, std::byte{0x60})); }},
      {Drop::kIpTruncated, kIn, [=] { return here(Bytes(39, std::byte{0x60})); }},
      {Drop::kIpVersionUnknown, kIn, [=] { return here(Bytes(64, std::byte{0x50})); }},
      {Drop::kIpv4Options, kIn, [=] { return here(Bytes(64, std::byte{0x46})); }},
      {Drop::kIpv4Checksum, kIn, [=] { return here(Bytes(64, std::byte{0x45})); }},
      {Drop::kHopLimit, kIn, [=] { return here(hops(1)); }},
      {Drop::kHopLimit, kIn, [=] { return here(hops(0)); }},
      {Drop::kPathEnded, kIn, [=] { return here(path_packet({0x10})); }},
      {Drop::kPathEnded, kIn,
       [=] { return here(with_segment({.segment = kDestinationHost, .segments_left = 0})); }},
      {Drop::kSrhUnsupported, kIn,
       [=] {
         Bytes packet = with_segment({.segment = kDestinationHost, .segments_left = 1});
         packet[40 + 2] = std::byte{3};  // another routing type
         return here(packet);
       }},
      {Drop::kSrhUnsupported, kIn,
       [=] {
         Bytes packet = with_segment({.segment = kDestinationHost, .segments_left = 1});
         packet.resize(60);
         wire::store_be<std::uint16_t>(&packet[4], 20);
         return here(packet);
       }},
      {Drop::kUsidUnknown, kIn, [=] { return here(path_packet({0x10, 0x999})); }},
      {Drop::kUsidUnknown, kIn, [=] { return here(path_packet({0x999})); }},
      {Drop::kUsidUnknown, kIn,
       [=] {
         // A uSID of zero before the last.
         Bytes packet = path_packet({0x10, 0x105});
         std::swap(packet[kDestinationAt + 7], packet[kDestinationAt + 9]);
         std::swap(packet[kDestinationAt + 6], packet[kDestinationAt + 8]);
         return here(packet);
       }},
      {Drop::kNoRoute, kIn, [=] { return here(write_packet(ipv4_route(0x0b000001))); }},
  };
}

std::vector<DropCase> queue_cases() {
  const auto with_policy = [](const QueuePolicy& policy, const Bytes& packet) {
    return std::pair(test_switch([&](SwitchSettings& s) { s.ports[5] = policy; }), packet);
  };
  const Bytes data = path_packet({0x10, 0x105});
  const auto size = static_cast<std::uint32_t>(data.size());
  const Bytes no_trim = path_packet({0x10, 0x105}, {.traffic_class = TrafficClass::kNoTrim});
  Bytes not_udp = data;
  not_udp[40 + 6] = std::byte{6};
  QueuePolicy drops = tiny(size - 1, 1'000);
  drops.trims = false;
  const auto without_buffer = [](const QueuePolicy& policy) {
    Switch it = test_switch([&](SwitchSettings& s) {
      s.buffers = 1;
      s.ports[5] = policy;
    });
    EXPECT_TRUE(it.receive(kIn, path_packet({0x10, 0x101})));
    return std::pair(std::move(it), path_packet({0x10, 0x105}));
  };
  return {
      {Drop::kOutOfBuffers, port(5), [=] { return without_buffer(tiny(10'000, 10'000)); }},
      {Drop::kOutOfBuffers, port(5), [=] { return without_buffer(tiny(0, 10'000)); }},
      {Drop::kDataFull, port(5), [=] { return with_policy(tiny(size - 1, 1'000), no_trim); }},
      {Drop::kDataFull, port(5), [=] { return with_policy(drops, data); }},
      {Drop::kDataFull, port(5), [=] { return with_policy(tiny(0, 1'000), not_udp); }},
      {Drop::kTrimmedFull, port(5), [=] { return with_policy(tiny(0, 143), data); }},
      {Drop::kControlFull, port(5),
       [=] {
         return with_policy(tiny(10'000, 50), sack_packet(path_route(carrier_of({0x10, 0x105}))));
       }},
  };
}

std::vector<DropCase> drop_cases() {
  std::vector<DropCase> all = packet_cases();
  for (DropCase& one : queue_cases()) all.push_back(std::move(one));
  return all;
}

void expect_counted_once(const Switch& it, Drop reason, PortIndex where) {
  for (std::size_t i = 0; i < kPorts; ++i) {
    const DropCounters& dropped = it.counters(port(i)).dropped;
    EXPECT_EQ(dropped.of(reason), port(i) == where ? 1u : 0u) << i;
    EXPECT_EQ(dropped.total(), dropped.of(reason)) << i;
  }
}

TEST(Switch, NamesAndCountsTheReasonOfEachDrop) {
  for (const DropCase& one : drop_cases()) {
    SCOPED_TRACE(describe(one.reason).counter);
    auto [it, packet] = one.make();
    const std::size_t waiting = it.packets_waiting();
    EXPECT_EQ(it.receive(kIn, packet), failure(one.reason));
    EXPECT_EQ(it.packets_waiting(), waiting);
    expect_counted_once(it, one.reason, one.counted_at);
  }
}

TEST(Switch, HasAPacketForEveryReasonInThisTest) {
  std::set<Drop> covered;
  for (const DropCase& one : drop_cases()) covered.insert(one.reason);
  EXPECT_EQ(covered.size(), kDropTable.size());
}

TEST(Switch, ForwardsWithTwoHopsLeft) {
  Switch it = test_switch();
  for (Bytes packet : {path_packet({0x10, 0x105}), write_packet(plain_route())}) {
    packet[kHopLimitAt] = std::byte{2};
    const auto way = it.receive(kIn, packet);
    ASSERT_TRUE(way);
    EXPECT_EQ(transmitted(it, *way)[kHopLimitAt], std::byte{1});
  }
}

TEST(Switch, DropsIpv4WithoutHopsLeft) {
  Switch it = test_switch();
  Bytes packet = write_packet(ipv4_route());
  packet[kIpv4HopsAt] = std::byte{1};
  set_ipv4_checksum(packet);
  EXPECT_EQ(it.receive(kIn, packet), failure(Drop::kHopLimit));
}

// A destination in the block that leads nowhere is not taken for a host.
TEST(Switch, DoesNotSendAWrongPathToTheDefaultRoute) {
  Switch it = test_switch();
  EXPECT_TRUE(it.receive(kIn, write_packet(plain_route(kElsewhere))));
  EXPECT_EQ(it.receive(kIn, write_packet(plain_route(carrier_of({0x999})))),
            failure(Drop::kUsidUnknown));
}

// ---- queues ----

// Port 5 has room for one such packet.
class SwitchTrimTest : public testing::TestWithParam<TrimPlace> {
 protected:
  const Bytes packet_ = path_packet({0x10, 0x105, 0x20});
  Switch switch_ = test_switch([](SwitchSettings& s) {
    s.ports[5] = tiny(1'200, 1'000);
    s.ports[5].place = GetParam();
  });
};
INSTANTIATE_TEST_SUITE_P(Places, SwitchTrimTest,
                         testing::Values(TrimPlace::kOnPath, TrimPlace::kLastHop));

// MRC 8 (CC-49)
TEST_P(SwitchTrimTest, QueuesWhatDoesNotFitAsControlWithoutItsData) {
  EXPECT_TRUE(switch_.receive(kIn, packet_));
  EXPECT_EQ(switch_.counters(port(5)).trimmed, 0u);
  EXPECT_TRUE(switch_.receive(kIn, packet_));
  EXPECT_EQ(switch_.counters(port(5)).trimmed, 1u);
  EXPECT_EQ(switch_.waiting(port(5), QueueClass::kData).bytes(), packet_.size());
  EXPECT_EQ(switch_.waiting(port(5), QueueClass::kControl).bytes(), 40 + 40 + wire::kTrimKept);
}

// MRC 8, 7.5.3 (WIRE-80)
TEST_P(SwitchTrimTest, SendsFirstWhatIsLeftAndNamesThePlace) {
  ASSERT_TRUE(switch_.receive(kIn, packet_));
  ASSERT_TRUE(switch_.receive(kIn, packet_));
  const auto trimmed = wire::decode_ip(switch_.transmit(port(5)), {});
  ASSERT_TRUE(trimmed);
  const auto& write = std::get<wire::TrimmedWrite>(trimmed->transport.body);
  EXPECT_EQ(write.place, GetParam());
  EXPECT_EQ(write.psn, Psn(77));
  EXPECT_EQ(outer({port(5), *trimmed}).destination, carrier_of({0x105, 0x20}));
  EXPECT_EQ(switch_.transmit(port(5)).size(), packet_.size());
}

TEST(Switch, TrimsPacketsOfEveryForm) {
  struct Form {
    Bytes packet;
    std::size_t trimmed_size;
  };
  const Srh srh{.segment = carrier_of({0x105}), .segments_left = 1};
  const Bytes short_one = write_packet(plain_route(), {.payload = 1});
  for (const auto& [packet, trimmed_size] : std::initializer_list<Form>{
           {write_packet(plain_route()), 40 + 64},
           {write_packet(plain_route(), {.traffic_class = TrafficClass::kTrimmableRetransmission}),
            40 + 64},
           {write_packet(ipv4_route()), 20 + 64},
           {path_packet({0x10, 0x105}), 2 * 40 + 64},
           {write_packet(path_route(carrier_of({0x10}), srh)), 2 * 40 + 24 + 64},
           {short_one, short_one.size()}}) {
    Switch it = test_switch([](SwitchSettings& s) { s.ports.assign(kPorts, tiny(0, 1'000)); });
    const auto way = it.receive(kIn, packet);
    ASSERT_TRUE(way);
    const ConstBytes out = it.transmit(*way);
    EXPECT_EQ(out.size(), trimmed_size);
    EXPECT_TRUE(std::holds_alternative<wire::TrimmedWrite>(
        wire::decode_ip(out, {}).value().transport.body));
  }
}

// Fills the control queue of port 5 with two such packets.
void expect_not_trimmed(const Bytes& packet) {
  Switch it = test_switch([](SwitchSettings& s) { s.ports[5] = tiny(0, 150); });
  EXPECT_TRUE(it.receive(kIn, packet));
  EXPECT_EQ(it.receive(kIn, packet), failure(Drop::kControlFull));
  EXPECT_EQ(it.counters(port(5)).trimmed, 0u);
  EXPECT_EQ(it.transmit(port(5)).size(), packet.size());
}

// MRC 8 (CC-48, WIRE-79)
TEST(Switch, DoesNotTrimControlNorWhatWasTrimmed) {
  expect_not_trimmed(sack_packet(path_route(carrier_of({0x10, 0x105}))));
  Bytes trimmed = path_packet({0x10, 0x105});
  trimmed.resize(*wire::trim_packet(trimmed, TrimPlace::kOnPath, {}));
  expect_not_trimmed(trimmed);
}

// Of the packets that leave, whether each is marked.
std::vector<bool> marks_of(Switch& it, PortIndex from) {
  std::vector<bool> marks;
  for (ConstBytes out = it.transmit(from); !out.empty(); out = it.transmit(from)) {
    marks.push_back(wire::decode_ip(out, {}).value().ecn == Ecn::kCongested);
  }
  return marks;
}

// How many packets are marked of a queue as long as can be: longer than where all are.
std::uint64_t marked_of_full_queue(TrimPlace place) {
  Switch it =
      test_switch([&](SwitchSettings& s) { s.ports[5] = recommended_policy(20'000, place); });
  while (it.counters(port(5)).trimmed == 0) {
    EXPECT_TRUE(it.receive(kIn, path_packet({0x10, 0x105})));
  }
  const auto marked = static_cast<std::uint64_t>(std::ranges::count(marks_of(it, port(5)), true));
  EXPECT_EQ(it.counters(port(5)).marked, marked);
  return marked;
}

// MRC 8 (CC-51)
TEST(Switch, MarksDataAsItLeavesButNotOnTheLastHop) {
  EXPECT_GT(marked_of_full_queue(TrimPlace::kOnPath), 0u);
  EXPECT_EQ(marked_of_full_queue(TrimPlace::kLastHop), 0u);
}

TEST(Switch, MarksEachPortByNumbersOfItsOwn) {
  Switch it = test_switch();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(it.receive(kIn, path_packet({0x10, 0x105}, {.payload = 2'000})));
    ASSERT_TRUE(it.receive(kIn, path_packet({0x10, 0x106}, {.payload = 2'000})));
  }
  EXPECT_NE(marks_of(it, port(5)), marks_of(it, port(6)));
}

TEST(Switch, GivesBuffersBack) {
  Switch it = test_switch([](SwitchSettings& s) { s.buffers = 2; });
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(it.receive(kIn, path_packet({0x10, 0x105})));
    EXPECT_TRUE(it.receive(kIn, path_packet({0x10, 0x106})));
    EXPECT_EQ(it.packets_waiting(), 2u);
    EXPECT_FALSE(it.transmit(port(5)).empty());
    EXPECT_FALSE(it.transmit(port(6)).empty());
    EXPECT_EQ(it.packets_waiting(), 0u);
  }
}

TEST(Switch, KeepsTransmittedBytesUntilTheNextArrival) {
  Switch it = test_switch();
  const Bytes small = path_packet({0x10, 0x105}, {.payload = 1});
  const Bytes large = path_packet({0x10, 0x106}, {.payload = 4096});
  ASSERT_TRUE(it.receive(kIn, small));
  ASSERT_TRUE(it.receive(kIn, large));
  const ConstBytes first = it.transmit(port(5));
  const ConstBytes second = it.transmit(port(6));
  EXPECT_EQ(first.size(), small.size());
  EXPECT_EQ(second.size(), large.size());
  EXPECT_TRUE(wire::decode_ip(first, {}));
  EXPECT_TRUE(wire::decode_ip(second, {}));
}

TEST(Switch, CountsWhatItDoes) {
  Switch it = test_switch();
  const Bytes packet = path_packet({0x10, 0x105});
  EXPECT_TRUE(it.receive(port(1), packet));
  EXPECT_TRUE(it.receive(port(1), packet));
  EXPECT_FALSE(it.receive(port(1), path_packet({0x10})));
  EXPECT_EQ(it.counters(port(1)).received, 3u);
  EXPECT_EQ(it.counters(port(1)).received_bytes, 3 * packet.size());
  EXPECT_EQ(it.counters(port(1)).dropped.of(Drop::kPathEnded), 1u);
  EXPECT_EQ(it.counters(port(1)).forwarded, 0u);
  it.transmit(port(5));
  EXPECT_EQ(it.counters(port(5)).received, 0u);
  EXPECT_EQ(it.counters(port(5)).forwarded, 2u);
  EXPECT_EQ(it.counters(port(5)).transmitted, 1u);
  EXPECT_EQ(it.counters(port(5)).transmitted_bytes, packet.size());
  EXPECT_EQ(it.waiting(port(5), QueueClass::kData).packets(), 1u);
}

TEST(Switch, AnswersForEachOfItsPorts) {
  Switch it = test_switch();
  EXPECT_EQ(it.ports(), kPorts);
  for (std::size_t i = 0; i < kPorts; ++i) EXPECT_TRUE(it.transmit(port(i)).empty());
}

TEST(SwitchDeathTest, APortThatIsNotThereIsAMistakeOfTheCaller) {
  Switch it = test_switch();
  EXPECT_DEATH(it.transmit(port(kPorts)), "there is no such port");
  EXPECT_DEATH(EXPECT_FALSE(it.receive(port(kPorts), Bytes())), "there is no such port");
}

}  // namespace
}  // namespace openmrc::softswitch
