// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/open.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "openmrc/datapath/test_network.h"
#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/field/ev_halves.h"

namespace openmrc::datapath {
namespace {

using wire::Ipv6Address;

constexpr Ipv6Address kLoopback = Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});
constexpr Ev kEv{0x1234'c001};

// ---- Without privileges, on the loopback interface ----

Settings on_loopback() {
  Settings settings;
  settings.ports = {{.interface = "", .address = kLoopback}};
  settings.wire.udp_port = test_port();
  return settings;
}

wire::Packet to_loopback(const Settings& settings, ConstBytes data, Slot slot) {
  auto packet = test_write({.source = kLoopback, .destination = kLoopback, .ev = kEv}, data, 7,
                           first_qpn(slot));
  packet.udp_port = settings.wire.udp_port;
  return packet;
}

TEST(Open, SendsToItself) {
  const Settings settings = on_loopback();
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(100);
  const auto packet = to_loopback(settings, data, (*path)->slot());
  (*path)->send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
  const Collected got = collect(**path, 1);
  ASSERT_EQ(got.incoming.size(), 1u);
  EXPECT_EQ(got.data[0], data);
  EXPECT_EQ(got.incoming[0].packet.traffic_class, wire::TrafficClass::kTrimmable);
  EXPECT_EQ(got.incoming[0].packet.ecn, wire::Ecn::kCapable0);
  EXPECT_EQ(got.incoming[0].at, Instant(1));
  EXPECT_EQ(route_of(got.incoming[0]).ev, kEv);
  EXPECT_EQ(route_of(got.incoming[0]).source, kLoopback);
  EXPECT_EQ(write_of(got.incoming[0]).psn, Psn(7));
  EXPECT_EQ((*path)->counters().of(Count::kPacketsSent), 1u);
  EXPECT_EQ((*path)->counters().of(Count::kPacketsReceived), 1u);
}

constexpr wire::Ipv4Address kLoopback4(0x7f00'0001);

Settings on_loopback4() {
  Settings settings = on_loopback();
  settings.ports[0].address = wire::mapped(kLoopback4);
  return settings;
}

wire::Packet to_loopback4(const Settings& settings, ConstBytes data, Slot slot) {
  auto packet = to_loopback(settings, data, slot);
  packet.route =
      wire::Ipv4Route{.source = kLoopback4, .destination = kLoopback4, .ev_low = wire::ev_low(kEv)};
  return packet;
}

// As the kernel sends it, so does the ICRC have it: DF, and an Identification of 0 (WIRE-9).
TEST(Open, SendsToItselfOverIpv4) {
  const Settings settings = on_loopback4();
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(1000);
  std::vector<wire::Packet> packets(8, to_loopback4(settings, data, (*path)->slot()));
  packets[3].traffic_class = wire::TrafficClass::kControl;  // not the class of the socket
  (*path)->send(burst_of(packets));
  const Collected got = collect(**path, packets.size());
  ASSERT_EQ(got.incoming.size(), packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(got.data[i], data);
    EXPECT_EQ(got.incoming[i].packet.route, packets[i].route);
    EXPECT_EQ(got.incoming[i].packet.traffic_class, packets[i].traffic_class);
    EXPECT_EQ(got.incoming[i].packet.ecn, wire::Ecn::kCapable0);
  }
  EXPECT_EQ((*path)->counters().of(Count::kMessagesSent), packets.size()) << "each by itself";
}

// The kernel numbers the packets that it cuts apart, which an ICRC would cover.
TEST(Open, UsesSegmentationOverIpv4OnlyWithoutAnIcrc) {
  Settings settings = on_loopback4();
  settings.send_icrc = false;
  settings.wire.icrc_check = wire::IcrcCheck::kSkip;
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(1000);
  const std::vector<wire::Packet> packets(8, to_loopback4(settings, data, (*path)->slot()));
  (*path)->send(burst_of(packets));
  EXPECT_EQ(collect(**path, packets.size()).incoming.size(), packets.size());
  EXPECT_EQ((*path)->counters().of(Count::kMessagesSent), 1u);
}

TEST(Open, Ipv4AndIpv6HaveSlotsOfTheirOwn) {
  auto ipv6 = open(on_loopback());
  auto ipv4 = open(on_loopback4());
  ASSERT_TRUE(ipv6) << to_string(ipv6.error());
  ASSERT_TRUE(ipv4) << to_string(ipv4.error());
  EXPECT_EQ((*ipv6)->slot(), Slot(0));
  EXPECT_EQ((*ipv4)->slot(), Slot(0));
}

TEST(Open, GivesOutNoMoreThanIsAskedFor) {
  const Settings settings = on_loopback();
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(1000);
  const std::vector<wire::Packet> packets(10, to_loopback(settings, data, (*path)->slot()));
  (*path)->send(burst_of(packets));
  std::array<Incoming, 3> into;
  for (const std::size_t expected : {3u, 3u, 3u, 1u, 0u}) {
    EXPECT_EQ((*path)->receive(Instant(1), into), expected);
  }
}

// However busy one plane is, what has arrived in another one is not left there.
TEST(Open, TakesFromEachPlaneWhileOneOfThemIsBusy) {
  constexpr wire::Ipv4Address kSecond(0x7f00'0002);
  Settings settings = on_loopback4();
  settings.ports.push_back({.interface = "", .address = wire::mapped(kSecond)});
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(100);
  const auto busy = to_loopback4(settings, data, (*path)->slot());
  auto other = busy;
  other.route =
      wire::Ipv4Route{.source = kSecond, .destination = kSecond, .ev_low = wire::ev_low(kEv)};
  const auto send = [&](const wire::Packet& packet, Plane plane) {
    (*path)->send(std::array{Outgoing{.packet = &packet, .plane = plane}});
  };
  send(busy, Plane(0));
  ASSERT_EQ(collect(**path, 1).incoming.size(), 1u);
  send(other, Plane(1));
  std::array<Incoming, 32> into;
  bool is_there = false;
  for (int calls = 0; !is_there && calls < 8; ++calls) {
    send(busy, Plane(0));
    const std::size_t got = (*path)->receive(Instant(1), into);
    is_there = std::ranges::any_of(std::span(into).first(got),
                                   [](const Incoming& one) { return one.plane == Plane(1); });
  }
  EXPECT_TRUE(is_there);
}

TEST(Open, RefusesWhatItCannotDoAndSaysWhy) {
  Settings settings = on_loopback4();
  settings.mode = Mode::kUsid;
  auto path = open(settings);
  ASSERT_FALSE(path);
  EXPECT_NE(to_string(path.error()).find("127.0.0.1 is IPv4"), std::string::npos);

  settings = on_loopback4();
  settings.ports.push_back({.interface = "", .address = kLoopback});
  path = open(settings);
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().what.find("127.0.0.1 and ::1 are of IPv4 and IPv6"), std::string::npos);

  settings = on_loopback4();
  settings.ports[0].address = wire::mapped(wire::Ipv4Address(0xc000'0209));
  path = open(settings);
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().remedy.find("ip addr add 192.0.2.9/24"), std::string::npos);

  settings = on_loopback();
  settings.ports.clear();
  EXPECT_FALSE(open(settings));

  settings = on_loopback();
  settings.ports[0].interface = "no-such-if";
  path = open(settings);
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().what.find("no-such-if"), std::string::npos);

  settings = on_loopback();
  settings.ports[0].address = Ipv6Address::of({0xfd00, 9, 9, 9, 9, 9, 9, 9});
  path = open(settings);
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().remedy.find("ip addr add fd00:9:9:9:9:9:9:9"), std::string::npos);

  settings = on_loopback();
  settings.mode = Mode::kSrv6;
  EXPECT_FALSE(open(settings)) << "without an interface";
}

// What a program without privileges is told; in a child, which gives them up.
TEST(Open, NamesTheCapabilityThatRawPacketsNeed) {
  Settings settings = on_loopback();
  settings.mode = Mode::kSrv6;
  settings.ports[0].interface = "lo";
  const auto refused_with_help = [&] {
    const auto path = open(settings);
    if (path) return false;
    const std::string text = to_string(path.error());
    return text.find("CAP_NET_RAW") != std::string::npos &&
           text.find("setcap") != std::string::npos && text.find("usid") != std::string::npos;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    ::_exit(refused_with_help() ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Open, SaysThatAnEvCannotBeASourcePort) {
  const Settings settings = on_loopback();
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(10);
  auto packet = to_loopback(settings, data, (*path)->slot());
  for (const std::uint32_t port : {0u, std::uint32_t{settings.wire.udp_port.raw()}}) {
    std::get<wire::Ipv6Route>(packet.route).ev = Ev(port);
    (*path)->send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
  }
  EXPECT_EQ((*path)->counters().of(Count::kSendNoSocket), 2u);
  ASSERT_EQ((*path)->notices().size(), 1u);
  EXPECT_NE((*path)->notices()[0].remedy.find("EVs"), std::string::npos);
}

TEST(Open, KeepsABoundedNumberOfSockets) {
  const Settings settings = on_loopback();
  auto path = open(settings);
  ASSERT_TRUE(path) << to_string(path.error());
  const auto data = test_data(10);
  std::size_t received = 0;
  for (std::uint32_t port = 30000; port < 31000; ++port) {
    auto packet = to_loopback(settings, data, (*path)->slot());
    std::get<wire::Ipv6Route>(packet.route).ev = Ev(port);
    (*path)->send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
    received += collect(**path, 1).incoming.size();
  }
  EXPECT_EQ(received, 1000u);
  EXPECT_EQ((*path)->counters().of(Count::kSocketsOpened), 1000u);
  const auto open_files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                        std::filesystem::directory_iterator());
  EXPECT_LT(open_files, 500);
}

// ---- Over cables, in namespaces ----

// Two hosts, a and b, and between them a switch of the kernel that shifts uSIDs. Host a is 0x101,
// host b 0x102, the switch 1.
class Fabric : public ::testing::Test {
 protected:
  static constexpr Ipv6Address kA = Ipv6Address::of({0xfcbb, 0xbb00, 0x101, 0, 0, 0, 0, 0});
  static constexpr Ipv6Address kB = Ipv6Address::of({0xfcbb, 0xbb00, 0x102, 0, 0, 0, 0, 0});
  static constexpr Ipv6Address kPlainA = Ipv6Address::of({0xfd00, 1, 0, 0, 0, 0, 0, 1});
  static constexpr Ipv6Address kPlainB = Ipv6Address::of({0xfd00, 2, 0, 0, 0, 0, 0, 1});

  void SetUp() override {
    if (!a_.is_there() || !b_.is_there() || !switch_.is_there()) {
      GTEST_SKIP() << "needs root, to make network namespaces";
    }
    connect(a_, "a0", switch_, "sa");
    connect(b_, "b0", switch_, "sb");
    a_.ip("addr add fd00:1::1/64 dev a0 nodad");
    b_.ip("addr add fd00:2::1/64 dev b0 nodad");
    switch_.ip("addr add fd00:1::2/64 dev sa nodad");
    switch_.ip("addr add fd00:2::2/64 dev sb nodad");
    a_.ip("-6 route add default via fd00:1::2 dev a0");
    b_.ip("-6 route add default via fd00:2::2 dev b0");
    switch_.ip(
        "-6 route add fcbb:bb00:1::/48 encap seg6local action End flavors next-csid lblen 32 "
        "nflen 16 dev sa");
    switch_.ip("-6 route add fcbb:bb00:101::/48 via fd00:1::1 dev sa");
    switch_.ip("-6 route add fcbb:bb00:102::/48 via fd00:2::1 dev sb");
  }

  // The hosts' own uSIDs: an address, or the end of a tunnel.
  void make_ready(Mode mode) {
    if (mode == Mode::kUsid) {
      add_own_address(a_, "fcbb:bb00:101::");
      add_own_address(b_, "fcbb:bb00:102::");
    } else if (mode == Mode::kSrv6) {
      a_.ip("-6 route add fcbb:bb00:101::/48 encap seg6local action End.DT6 table 255 dev a0");
      b_.ip("-6 route add fcbb:bb00:102::/48 encap seg6local action End.DT6 table 255 dev b0");
    }
    mode_ = mode;
    settings_a_.mode = mode;
    settings_b_.mode = mode;
    settings_a_.ports = {{.interface = "a0", .address = mode == Mode::kUsid ? kA : kPlainA}};
    settings_b_.ports = {{.interface = "b0", .address = mode == Mode::kUsid ? kB : kPlainB}};
  }
  void open_both() {
    a_.in([&] { path_a_ = opened(settings_a_); });
    b_.in([&] { path_b_ = opened(settings_b_); });
    ASSERT_TRUE(path_a_ && path_b_);
  }
  static std::unique_ptr<Datapath> opened(const Settings& settings) {
    auto path = open(settings);
    if (path) return *std::move(path);
    ADD_FAILURE() << to_string(path.error());
    return nullptr;
  }

  // From a to b by the switch.
  [[nodiscard]] wire::Ipv6Route route(Ev ev = kEv) const {
    wire::Ipv6Route route{.source = settings_a_.ports[0].address,
                          .destination = settings_b_.ports[0].address,
                          .ev = ev};
    if (mode_ != Mode::kUdp) {
      route.encapsulation = wire::SrEncapsulation{
          .source = route.source,
          .destination = Ipv6Address::of({0xfcbb, 0xbb00, 1, 0x102, 0, 0, 0, 0})};
    }
    return route;
  }
  void send(std::span<const wire::Packet> packets) {
    a_.in([&] { path_a_->send(burst_of(packets)); });
  }

  // Packets that are numbered by PSN, with data of their own.
  void add(std::size_t size, Ev ev = kEv) {
    const auto psn = static_cast<std::uint32_t>(packets_.size());
    data_.push_back(test_data(size, static_cast<std::uint8_t>(psn)));
    packets_.push_back(test_write(route(ev), data_.back(), psn));
  }
  void expect_as_sent(const Incoming& incoming, const std::vector<std::byte>& data) const {
    const std::uint32_t psn = write_of(incoming).psn.raw();
    const wire::Packet& sent = packets_.at(psn);
    EXPECT_EQ(data, data_.at(psn)) << psn;
    EXPECT_EQ(incoming.packet.ecn, sent.ecn) << psn;
    EXPECT_EQ(incoming.packet.traffic_class, sent.traffic_class) << psn;
    EXPECT_EQ(route_of(incoming).ev, wire::ev_of(sent)) << psn;
    EXPECT_EQ(route_of(incoming).source, settings_a_.ports[0].address);
    EXPECT_EQ(route_of(incoming).destination, settings_b_.ports[0].address);
  }
  // Sends them all; each must arrive, as it was, and in order. On a busy machine a socket may be
  // full for a moment, and the sender holds back the rest.
  void send_and_expect_all() {
    send(packets_);
    const Collected got = collect_while_sending(packets_.size());
    ASSERT_EQ(got.incoming.size(), packets_.size());
    for (std::size_t i = 0; i < packets_.size(); ++i) {
      EXPECT_EQ(write_of(got.incoming[i]).psn, Psn(static_cast<std::uint32_t>(i)));
      expect_as_sent(got.incoming[i], got.data[i]);
    }
    EXPECT_EQ(path_a_->counters().of(Count::kPacketsSent), packets_.size());
  }

  // What arrives while what was held back is sent.
  Collected collect_while_sending(std::size_t count) {
    Collected all;
    for (int i = 0; i < 5000 && all.incoming.size() < count; ++i) {
      a_.in([&] { path_a_->send({}); });
      const Collected more = collect(*path_b_, 1, 1);
      all.incoming.insert(all.incoming.end(), more.incoming.begin(), more.incoming.end());
      all.data.insert(all.data.end(), more.data.begin(), more.data.end());
    }
    return all;
  }

  std::deque<std::vector<std::byte>> data_{};  // stays where it is
  std::vector<wire::Packet> packets_{};
  TestNamespace a_{};
  TestNamespace b_{};
  TestNamespace switch_{};
  Mode mode_ = Mode::kUdp;
  Settings settings_a_{};
  Settings settings_b_{};
  std::unique_ptr<Datapath> path_a_{};
  std::unique_ptr<Datapath> path_b_{};
};

struct ModeAndOffload {
  Mode mode;
  bool offload;
};

class FabricModes : public Fabric, public ::testing::WithParamInterface<ModeAndOffload> {};

std::string name(const ::testing::TestParamInfo<ModeAndOffload>& info) {
  const std::string mode = info.param.mode == Mode::kUdp    ? "Udp"
                           : info.param.mode == Mode::kUsid ? "Usid"
                                                            : "Srv6";
  return mode + (info.param.offload ? "Offloaded" : "Plain");
}

INSTANTIATE_TEST_SUITE_P(
    All, FabricModes,
    ::testing::Values(ModeAndOffload{Mode::kUdp, false}, ModeAndOffload{Mode::kUdp, true},
                      ModeAndOffload{Mode::kUsid, false}, ModeAndOffload{Mode::kUsid, true},
                      ModeAndOffload{Mode::kSrv6, false}, ModeAndOffload{Mode::kSrv6, true}),
    name);

TEST_P(FabricModes, CarriesPacketsOfEverySize) {
  make_ready(GetParam().mode);
  for (Settings* settings : {&settings_a_, &settings_b_}) {
    settings->segments_max = GetParam().offload ? 16 : 1;
    settings->receive_offload = GetParam().offload;
  }
  open_both();
  for (const std::size_t size :
       {1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 255u, 1000u, 1023u, 2048u, 4095u, 4096u}) {
    for (int copy = 0; copy < 3; ++copy) add(size);
  }
  send_and_expect_all();
  // The kernel segments nothing that has no checksum, and on these paths none can be right.
  const bool segments = GetParam().offload && mode_ == Mode::kUdp;
  EXPECT_EQ(path_a_->counters().of(Count::kMessagesSent) < packets_.size(), segments);
  EXPECT_EQ(path_a_->notices().size(), GetParam().offload && mode_ == Mode::kUsid ? 1u : 0u);
}

TEST_P(FabricModes, CarriesMarksAndPathsOfEachPacket) {
  make_ready(GetParam().mode);
  open_both();
  constexpr std::array kClasses{wire::TrafficClass::kControl, wire::TrafficClass::kNoTrim,
                                wire::TrafficClass::kTrimmable,
                                wire::TrafficClass::kTrimmableRetransmission};
  constexpr std::array kEvs{Ev(0x0000'c001), Ev(0xffff'c001), Ev(0x0001'c001)};
  for (std::size_t i = 0; i < 48; ++i) {
    add(64, kEvs[i % 3]);
    packets_.back().ecn = static_cast<wire::Ecn>(i / 3 % 4);
    packets_.back().traffic_class = kClasses[i / 12];
  }
  send_and_expect_all();
}

TEST_P(FabricModes, RejectsAFlippedBitByName) {
  make_ready(GetParam().mode);
  open_both();
  const auto data = test_data(64);
  const auto packet = test_write(route(), data);
  const std::array burst{Outgoing{.packet = &packet, .plane = Plane(0), .is_spoilt = true},
                         Outgoing{.packet = &packet, .plane = Plane(0)}};
  a_.in([&] { path_a_->send(burst); });
  EXPECT_EQ(collect(*path_b_, 1).incoming.size(), 1u);
  EXPECT_EQ(path_b_->counters().of(wire::Reject::kIcrcMismatch), 1u);
}

TEST_P(FabricModes, SendsWithoutIcrcToWhoDoesNotLook) {
  make_ready(GetParam().mode);
  settings_a_.send_icrc = false;
  settings_b_.wire.icrc_check = wire::IcrcCheck::kSkip;
  open_both();
  const auto data = test_data(61);
  const auto packet = test_write(route(), data);
  send(std::array{packet});
  const Collected got = collect(*path_b_, 1);
  ASSERT_EQ(got.incoming.size(), 1u);
  EXPECT_EQ(got.data[0], data);
}

TEST_P(FabricModes, WaitsForASlowLinkAndLosesNothing) {
  make_ready(GetParam().mode);
  settings_a_.socket_buffer = 16 * 1024;
  open_both();
  a_.shell("tc qdisc add dev a0 root tbf rate 100mbit burst 20kb limit 10mb");
  for (int i = 0; i < 200; ++i) add(4000);
  const auto data = data_;
  send(packets_);
  EXPECT_EQ(path_a_->blocked(), 1u);
  EXPECT_GT(path_a_->counters().of(Count::kHeldBack), 0u);
  data_.clear();  // no longer looked at
  const Collected got = collect_while_sending(packets_.size());
  ASSERT_EQ(got.incoming.size(), packets_.size());
  // A shaped link is served by whatever processor is at hand, and two of them reorder.
  EXPECT_TRUE(std::ranges::is_permutation(got.data, data));
  EXPECT_EQ(path_a_->blocked(), 0u);
  EXPECT_EQ(path_a_->counters().of(Count::kPacketsSent), packets_.size());
}

TEST_P(FabricModes, CountsWhatAPortThatIsDownCannotSend) {
  make_ready(GetParam().mode);
  open_both();
  const auto data = test_data(100);
  const auto packet = test_write(route(), data);
  send(std::array{packet});
  EXPECT_EQ(collect(*path_b_, 1).incoming.size(), 1u);
  a_.ip("link set a0 down");
  send(std::array{packet, packet, packet});
  const Counters& counters = path_a_->counters();
  EXPECT_EQ(counters.of(Count::kSendPortDown) + counters.of(Count::kSendNoRoute) +
                counters.of(Count::kSendNoAddress),
            3u);
  EXPECT_EQ(counters.of(Count::kPacketsSent), 1u);
  EXPECT_EQ(path_a_->blocked(), 0u);
}

TEST_P(FabricModes, CountsWhatIsLongerThanTheMtu) {
  make_ready(GetParam().mode);
  open_both();
  a_.ip("link set a0 mtu 1500");
  const auto long_data = test_data(1600);
  const auto short_data = test_data(1000);
  send(std::array{test_write(route(), long_data), test_write(route(), long_data),
                  test_write(route(Ev(0xc002)), short_data)});
  EXPECT_EQ(collect(*path_b_, 1).incoming.size(), 1u);
  EXPECT_EQ(path_a_->counters().of(Count::kSendTooLong), 2u);
}

TEST_P(FabricModes, CountsRoutesOfAnotherMode) {
  make_ready(GetParam().mode);
  open_both();
  const auto data = test_data(10);
  auto packet = test_write(route(), data);
  auto& wrong = std::get<wire::Ipv6Route>(packet.route);
  if (wrong.encapsulation) {
    wrong.encapsulation.reset();
  } else {
    wrong.encapsulation.emplace();
  }
  send(std::array{packet});
  EXPECT_EQ(path_a_->counters().of(Count::kSendBadRoute), 1u);
}

// Groups of equal packets, of several EVs, marks and sizes, in one burst.
TEST_F(Fabric, CutsGroupsApartAsTheyWere) {
  make_ready(Mode::kUdp);
  open_both();
  for (std::uint32_t i = 0; i < 300; ++i) {
    add(i % 7 == 0 ? 1 + i * 37 % 4096 : 1000, Ev(0xc000 + i / 20));
    if (i % 40 > 30) packets_.back().ecn = wire::Ecn::kCapable1;
  }
  send_and_expect_all();
  const Counters& sent = path_a_->counters();
  EXPECT_LT(sent.of(Count::kMessagesSent), packets_.size());
  EXPECT_LT(sent.of(Count::kSendCalls), sent.of(Count::kMessagesSent));
  EXPECT_LT(path_b_->counters().of(Count::kMessagesReceived), packets_.size());
}

// Two cables between two hosts: what goes in by one comes out by it.
TEST_F(Fabric, KeepsPlanesApart) {
  connect(a_, "a1", b_, "b1");
  a_.ip("addr add fd00:9::1/64 dev a1 nodad");
  b_.ip("addr add fd00:9::2/64 dev b1 nodad");
  make_ready(Mode::kUdp);
  settings_a_.ports.push_back(
      {.interface = "a1", .address = Ipv6Address::of({0xfd00, 9, 0, 0, 0, 0, 0, 1})});
  settings_b_.ports.push_back(
      {.interface = "b1", .address = Ipv6Address::of({0xfd00, 9, 0, 0, 0, 0, 0, 2})});
  open_both();
  const auto data = test_data(100);
  const auto first = test_write(route(), data, 0);
  const auto second = test_write({.source = settings_a_.ports[1].address,
                                  .destination = settings_b_.ports[1].address,
                                  .ev = kEv},
                                 data, 1);
  a_.in([&] {
    path_a_->send(std::array{Outgoing{.packet = &first, .plane = Plane(0)},
                             Outgoing{.packet = &second, .plane = Plane(1)}});
  });
  const Collected got = collect(*path_b_, 2);
  ASSERT_EQ(got.incoming.size(), 2u);
  for (const Incoming& incoming : got.incoming) {
    EXPECT_EQ(incoming.plane.raw(), write_of(incoming).psn.raw());
  }
}

}  // namespace
}  // namespace openmrc::datapath
