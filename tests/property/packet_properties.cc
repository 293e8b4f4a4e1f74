// SPDX-License-Identifier: BSD-3-Clause
// What holds for every packet and for all bytes. RapidCheck chooses, and shrinks what fails; the
// million-packet run uses our own generator, so that it is the same on every machine.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/plain_sack.h"
#include "openmrc/wire/plain_write.h"
#include "openmrc/wire/trim.h"
#include "tests/support/arbitrary_packet.h"

namespace openmrc {
namespace {

using namespace openmrc::wire;
using test::Choices;

constexpr WireSettings kBothPorts{.udp_port_alternate = kUdpPortAlternate};
constexpr WireSettings kBothPortsNoIcrc{.udp_port_alternate = kUdpPortAlternate,
                                        .icrc_check = IcrcCheck::kSkip};

std::vector<std::byte> encode(const Packet& packet) {
  std::vector<std::byte> bytes(encoded_size(packet));
  const std::size_t size = encode_packet(packet, kBothPorts, bytes);
  EXPECT_EQ(size, bytes.size());
  return bytes;
}

Packet packet_of(const std::vector<std::uint64_t>& numbers) {
  Choices choices(numbers);
  return test::arbitrary_packet(choices);
}

// Choices that RapidCheck can shrink.
rc::Gen<std::vector<std::uint64_t>> any_choices() {
  return rc::gen::container<std::vector<std::uint64_t>>(test::kChoicesPerPacket,
                                                        rc::gen::arbitrary<std::uint64_t>());
}

#define OPENMRC_HOLDS(description, ...)               \
  do {                                                \
    EXPECT_TRUE(rc::check(description, __VA_ARGS__)); \
  } while (false)

// Decodes hostile bytes both ways. A crash or a sanitizer report is the failure; besides, a reason
// is always one of the table, and a record can be encoded again.
void expect_reason_or_record(ConstBytes bytes) {
  for (const WireSettings& settings : {kBothPorts, kBothPortsNoIcrc}) {
    const auto decoded = decode_ip(bytes, settings);
    if (decoded) {
      std::vector<std::byte> again(encoded_size(*decoded));
      encode_packet(*decoded, settings, again);
    } else {
      RC_ASSERT(static_cast<std::size_t>(decoded.error()) < kRejectTable.size());
      RC_ASSERT(!describe(decoded.error()).text.empty());
    }
  }
}

TEST(PacketProperty, AnyRecordEncodesAndDecodesToItself) {
  OPENMRC_HOLDS("decode(encode(x)) == x", [] {
    const Packet packet = packet_of(*any_choices());
    const std::vector<std::byte> bytes = encode(packet);
    const auto decoded = decode_ip(bytes, kBothPorts);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(test::same_packet(packet, *decoded));
  });
}

TEST(PacketProperty, AnyPrefixGivesAReasonOrARecord) {
  OPENMRC_HOLDS("prefixes", [] {
    const std::vector<std::byte> bytes = encode(packet_of(*any_choices()));
    const auto size = *rc::gen::inRange<std::size_t>(0, bytes.size());
    // A copy of its own, so that the sanitizer sees a read past the end.
    const std::vector<std::byte> prefix(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
    expect_reason_or_record(prefix);
  });
}

TEST(PacketProperty, AnyFlippedBitGivesAReasonOrARecord) {
  OPENMRC_HOLDS("bit flips", [] {
    std::vector<std::byte> bytes = encode(packet_of(*any_choices()));
    const auto flips = *rc::gen::inRange(1, 4);
    for (int i = 0; i < flips; ++i) {
      // Headers matter more than payload.
      const auto bit =
          *rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(bytes.size(), 170) * 8);
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
    expect_reason_or_record(bytes);
  });
}

TEST(PacketProperty, RandomBytesGiveAReasonOrARecord) {
  OPENMRC_HOLDS("random bytes", [] {
    const auto numbers = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
    std::vector<std::byte> bytes(numbers.size());
    std::ranges::transform(numbers, bytes.begin(), [](auto n) { return std::byte{n}; });
    expect_reason_or_record(bytes);
    static_cast<void>(decode_frame(bytes, kBothPorts));
    static_cast<void>(decode_transport(bytes, std::nullopt));
    static_cast<void>(decode_transport(bytes, TrimPlace::kOnPath));
    static_cast<void>(trim_packet(bytes, TrimPlace::kOnPath, kBothPorts.dscp));
  });
}

// Corruption of what the ICRC covers never goes unnoticed when it is one bit (WIRE-76).
TEST(PacketProperty, OneFlippedBitUnderTheIcrcIsNoticed) {
  OPENMRC_HOLDS("icrc", [] {
    const Packet packet = packet_of(*any_choices());
    RC_PRE(std::holds_alternative<RdmaWrite>(packet.transport.body));
    std::vector<std::byte> bytes = encode(packet);
    const std::size_t payload = std::get<RdmaWrite>(packet.transport.body).payload.size();
    const auto from_end = *rc::gen::inRange<std::size_t>(1, 4 + pad_count(payload) + payload + 1);
    bytes[bytes.size() - from_end] ^= std::byte{0x10};
    const auto decoded = decode_ip(bytes, kBothPorts);
    RC_ASSERT(!decoded.has_value());
    RC_ASSERT(decoded.error() == Reject::kIcrcMismatch);
  });
}

// The short ways through the decoder.
bool fill_shortly(ConstBytes bytes, Packet& packet) {
  return fill_plain_write(bytes, kBothPortsNoIcrc, packet) ||
         fill_plain_sack(bytes, kBothPortsNoIcrc, packet);
}

// The short ways through the decoder and the general one agree on all bytes.
void expect_same_by_both_ways(ConstBytes bytes) {
  Packet quick;
  if (!fill_shortly(bytes, quick)) return;
  // The general decoder is reached through an Ethernet frame's padding: one byte more than the IP
  // header states, and the short way declines.
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});
  Packet unused;
  ASSERT_FALSE(fill_shortly(longer, unused));
  const auto general = decode_ip(longer, kBothPortsNoIcrc);
  ASSERT_TRUE(general.has_value());
  ASSERT_TRUE(test::same_packet(quick, *general));
}

TEST(PacketProperty, TheShortWayAgreesWithTheGeneralOne) {
  Rng rng(1);
  int writes = 0;
  int sacks = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> bytes = encode(packet_of(test::random_choices(rng)));
    const auto flips = rng.below(3);
    for (std::uint64_t flip = 0; flip < flips; ++flip) {
      bytes[rng.below(std::min<std::size_t>(bytes.size(), 90))] ^=
          static_cast<std::byte>(1u << rng.below(8));
    }
    Packet packet;
    writes += fill_plain_write(bytes, kBothPortsNoIcrc, packet) ? 1 : 0;
    sacks += fill_plain_sack(bytes, kBothPortsNoIcrc, packet) ? 1 : 0;
    expect_same_by_both_ways(bytes);
  }
  EXPECT_GT(writes, 1'000);
  EXPECT_GT(sacks, 100);
}

// Trimming keeps what a receiver needs to ask for the packet again.
TEST(PacketProperty, ATrimmedPacketStillNamesItself) {
  OPENMRC_HOLDS("trim", [] {
    Packet packet = packet_of(*any_choices());
    RC_PRE(std::holds_alternative<RdmaWrite>(packet.transport.body));
    packet.traffic_class =
        *rc::gen::element(TrafficClass::kTrimmable, TrafficClass::kTrimmableRetransmission);
    const auto& write = std::get<RdmaWrite>(packet.transport.body);
    std::vector<std::byte> bytes = encode(packet);
    const auto place = *rc::gen::element(TrimPlace::kOnPath, TrimPlace::kLastHop);
    const auto size = trim_packet(bytes, place, kBothPorts.dscp);
    RC_ASSERT(size.has_value());
    RC_ASSERT(*size <= bytes.size());
    bytes.resize(*size);
    const auto decoded = decode_ip(bytes, kBothPorts);
    RC_ASSERT(decoded.has_value());
    const auto& trimmed = std::get<TrimmedWrite>(decoded->transport.body);
    RC_ASSERT(trimmed.place == place);
    RC_ASSERT(trimmed.destination_qp == write.destination_qp);
    RC_ASSERT(trimmed.psn == write.psn);
    RC_ASSERT(trimmed.kind == write.part.kind());
    RC_ASSERT(trimmed.meth == write.meth);
    RC_ASSERT(trimmed.sent == write.sent);
    RC_ASSERT(ev_of(*decoded) == ev_of(packet));
  });
}

TEST(PacketProperty, AMillionRandomPacketsComeBackAsTheyWere) {
  constexpr int kPackets = 1'000'000;
  Rng rng(2026);
  std::vector<std::byte> bytes;
  for (int i = 0; i < kPackets; ++i) {
    const std::vector<std::uint64_t> numbers = test::random_choices(rng);
    const Packet packet = packet_of(numbers);
    bytes.resize(encoded_size(packet));
    ASSERT_EQ(encode_packet(packet, kBothPorts, bytes), bytes.size());
    const auto decoded = decode_ip(bytes, kBothPorts);
    ASSERT_TRUE(decoded.has_value()) << "packet " << i << ": " << describe(decoded.error()).text;
    ASSERT_TRUE(test::same_packet(packet, *decoded)) << "packet " << i;
  }
}

}  // namespace
}  // namespace openmrc
