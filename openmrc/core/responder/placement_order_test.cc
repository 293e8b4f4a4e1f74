// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/placement_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "openmrc/base/rng.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::ScriptedPeer;

// MSG-45: after each packet, what is in memory is what was sent up to the first that is missing.
TEST(PlacementOrder, MemoryIsAlwaysAPrefixOfWhatWasSent) {
  constexpr std::int64_t kPackets = 48;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ScriptedPeer peer({.places_in_order = true});
    Rng rng(seed);
    std::vector<std::int64_t> order(kPackets);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    std::vector<bool> arrived(kPackets);
    for (const std::int64_t index : order) {
      peer.deliver(peer.write(index));
      if (rng.below(4) == 0) peer.deliver(peer.write(index));  // a duplicate
      arrived[static_cast<std::size_t>(index)] = true;
      const auto missing = std::find(arrived.begin(), arrived.end(), false) - arrived.begin();
      for (std::int64_t i = 0; i < kPackets; ++i) {
        ASSERT_TRUE(i < missing ? peer.is_placed(i) : peer.is_untouched(i))
            << "seed " << seed << ", packet " << i << " of " << missing << " in order";
      }
    }
    EXPECT_EQ(peer.count(Count::kDataReceived), static_cast<std::uint64_t>(kPackets));
  }
}

TEST(PlacementOrder, OthersPlaceWhatComes) {
  ScriptedPeer peer;
  peer.deliver(peer.write(3));
  EXPECT_TRUE(peer.is_placed(3));
}

// MSG-46: a pool is rounded up to 16, of which one peer has half.
TEST(PlacementOrder, WhatFindsNoRoomIsRefusedAndComesAgain) {
  ScriptedPeer peer({.places_in_order = true, .limits = {.held_packets = 16}});
  for (std::int64_t i = 1; i <= 8; ++i) peer.deliver(peer.write(i));
  EXPECT_EQ(peer.count(Count::kPacketsNotHeld), 0U);
  (void)peer.collect();
  peer.deliver(peer.write(9));
  const auto refused = peer.collect_only<wire::Nack>();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].neth.reason, wire::NackReason::kNoResource);
  EXPECT_EQ(refused[0].neth.psn, Psn(5009));
  EXPECT_EQ(peer.count(Count::kPacketsNotHeld), 1U);
  peer.deliver(peer.write(0));  // what is next in order needs no room
  EXPECT_TRUE(peer.is_placed(8));
  peer.deliver(peer.write(9));
  EXPECT_TRUE(peer.is_placed(9));
  EXPECT_EQ(peer.count(Count::kPacketsNotHeld), 1U);
}

// MSG-46
TEST(PlacementOrder, WhoFailsOrGoesLeavesNothingBehind) {
  ScriptedPeer peer({.places_in_order = true, .limits = {.held_packets = 16}});
  for (int again = 0; again < 3; ++again) {
    const Qpn qpn = peer.connect(Qpn(0x60000));
    for (std::int64_t i = 1; i <= 8; ++i) {
      wire::RdmaWrite early = peer.write(i);
      early.destination_qp = qpn;
      peer.deliver(early);
    }
    peer.endpoint().destroy_queue_pair(qpn);
  }
  EXPECT_EQ(peer.count(Count::kPacketsNotHeld), 0U);
  EXPECT_TRUE(peer.is_untouched(1));
}

// MSG-47
TEST(PlacementOrder, MemoryThatIsDeregisteredMeanwhileIsNotTouched) {
  ScriptedPeer peer({.places_in_order = true});
  peer.deliver(peer.write(1));
  wire::RdmaWrite first = peer.write(0);
  first.reth.dma_length = 0;  // it needs no memory itself
  first.payload = {};
  ASSERT_TRUE(peer.endpoint().deregister_memory(peer.rkey()));
  peer.deliver(first);
  EXPECT_TRUE(peer.is_untouched(1));
  const auto sent = peer.collect_only<wire::Acknowledge>();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
  EXPECT_EQ(peer.state(), QueuePairState::kError);
}

}  // namespace
}  // namespace openmrc::core
