// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/payload.h"

#include <gtest/gtest.h>

#include <array>

namespace openmrc::wire {
namespace {

TEST(Payload, RefersToBytesThatSomebodyElseOwns) {
  const std::array<std::byte, 5> bytes{};
  const Payload payload = Payload::of_bytes(bytes);
  EXPECT_EQ(payload.size(), 5u);
  EXPECT_TRUE(payload.has_bytes());
  EXPECT_EQ(payload.bytes().data(), bytes.data());
}

TEST(Payload, MayBeALengthAlone) {
  const Payload payload = Payload::of_length(4096);
  EXPECT_EQ(payload.size(), 4096u);
  EXPECT_FALSE(payload.has_bytes());
}

TEST(Payload, OfNothingHasItsBytes) {
  EXPECT_TRUE(Payload().has_bytes());
  EXPECT_TRUE(Payload::of_length(0).bytes().empty());
}

TEST(PayloadDeathTest, HasNoBytesToGiveIfItIsALength) {
  const Payload payload = Payload::of_length(1);
  EXPECT_DEATH(static_cast<void>(payload.bytes()), "this payload is only a length");
}

// WIRE-35
TEST(Payload, IsPaddedToAMultipleOfFour) {
  struct Row {
    std::size_t size;
    std::size_t padded;
  };
  for (const Row& row : {Row{0, 0}, Row{1, 4}, Row{2, 4}, Row{3, 4}, Row{4, 4}, Row{4093, 4096}}) {
    EXPECT_EQ(padded_size(row.size), row.padded);
    EXPECT_EQ(pad_count(row.size), row.padded - row.size);
  }
}

}  // namespace
}  // namespace openmrc::wire
