// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/datapath/test_network.h"
#include "openmrc/datapath/test_packets.h"
#include "openmrc/xdp/open.h"

namespace openmrc::xdp {

inline constexpr wire::Ipv6Address kA = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
inline constexpr wire::Ipv6Address kB = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
inline constexpr wire::Ipv6Address kPathToB = wire::Ipv6Address::of({0xfcbb, 0xbb00, 0xc001});

// Two hosts and a cable: a0 of host A, b0 of host B, where the path ends.
class TwoHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!a_.is_there()) GTEST_SKIP() << "needs root, for network namespaces";
    connect();
  }

  // `queues` of each end, in each direction.
  void connect(int queues = 1) const {
    const std::string both = " numtxqueues " + std::to_string(queues) + " numrxqueues " +
                             std::to_string(queues) + " mtu 9000 ";
    a_.ip("link add a0" + both + "type veth peer name b0" + both + "netns " + b_.path());
    a_.shell("sysctl -qw net.ipv6.conf.a0.seg6_enabled=1");
    b_.shell("sysctl -qw net.ipv6.conf.b0.seg6_enabled=1");
    a_.ip("link set a0 address 02:00:00:00:00:01 up");
    b_.ip("link set b0 address 02:00:00:00:00:02 up");
    datapath::wait_until_up(a_, "a0");
    datapath::wait_until_up(b_, "b0");
    a_.ip("address add fd00::1/64 dev a0 nodad");
    b_.ip("address add fd00::2/64 dev b0 nodad");
    a_.ip("-6 route add fcbb:bb00:c001::/48 via fd00::2 dev a0");
    b_.ip("-6 route add fcbb:bb00:c001::/48 encap seg6local action End.DT6 table local dev b0");
  }
  void disconnect() const { b_.ip("link delete b0"); }
  void know_neighbour() const {
    a_.ip("neighbour replace fd00::2 lladdr 02:00:00:00:00:02 dev a0 nud permanent");
  }

  static datapath::Settings settings(const char* interface, const wire::Ipv6Address& address,
                                     datapath::Mode mode = datapath::Mode::kXdp) {
    datapath::Settings settings;
    settings.mode = mode;
    settings.ports = {{.interface = interface, .address = address}};
    settings.wire.udp_port = datapath::test_port();
    return settings;
  }
  static std::unique_ptr<datapath::Datapath> opened(const datapath::TestNamespace& where,
                                                    const datapath::Settings& settings) {
    const bool is_ours = settings.mode == datapath::Mode::kXdp;
    auto path = where.in([&] { return is_ours ? xdp::open(settings) : datapath::open(settings); });
    EXPECT_TRUE(path) << datapath::to_string(path.error());
    return path ? *std::move(path) : nullptr;
  }
  static wire::Packet packet(ConstBytes data, datapath::Slot slot, std::uint32_t psn = 0) {
    wire::Ipv6Route route{.source = kA, .destination = kB, .ev = Ev(0xc001)};
    route.encapsulation = {.source = kA, .destination = kPathToB, .srh = {}};
    auto made = datapath::test_write(route, data, psn, datapath::first_qpn(slot));
    made.udp_port = datapath::test_port();
    return made;
  }

  datapath::TestNamespace a_;
  datapath::TestNamespace b_;
};

}  // namespace openmrc::xdp
