// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/gloo/address.h"

#include <gtest/gtest.h>

namespace openmrc::gloo {
namespace {

host::ConnectionInfo info(std::size_t planes) {
  host::ConnectionInfo one{.host = "h2", .qpn = 0x12345, .psn = 0xabcdef, .mtu = 4096};
  one.fabric_host = 7;
  for (std::uint16_t i = 0; i < planes; ++i) {
    one.addresses.push_back(wire::Ipv6Address::of({0xfd00, 0, 0, i, 0, 0, 0, 1}));
  }
  return one;
}

TEST(GlooAddress, IsReadAsItWasWritten) {
  for (const std::size_t planes : {std::size_t{1}, Address::kPlanesMax}) {
    EXPECT_EQ(Address::read(Address(info(planes)).bytes()), info(planes));
  }
  host::ConnectionInfo without_place = info(2);
  without_place.fabric_host.reset();
  EXPECT_EQ(Address::read(Address(without_place).bytes()), without_place);
}

// gloo takes them apart by their number.
TEST(GlooAddress, HasAlwaysTheSameLength) {
  EXPECT_EQ(Address(info(1)).bytes().size(), Address(info(8)).bytes().size());
  host::ConnectionInfo long_name = info(1);
  long_name.host = std::string(100, 'x');
  EXPECT_EQ(Address(long_name).bytes().size(), Address::kSize);
  EXPECT_EQ(Address::read(Address(long_name).bytes())->host, std::string(Address::kNameMax, 'x'));
}

TEST(GlooAddress, OfSomethingElseIsRefused) {
  const std::vector<char> good = Address(info(2)).bytes();
  const auto with = [&](std::size_t at, char value) {
    std::vector<char> bytes = good;
    bytes[at] = value;
    return bytes;
  };
  EXPECT_FALSE(Address::read({}));
  EXPECT_FALSE(Address::read(std::vector<char>(good.begin(), good.end() - 1)));
  EXPECT_FALSE(Address::read(with(0, 'T')));
  EXPECT_FALSE(Address::read(with(4, 0))) << "no planes";
  EXPECT_FALSE(Address::read(with(4, 9))) << "too many";
  EXPECT_FALSE(Address::read(with(6, 33))) << "a name that is too long";
  EXPECT_FALSE(Address::read(with(8, 1))) << "a queue pair number of 25 bits";
  EXPECT_FALSE(Address::read(with(24, '\x1b'))) << "a name that a terminal would act on";
}

}  // namespace
}  // namespace openmrc::gloo
