// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/icrc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/wire/payload.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::Bytes;
using test::from_hex;

constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;

// CRC-32 of IEEE 802.3 bit by bit, reflected: the register after `bytes`, not complemented.
std::uint32_t crc_register(std::uint32_t crc, ConstBytes bytes) {
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return crc;
}

// The rule of RoCEv2 as it is written: ones in place of a local route header, ones in every variant
// field, then the rest as it is, and the complement at the end.
std::uint32_t icrc_by_the_book(const Bytes& packet) {
  Bytes masked = packet;
  const bool is_ipv4 = (packet[0] >> 4) == std::byte{4};
  const std::size_t udp = is_ipv4 ? kIpv4Bytes : kIpv6Bytes;
  const auto ones = [&](std::size_t at, std::size_t count) {
    std::fill_n(masked.begin() + static_cast<std::ptrdiff_t>(at), count, std::byte{0xff});
  };
  if (is_ipv4) {
    ones(1, 1);   // type of service
    ones(8, 1);   // time to live
    ones(10, 2);  // header checksum
  } else {
    masked[0] |= std::byte{0x0f};
    ones(1, 3);  // with half of byte 0: traffic class and flow label
    ones(7, 1);  // hop limit
  }
  ones(udp + 6, 2);      // UDP checksum
  ones(udp + 8 + 4, 1);  // variant byte of the BTH
  const Bytes route_header(8, std::byte{0xff});
  const std::uint32_t after_route = crc_register(0xffffffff, route_header);
  EXPECT_EQ(after_route, 0xdebb20e3u);
  return ~crc_register(after_route, masked);
}

// IP, UDP, BTH, METH, RETH and 12 bytes of payload, without ICRC.
const Bytes kOverIpv6 = from_hex(
    "62a01234 0038 11 40 fd000000000000000000000000000001 fd000000000000000000000000000002"
    "abcd 12b7 0038 0000"
    "ca00ffff 00000abc 00000100"
    "0000 0007"
    "00007f0012340000 deadbeef 0000000c"
    "000102030405060708090a0b");
const Bytes kOverIpv4 = from_hex(
    "452a004c 00004000 4011 2682 0a000001 0a000002"
    "abcd 12b7 0038 0000"
    "ca00ffff 00000abc 00000100"
    "0000 0007"
    "00007f0012340000 deadbeef 0000000c"
    "000102030405060708090a0b");

struct BitRange {
  std::size_t first;
  std::size_t count;
  [[nodiscard]] bool has(std::size_t bit) const { return bit >= first && bit < first + count; }
};

// Flips every bit of `packet` in turn.
void expect_only_variant_bits_left_out(const Bytes& packet, const std::vector<BitRange>& variant) {
  const std::uint32_t right = Icrc(packet).value();
  for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
    Bytes flipped = packet;
    flipped[bit / 8] ^= static_cast<std::byte>(0x80u >> bit % 8);
    const bool is_variant =
        std::ranges::any_of(variant, [&](const BitRange& range) { return range.has(bit); });
    EXPECT_EQ(Icrc(flipped).value() == right, is_variant) << "byte " << bit / 8 << " bit " << bit;
  }
}

// WIRE-76
TEST(Icrc, FollowsTheRuleOverIpv6) {
  EXPECT_EQ(Icrc(kOverIpv6).value(), icrc_by_the_book(kOverIpv6));
}

// WIRE-76
TEST(Icrc, FollowsTheRuleOverIpv4) {
  EXPECT_EQ(Icrc(kOverIpv4).value(), icrc_by_the_book(kOverIpv4));
}

// A packet of `size` bytes that begins like `start` and goes on at random.
Bytes grown(const Bytes& start, std::size_t size, Rng& rng) {
  Bytes packet = start;
  packet.resize(size);
  for (std::size_t i = start.size(); i < size; ++i) {
    packet[i] = static_cast<std::byte>(rng.below(256));
  }
  return packet;
}

TEST(Icrc, FollowsTheRuleForPacketsOfAllLengths) {
  // From the shortest that there can be, over the 128 bytes of headers that are copied, to several
  // blocks of what the CRC is computed in.
  Rng rng(7);
  for (const Bytes& start : {kOverIpv6, kOverIpv4}) {
    const std::size_t shortest = (start == kOverIpv4 ? kIpv4Bytes : kIpv6Bytes) + 8 + 12;
    for (std::size_t size = shortest; size < 1200; ++size) {
      const Bytes packet = grown(start, size, rng);
      ASSERT_EQ(Icrc(packet).value(), icrc_by_the_book(packet)) << size << " bytes";
    }
  }
}

TEST(Icrc, DoesNotDependOnWhereThePacketLies) {
  Rng rng(8);
  const Bytes packet = grown(kOverIpv6, 700, rng);
  for (std::size_t offset = 0; offset < 64; ++offset) {
    Bytes buffer(offset);
    buffer.insert(buffer.end(), packet.begin(), packet.end());
    ASSERT_EQ(Icrc(ConstBytes(buffer).subspan(offset)).value(), icrc_by_the_book(packet))
        << "offset " << offset;
  }
}

// WIRE-76
TEST(Icrc, LeavesOutWhatTheNetworkMayChangeInIpv6AndCoversTheRest) {
  const std::size_t udp = kIpv6Bytes * 8;
  expect_only_variant_bits_left_out(kOverIpv6, {{4, 8},           // traffic class
                                                {12, 20},         // flow label
                                                {56, 8},          // hop limit
                                                {udp + 48, 16},   // UDP checksum
                                                {udp + 96, 8}});  // byte 4 of the BTH
}

// WIRE-76
TEST(Icrc, LeavesOutWhatTheNetworkMayChangeInIpv4AndCoversTheRest) {
  const std::size_t udp = kIpv4Bytes * 8;
  expect_only_variant_bits_left_out(kOverIpv4, {{8, 8},           // type of service
                                                {64, 8},          // time to live
                                                {80, 16},         // header checksum
                                                {udp + 48, 16},   // UDP checksum
                                                {udp + 96, 8}});  // byte 4 of the BTH
}

TEST(Icrc, IsTheSameForThePayloadInOnePieceOrInMany) {
  const ConstBytes packet = kOverIpv6;
  const std::uint32_t whole = Icrc(packet).value();
  const std::size_t headers = packet.size() - 12;
  for (std::size_t piece = 1; piece <= 12; ++piece) {
    Icrc icrc(packet.first(headers));
    std::vector<ConstBytes> pieces;
    for (std::size_t at = headers; at < packet.size(); at += piece) {
      pieces.push_back(packet.subspan(at, std::min(piece, packet.size() - at)));
      icrc.update(pieces.back());
      icrc.update({});  // an empty piece changes nothing
    }
    EXPECT_EQ(icrc.value(), whole) << "pieces of " << piece;
    EXPECT_EQ(icrc_of(packet.first(headers), pieces), whole) << "pieces of " << piece;
  }
}

TEST(Icrc, MayBeginWithAnyPartOfTheHeadersFromIpToBthOn) {
  Rng rng(9);
  const Bytes bytes = grown(kOverIpv6, 300, rng);
  const ConstBytes packet = bytes;
  const std::uint32_t whole = Icrc(packet).value();
  for (std::size_t cut = kIpv6Bytes + 8 + 12; cut <= packet.size(); ++cut) {
    Icrc icrc(packet.first(cut));
    icrc.update(packet.subspan(cut));
    EXPECT_EQ(icrc.value(), whole) << "cut at " << cut;
  }
}

// WIRE-35
TEST(Icrc, CoversThePadThatItAdds) {
  const ConstBytes headers = ConstBytes(kOverIpv6).first(kOverIpv6.size() - 12);
  const Bytes payload = from_hex("a0a1a2a3a4a5a6a7");
  for (std::size_t size = 1; size <= payload.size(); ++size) {
    const ConstBytes data = ConstBytes(payload).first(size);
    Bytes padded = Bytes::copy_of(headers);
    padded.insert(padded.end(), data.begin(), data.end());
    padded.resize(headers.size() + padded_size(size));
    EXPECT_EQ(icrc_of(headers, std::array{data}), icrc_by_the_book(padded)) << size << " bytes";
  }
}

TEST(Icrc, PadsTheSumOfThePiecesNotEachPiece) {
  const ConstBytes headers = ConstBytes(kOverIpv6).first(kOverIpv6.size() - 12);
  const Bytes payload = from_hex("a0a1a2a3a4");
  const ConstBytes data = payload;
  EXPECT_EQ(icrc_of(headers, std::array{data.first(3), data.subspan(3)}),
            icrc_of(headers, std::array{data}));
}

TEST(Icrc, OfAControlPacketIsThatOfItsHeaders) {
  EXPECT_EQ(icrc_of(kOverIpv4, {}), Icrc(kOverIpv4).value());
}

TEST(IcrcDeathTest, NeedsTheHeadersWhoseFieldsItMasks) {
  const ConstBytes ipv6 = kOverIpv6;
  EXPECT_DEATH(Icrc{ipv6.first(kIpv6Bytes + 8 + 11)}, "IP, UDP and BTH");
  const ConstBytes ipv4 = kOverIpv4;
  EXPECT_DEATH(Icrc{ipv4.first(kIpv4Bytes + 8 + 11)}, "IP, UDP and BTH");
}

}  // namespace
}  // namespace openmrc::wire
