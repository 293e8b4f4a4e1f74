// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/usid.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace openmrc::wire {
namespace {

constexpr std::uint32_t kBlock = 0xfcbbbb00;

std::optional<UsidCarrier> carrier(std::initializer_list<std::uint16_t> usids) {
  std::vector<Usid> list;
  for (const std::uint16_t usid : usids) list.push_back(Usid(usid));
  return UsidCarrier::of(kBlock, list);
}

std::string text(const UsidCarrier& carrier) { return to_string(carrier.address()); }

// WIRE-20
TEST(Usid, CarrierHoldsTheBlockAndThePathInOrderOfTravel) {
  // Two switches and the link to the host.
  const auto path = carrier({0x1, 0x2, 0x102});
  ASSERT_TRUE(path);
  EXPECT_EQ(text(*path), "fcbb:bb00:1:2:102::");
  EXPECT_EQ(path->block(), kBlock);
  EXPECT_EQ(path->active(), Usid(1));
  EXPECT_EQ(path->remaining(), (UsidCarrier::List{Usid(0x1), Usid(0x2), Usid(0x102)}));
}

TEST(Usid, CarrierReadsFromAnAddress) {
  const UsidCarrier path(Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0}));
  EXPECT_EQ(path, carrier({0x1, 0x2, 0x102}));
}

// WIRE-22
TEST(Usid, EachSwitchShiftsOneUsidOut) {
  const UsidCarrier sent = *carrier({0x1, 0x2, 0x102});
  EXPECT_EQ(text(sent.shift()), "fcbb:bb00:2:102::");
  EXPECT_EQ(text(sent.shift().shift()), "fcbb:bb00:102::");
  EXPECT_EQ(text(sent.shift().shift().shift()), "fcbb:bb00::");
  EXPECT_EQ(text(sent), "fcbb:bb00:1:2:102::") << "shifting makes a new carrier";
}

TEST(Usid, ShiftMovesWhateverStandsBehindAZero) {
  // What uN does is blind: it does not look for the end of the path.
  const UsidCarrier holed(Ipv6Address::of({0xfcbb, 0xbb00, 1, 0, 3, 0, 0, 6}));
  EXPECT_EQ(text(holed.shift()), "fcbb:bb00:0:3::6:0");
}

TEST(Usid, PeelsUntilTheEndOfThePath) {
  std::vector<std::uint16_t> visited;
  std::optional<UsidCarrier::Peeled> step = carrier({0x1, 0x2, 0x102})->peel();
  while (step) {
    visited.push_back(step->usid.raw());
    step = step->rest.peel();
  }
  EXPECT_EQ(visited, (std::vector<std::uint16_t>{0x1, 0x2, 0x102}));
}

TEST(Usid, PeelsNothingFromABareBlock) {
  EXPECT_EQ(UsidCarrier(Ipv6Address::of({0xfcbb, 0xbb00, 0, 0, 0, 0, 0, 0})).peel(), std::nullopt);
}

// WIRE-20
TEST(Usid, SixUsidsFillTheAddress) {
  const auto path = carrier({0x1, 0x2, 0x3, 0x4, 0x5, 0xdfff});
  ASSERT_TRUE(path);
  EXPECT_EQ(text(*path), "fcbb:bb00:1:2:3:4:5:dfff");
  EXPECT_EQ(path->remaining().size(), UsidCarrier::kUsidsMax);
  UsidCarrier left = *path;
  for (int hop = 0; hop < 6; ++hop) left = left.shift();
  EXPECT_EQ(left.peel(), std::nullopt);
}

// WIRE-20
TEST(Usid, ARefusedPathHasSevenUsids) { EXPECT_FALSE(carrier({1, 2, 3, 4, 5, 6, 7})); }

// WIRE-21
TEST(Usid, ARefusedPathHasAZeroAnywhere) {
  EXPECT_FALSE(carrier({0}));
  EXPECT_FALSE(carrier({0, 2, 3}));
  EXPECT_FALSE(carrier({1, 0, 3}));
  EXPECT_FALSE(carrier({1, 2, 0}));
}

TEST(Usid, APathOfNoHopsIsTheBlock) {
  const auto path = carrier({});
  ASSERT_TRUE(path);
  EXPECT_EQ(text(*path), "fcbb:bb00::");
  EXPECT_EQ(path->active(), kEndOfCarrier);
  EXPECT_TRUE(path->remaining().empty());
}

}  // namespace
}  // namespace openmrc::wire
