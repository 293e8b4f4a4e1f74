// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/peer_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

using Addresses = std::vector<wire::Ipv6Address>;

wire::Ipv6Address address(std::uint16_t number, std::uint16_t plane = 0) {
  return wire::Ipv6Address::of({0xfd00, plane, 0, 0, 0, 0, 0, number});
}

class PeerTableTest : public testing::Test {
 protected:
  PeerIndex add(const Addresses& addresses) {
    auto peer = std::make_unique<Peer>(
        profile_, FixedWindowSettings{.window = ByteCount(1), .base_rtt = microseconds(1)}, 1);
    peer->addresses = addresses;
    return table_.add(std::move(peer));
  }
  // Who has the address, as often as it is visited.
  std::vector<PeerIndex> at(const wire::Ipv6Address& address) {
    std::vector<PeerIndex> peers;
    table_.visit_address(address, [&](PeerIndex index, const Peer& peer) {
      EXPECT_EQ(&peer, table_.find(index));
      peers.push_back(index);
      return true;
    });
    std::ranges::sort(peers);
    return peers;
  }

  EvProfile profile_ = EvProfile::simple({});
  PeerTable table_;
};

using Indices = std::vector<PeerIndex>;

TEST_F(PeerTableTest, IsEmptyAtFirst) {
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(table_.find(0), nullptr);
  EXPECT_EQ(at(address(1)), Indices{});
}

TEST_F(PeerTableTest, FindsAPeerByEachOfItsAddresses) {
  const PeerIndex a = add({address(1, 0), address(1, 1)});
  const PeerIndex b = add({address(2, 0), address(2, 1)});
  EXPECT_NE(a, b);
  EXPECT_EQ(at(address(1, 0)), Indices{a});
  EXPECT_EQ(at(address(1, 1)), Indices{a});
  EXPECT_EQ(at(address(2, 1)), Indices{b});
  EXPECT_EQ(at(address(3, 0)), Indices{});
  EXPECT_EQ(table_[a].addresses[1], address(1, 1));
}

TEST_F(PeerTableTest, AnAddressMayBelongToSeveralPeers) {
  const Addresses addresses{address(1, 0), address(1, 1)};
  const Indices all{add(addresses), add(addresses), add(addresses)};
  EXPECT_EQ(at(address(1, 0)), all);
  table_.remove(all[1]);
  EXPECT_EQ(at(address(1, 1)), (Indices{all[0], all[2]}));
}

TEST_F(PeerTableTest, APeerWithTheSameAddressInAllPlanesIsVisitedOnce) {
  const PeerIndex index = add({address(1), address(1), address(1)});
  EXPECT_EQ(at(address(1)), Indices{index});
  table_.remove(index);
  EXPECT_EQ(at(address(1)), Indices{});
}

TEST_F(PeerTableTest, APeerIsVisitedOnceWhereverItsAddressesFallInTheTable) {
  for (std::uint16_t i = 0; i < 1'000; ++i) {
    const PeerIndex index = add({address(i, 0), address(i, 1), address(i, 2), address(i, 3)});
    for (std::uint16_t plane = 0; plane < 4; ++plane) {
      ASSERT_EQ(at(address(i, plane)), Indices{index}) << to_string(address(i, plane));
    }
    table_.remove(index);
  }
}

TEST_F(PeerTableTest, StopsVisitingWhenItIsTold) {
  for (int i = 0; i < 5; ++i) add({address(1)});
  int visits = 0;
  table_.visit_address(address(1), [&](PeerIndex, const Peer&) { return ++visits < 2; });
  EXPECT_EQ(visits, 2);
}

TEST_F(PeerTableTest, UsesNumbersAgain) {
  const PeerIndex a = add({address(1)});
  const PeerIndex b = add({address(2)});
  table_.remove(a);
  EXPECT_EQ(table_.find(a), nullptr);
  EXPECT_EQ(at(address(1)), Indices{});
  EXPECT_EQ(add({address(3)}), a);
  EXPECT_EQ(table_.size(), 2u);
  EXPECT_EQ(at(address(3)), Indices{a});
  EXPECT_EQ(at(address(2)), Indices{b});
}

TEST_F(PeerTableTest, RemovedPeersDoNotFillItUp) {
  for (std::uint16_t i = 0; i < 20'000; ++i) {
    const PeerIndex index = add({address(i)});
    ASSERT_EQ(index, 0u);
    ASSERT_EQ(at(address(i)), Indices{index});
    table_.remove(index);
    ASSERT_EQ(at(address(i)), Indices{});
  }
}

TEST_F(PeerTableTest, AgreesWithAMapWhilePeersComeAndGo) {
  std::map<PeerIndex, Addresses> model;
  Rng rng(1);
  for (int i = 0; i < 6'000; ++i) {
    // Grows to hundreds, shrinks, grows again.
    const bool grows = i / 1'000 % 2 == 0;
    if (model.empty() || rng.chance({grows ? 3u : 1u, 4})) {
      Addresses addresses;
      const auto number = static_cast<std::uint16_t>(rng.below(300));
      const auto planes = static_cast<std::uint16_t>(rng.between(1, 8));
      for (std::uint16_t plane = 0; plane < planes; ++plane) {
        addresses.push_back(address(number, rng.chance({1, 8}) ? std::uint16_t{0} : plane));
      }
      const PeerIndex index = add(addresses);
      ASSERT_TRUE(model.emplace(index, addresses).second) << "the number is in use";
    } else {
      const auto gone =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(rng.below(model.size())));
      table_.remove(gone->first);
      model.erase(gone);
    }
    const wire::Ipv6Address asked = address(static_cast<std::uint16_t>(rng.below(300)),
                                            static_cast<std::uint16_t>(rng.below(8)));
    Indices expected;
    for (const auto& [index, addresses] : model) {
      if (std::ranges::find(addresses, asked) != addresses.end()) expected.push_back(index);
    }
    ASSERT_EQ(at(asked), expected) << "step " << i << ", " << to_string(asked);
  }
  for (const auto& [index, addresses] : model) {
    ASSERT_NE(table_.find(index), nullptr);
    EXPECT_EQ(table_[index].addresses, addresses);
  }
  EXPECT_EQ(table_.find(static_cast<PeerIndex>(table_.size())), nullptr);
}

}  // namespace
}  // namespace openmrc::core
