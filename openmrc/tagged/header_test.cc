// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/header.h"

#include <gtest/gtest.h>

#include <vector>

namespace openmrc::tagged {
namespace {

std::vector<std::byte> message(const Header& header, std::size_t payload) {
  std::vector<std::byte> bytes(Header::kSize + payload);
  header.write(std::span(bytes).first<Header::kSize>());
  return bytes;
}

TEST(TaggedHeader, IsReadAsItWasWritten) {
  const Header header{.kind = Kind::kAnnounce,
                      .consumed = 0x01020304,
                      .tag = 0x1112131415161718,
                      .length = 0x2122232425262728,
                      .address = 0x3132333435363738,
                      .rkey = 0x41424344,
                      .id = 0x51525354};
  const auto bytes = message(header, 0);
  EXPECT_EQ(Header::read(bytes), header);
  EXPECT_EQ(bytes[8], std::byte{0x11});
  EXPECT_EQ(bytes[39], std::byte{0x54});
}

TEST(TaggedHeader, OfAnEagerMessageHasTheLengthOfItsPayload) {
  const Header header{.kind = Kind::kEager, .length = 10};
  EXPECT_TRUE(Header::read(message(header, 10)));
  EXPECT_FALSE(Header::read(message(header, 9)));
  EXPECT_FALSE(Header::read(message(header, 11)));
  const Header long_one{.kind = Kind::kEager, .length = kEagerMax + 1};
  EXPECT_FALSE(Header::read(message(long_one, kEagerMax + 1)));
}

TEST(TaggedHeader, WithoutPayloadIsRefusedWithOne) {
  for (const Kind kind : {Kind::kAnnounce, Kind::kRead, Kind::kCredit, Kind::kClose}) {
    EXPECT_TRUE(Header::read(message({.kind = kind}, 0)));
    EXPECT_FALSE(Header::read(message({.kind = kind}, 1)));
  }
}

TEST(TaggedHeader, ThatIsShortOrUnknownIsRefused) {
  const auto good = message({.kind = Kind::kCredit}, 0);
  EXPECT_FALSE(Header::read(std::span(good).first(Header::kSize - 1)));
  EXPECT_FALSE(Header::read({}));
  EXPECT_FALSE(Header::read(message({.kind = static_cast<Kind>(7)}, 0)));
  EXPECT_FALSE(Header::read(message({.kind = static_cast<Kind>(0)}, 0)));
  auto other = good;
  other[0] = std::byte{2};
  EXPECT_FALSE(Header::read(other));
}

}  // namespace
}  // namespace openmrc::tagged
