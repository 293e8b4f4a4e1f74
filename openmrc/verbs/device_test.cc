// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/device.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace openmrc::libmrc {
namespace {

constexpr Gid ipv4(std::uint32_t address) { return wire::mapped(wire::Ipv4Address(address)); }
constexpr Gid kOwn0 = ipv4(0x0a00'0101);
constexpr Gid kOwn1 = ipv4(0x0a00'0201);
constexpr Gid kPeer0 = ipv4(0x0a00'0102);
constexpr Gid kPeer1 = ipv4(0x0a00'0202);

// Two planes of IPv4, outside of a fabric.
host::Config two_planes() {
  host::Config config{.name = "a"};
  config.ports = {{.interface = "none0", .address = kOwn0},
                  {.interface = "none1", .address = kOwn1}};
  config.peers = {{.name = "b", .addresses = {kPeer0, kPeer1}}};
  return config;
}

TEST(Device, OfIpv4HasMappedGids) {
  const Device device("openmrc0", two_planes());
  EXPECT_EQ(device.gid(Device::kGidIpv4), kOwn0);
  EXPECT_EQ(device.gid(Device::kGidFirstPlane), kOwn0);
  EXPECT_EQ(device.gid(Device::kGidFirstPlane + 1), kOwn1);
}

TEST(Device, KnowsAListedPeerByAnyOfItsAddresses) {
  const Device device("openmrc0", two_planes());
  for (const Gid& gid : {kPeer0, kPeer1}) {
    const auto found = device.destination_of(gid);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "b");
    EXPECT_EQ(found->addresses, (std::vector{kPeer0, kPeer1}));
  }
  const auto self = device.destination_of(kOwn1);
  ASSERT_TRUE(self);
  EXPECT_EQ(self->addresses, (std::vector{kOwn0, kOwn1}));
  EXPECT_FALSE(device.destination_of(ipv4(0x0a00'0103))) << "not on the list";
  EXPECT_FALSE(device.destination_of({}));
}

TEST(Device, OfOnePlaneNeedsNoListButTheSameIpVersion) {
  host::Config config = two_planes();
  config.ports.pop_back();
  config.peers.clear();
  const Device device("openmrc0", std::move(config));
  ASSERT_TRUE(device.destination_of(kPeer0));
  EXPECT_EQ(device.destination_of(kPeer0)->addresses, std::vector{kPeer0});
  EXPECT_FALSE(device.destination_of(Gid::of({0xfd00, 0, 0, 0, 0, 0, 0, 1})));
}

TEST(Device, IsUsableWhileAnyPlaneIsUp) {
  host::Config config = two_planes();
  config.ports[1].interface = "lo";
  Device device("openmrc0", config);
  EXPECT_FALSE(device.port_is_up(1)) << "there is no such interface";
  EXPECT_TRUE(device.port_is_up(2));
  EXPECT_TRUE(device.any_port_is_up());
  config.ports[1].interface = "none1";
  EXPECT_FALSE(Device("openmrc0", config).any_port_is_up());
}

// perftest takes the first GID if it finds no IPv4 one.
TEST(Device, KnowsOnlyItsOwnLinkLocalGid) {
  const Device device("openmrc0", two_planes());
  const auto self = device.destination_of(device.gid(0));
  ASSERT_TRUE(self);
  EXPECT_EQ(self->addresses, (std::vector{kOwn0, kOwn1}));
  EXPECT_FALSE(device.destination_of(Gid::of({0xfe80, 0, 0, 0, 0, 0, 0, 7})));
}

}  // namespace
}  // namespace openmrc::libmrc
