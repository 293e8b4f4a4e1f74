// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/prefix_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "openmrc/softswitch/address_key.h"

namespace openmrc::softswitch {
namespace {

using wire::Ipv4Address;
using wire::Ipv6Address;

PrefixRoute route(const Prefix& prefix, std::initializer_list<std::uint16_t> ports) {
  PrefixRoute made{.prefix = prefix};
  for (const std::uint16_t port : ports) made.ports.emplace_back(port);
  return made;
}

// The first port of those that lead there; -1 if there is none.
int find(const PrefixTable& table, const Ipv6Address& address) {
  const auto ports = table.find(AddressKey::of(address));
  return ports.empty() ? -1 : ports.front().raw();
}
int find(const PrefixTable& table, Ipv4Address address) {
  return find(table, wire::mapped(address));
}

constexpr auto address(std::uint16_t first, std::uint16_t last) {
  return Ipv6Address::of({first, 0, 0, 0, 0, 0, 0, last});
}

TEST(AddressKey, MasksHaveSoManyOnesInFront) {
  EXPECT_EQ(AddressKey::mask(0), (AddressKey{0, 0}));
  EXPECT_EQ(AddressKey::mask(1), (AddressKey{0x8000'0000'0000'0000, 0}));
  EXPECT_EQ(AddressKey::mask(64), (AddressKey{~std::uint64_t{0}, 0}));
  EXPECT_EQ(AddressKey::mask(65), (AddressKey{~std::uint64_t{0}, 0x8000'0000'0000'0000}));
  EXPECT_EQ(AddressKey::mask(128), (AddressKey{~std::uint64_t{0}, ~std::uint64_t{0}}));
}

TEST(AddressKey, OfIpv4IsThatOfTheMappedAddress) {
  constexpr Ipv4Address kAddress(0x0a010203);
  EXPECT_EQ(AddressKey::of(kAddress), AddressKey::of(wire::mapped(kAddress)));
}

TEST(AddressKey, HasThePartsOfACarrier) {
  constexpr auto kKey = AddressKey::of(Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(kKey.block(), 0xfcbb'bb00u);
  EXPECT_EQ(kKey.locator(), 0xfcbb'bb00'0001u);
  EXPECT_EQ(kKey.active_usid(), wire::Usid(1));
  EXPECT_EQ(kKey.next_usid(), wire::Usid(2));
  EXPECT_FALSE(kKey.ends_with_active());
  constexpr auto kLast = AddressKey::of(Ipv6Address::of({0xfcbb, 0xbb00, 9, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(kLast.ends_with_active());
  constexpr auto kFar = AddressKey::of(Ipv6Address::of({0xfcbb, 0xbb00, 9, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(kFar.ends_with_active());
}

TEST(PrefixTable, WithoutRoutesLeadsNowhere) {
  const PrefixTable table({});
  EXPECT_EQ(find(table, address(0, 0)), -1);
  EXPECT_EQ(find(table, address(0xffff, 0xffff)), -1);
  EXPECT_EQ(find(table, Ipv4Address(0x0a000001)), -1);
}

TEST(PrefixTable, TakesTheLongestPrefix) {
  const std::vector<PrefixRoute> routes{
      route({address(0, 0), 0}, {1}), route({address(0xfd00, 0), 16}, {2}),
      route({address(0xfd00, 0x100), 120}, {3}), route({address(0xfd00, 0x107), 128}, {4})};
  const PrefixTable table(routes);
  EXPECT_EQ(find(table, address(0x2001, 1)), 1);
  EXPECT_EQ(find(table, address(0xfcff, 0xffff)), 1);
  EXPECT_EQ(find(table, address(0xfd00, 0)), 2);
  EXPECT_EQ(find(table, address(0xfd00, 0xff)), 2);
  EXPECT_EQ(find(table, address(0xfd00, 0x100)), 3);
  EXPECT_EQ(find(table, address(0xfd00, 0x106)), 3);
  EXPECT_EQ(find(table, address(0xfd00, 0x107)), 4);
  EXPECT_EQ(find(table, address(0xfd00, 0x108)), 3);
  EXPECT_EQ(find(table, address(0xfd00, 0x1ff)), 3);
  EXPECT_EQ(find(table, address(0xfd00, 0x200)), 2);
  EXPECT_EQ(find(table, address(0xfd01, 0)), 1);
  EXPECT_EQ(find(table, address(0xffff, 0xffff)), 1);
}

TEST(PrefixTable, FindsItsWayOutOfPrefixesThatEndBeforeTheAddress) {
  // Three nested ones at the same first address, and the address behind all but the widest.
  const std::vector<PrefixRoute> routes{route({address(0xfd00, 0), 128}, {1}),
                                        route({address(0xfd00, 0), 126}, {2}),
                                        route({address(0xfd00, 0), 112}, {3})};
  const PrefixTable table(routes);
  EXPECT_EQ(find(table, address(0xfd00, 0)), 1);
  EXPECT_EQ(find(table, address(0xfd00, 3)), 2);
  EXPECT_EQ(find(table, address(0xfd00, 4)), 3);
  EXPECT_EQ(find(table, Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 1, 0})), -1);
}

TEST(PrefixTable, KeepsIpv4Apart) {
  const std::vector<PrefixRoute> ipv6_only{route({address(0, 0), 0}, {1})};
  EXPECT_EQ(find(PrefixTable(ipv6_only), Ipv4Address(0x0a000001)), -1);
  EXPECT_EQ(find(PrefixTable(ipv6_only), address(0, 1)), 1);

  const std::vector<PrefixRoute> both{route({address(0, 0), 0}, {1}),
                                      route(Prefix::of(Ipv4Address(0), 0), {2}),
                                      route(Prefix::of(Ipv4Address(0x0a000000), 8), {3})};
  EXPECT_EQ(find(PrefixTable(both), Ipv4Address(0x0a000001)), 3);
  EXPECT_EQ(find(PrefixTable(both), Ipv4Address(0x0b000001)), 2);
  EXPECT_EQ(find(PrefixTable(both), address(0, 1)), 1);
}

TEST(PrefixTable, GivesAllPortsOfAGroupInOrder) {
  const std::vector<PrefixRoute> routes{route({address(0xfd00, 0), 16}, {7, 5, 6}),
                                        route({address(0xfd01, 0), 16}, {1, 2})};
  const PrefixTable table(routes);
  const auto ports = table.find(AddressKey::of(address(0xfd00, 9)));
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0], PortIndex(7));
  EXPECT_EQ(ports[1], PortIndex(5));
  EXPECT_EQ(ports[2], PortIndex(6));
  EXPECT_EQ(table.find(AddressKey::of(address(0xfd01, 9))).size(), 2u);
}

}  // namespace
}  // namespace openmrc::softswitch
