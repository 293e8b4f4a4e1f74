// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/context/peer_shares.h"

#include <gtest/gtest.h>

namespace openmrc::core {
namespace {

// What is shared here.
constexpr std::size_t kAll = 120;

struct Shared {
  PeerShares shares;
  std::size_t left = kAll;

  // As many as it may; returns how many.
  std::size_t take_all(PeerShares::Share share) {
    std::size_t taken = 0;
    for (; shares.may_take(share, left); ++taken, --left) shares.take(share);
    return taken;
  }
};

TEST(PeerShares, OnePeerHasHalfAtMost) {
  Shared shared;
  EXPECT_EQ(shared.take_all(PeerShares::of(1)), kAll / 2);
  EXPECT_EQ(shared.take_all(PeerShares::of(1)), 0U);
}

TEST(PeerShares, ThereIsSomeForTheNextHoweverManyThereWere) {
  Shared shared;
  for (std::uint32_t peer = 0; peer < 6; ++peer) {
    EXPECT_GT(shared.take_all(PeerShares::of(peer)), 0U) << peer;
  }
  EXPECT_GT(shared.take_all(PeerShares::kNoPeer), 0U);
}

TEST(PeerShares, WhatIsGivenBackCanBeTakenAgain) {
  Shared shared;
  const PeerShares::Share peer = PeerShares::of(3);
  shared.take_all(peer);
  shared.shares.give_back(peer);
  ++shared.left;
  EXPECT_EQ(shared.take_all(peer), 1U);
}

}  // namespace
}  // namespace openmrc::core
