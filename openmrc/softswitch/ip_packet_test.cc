// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/ip_packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "openmrc/softswitch/address_key.h"
#include "openmrc/softswitch/test_packets.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/field/byte_order.h"
#include "openmrc/wire/trim.h"

namespace openmrc::softswitch {
namespace {

using wire::Ecn;
using wire::TrafficClass;

constexpr wire::DscpMap kDscp;
const Treatments kTreatments{kDscp};

IpPacket read(const Bytes& bytes) {
  IpPacket packet;
  EXPECT_EQ(read_ip_packet(bytes, kTreatments, packet), std::nullopt);
  return packet;
}

Dropped refused(const Bytes& bytes) {
  IpPacket packet;
  return read_ip_packet(bytes, kTreatments, packet);
}

wire::Packet decoded(const Bytes& bytes) {
  auto packet = wire::decode_ip(bytes, {});
  EXPECT_TRUE(packet) << wire::describe(packet.error()).text;
  return packet.value_or(wire::Packet{});
}

const wire::Ipv6Address& outer_destination(const wire::Packet& packet) {
  return std::get<wire::Ipv6Route>(packet.route).encapsulation->destination;
}

// ---- reading ----

TEST(ReadIpPacket, ReadsBothVersions) {
  Bytes ipv6 = write_packet(plain_route());
  ipv6[kHopLimitAt] = std::byte{9};
  EXPECT_TRUE(read(ipv6).is_ipv6);
  EXPECT_EQ(read(ipv6).hops_left, 9);
  EXPECT_EQ(read(ipv6).bytes.size(), ipv6.size());
  EXPECT_TRUE(read(ipv6).treatment.trimmable);

  Bytes ipv4 = write_packet(ipv4_route());
  ipv4[kIpv4HopsAt] = std::byte{7};
  set_ipv4_checksum(ipv4);
  EXPECT_FALSE(read(ipv4).is_ipv6);
  EXPECT_EQ(read(ipv4).hops_left, 7);
  EXPECT_EQ(read(ipv4).bytes.size(), ipv4.size());
  EXPECT_TRUE(read(ipv4).treatment.trimmable);
}

// WIRE-27
TEST(ReadIpPacket, TreatsAPacketAsItsOutermostDscpSays) {
  EXPECT_EQ(read(sack_packet(path_route(carrier_of({1})))).treatment.queue, QueueClass::kControl);
  EXPECT_EQ(read(sack_packet(ipv4_route())).treatment.queue, QueueClass::kControl);
  EXPECT_EQ(read(write_packet(plain_route(), {.traffic_class = TrafficClass::kNoTrim})).treatment,
            Treatment{});
}

TEST(ReadIpPacket, RefusesWhatIsNotIp) {
  EXPECT_EQ(refused({}), Drop::kIpTruncated);
  EXPECT_EQ(refused(Bytes(100, std::byte{0})), Drop::kIpVersionUnknown);
  EXPECT_EQ(refused(Bytes(39, std::byte{0x60})), Drop::kIpTruncated);
  EXPECT_EQ(refused(Bytes(19, std::byte{0x45})), Drop::kIpTruncated);
}

TEST(ReadIpPacket, RefusesIpv4HeadersThatItCannotTrust) {
  Bytes options = write_packet(ipv4_route());
  options[0] = std::byte{0x46};
  set_ipv4_checksum(options);
  EXPECT_EQ(refused(options), Drop::kIpv4Options);

  Bytes damaged = write_packet(ipv4_route());
  damaged[16] ^= std::byte{1};
  EXPECT_EQ(refused(damaged), Drop::kIpv4Checksum);

  Bytes shorter_than_its_header = write_packet(ipv4_route());
  wire::store_be<std::uint16_t>(&shorter_than_its_header[2], 19);
  set_ipv4_checksum(shorter_than_its_header);
  EXPECT_EQ(refused(shorter_than_its_header), Drop::kIpTruncated);
}

TEST(ReadIpPacket, LeavesOutPadding) {
  for (Bytes bytes : {write_packet(plain_route()), write_packet(ipv4_route())}) {
    const std::size_t size = bytes.size();
    bytes.resize(size + 6);
    EXPECT_EQ(read(bytes).bytes.size(), size);
  }
}

TEST(ReadIpPacket, RefusesAPacketThatIsShorterThanItSays) {
  for (Bytes bytes : {write_packet(plain_route()), write_packet(ipv4_route())}) {
    bytes.pop_back();
    EXPECT_EQ(refused(bytes), Drop::kIpTruncated);
  }
}

// MRC 7.5.3: hardware may leave the lengths as they were; receivers accept that, and so must we.
TEST(ReadIpPacket, AcceptsATrimmedPacketThatIsShorterThanItSays) {
  for (const Bytes& whole : {write_packet(plain_route()), write_packet(ipv4_route())}) {
    Bytes trimmed = whole;
    trimmed.resize(wire::trim_packet(trimmed, wire::TrimPlace::kOnPath, kDscp).value());
    if (trimmed[0] == std::byte{0x45}) {
      std::copy_n(&whole[2], 2, &trimmed[2]);
      set_ipv4_checksum(trimmed);
    } else {
      std::copy_n(&whole[4], 2, &trimmed[4]);
    }
    EXPECT_EQ(read(trimmed).bytes.size(), trimmed.size());
    EXPECT_TRUE(read(trimmed).treatment.trimmed);
  }
}

// ---- flows ----

TEST(FlowHash, DependsOnWhatMakesAFlowAndOnNothingElse) {
  const auto hash = [](const Bytes& bytes) { return flow_hash(read(bytes), 1); };
  const Bytes packet = write_packet(plain_route());
  // Where a byte stands that makes a flow; flow label, both addresses, both UDP ports.
  for (const std::size_t at : {1u, 2u, 3u, 8u, 23u, 24u, 39u, 40u, 41u, 42u, 43u}) {
    Bytes other = packet;
    other[at] ^= std::byte{1};
    EXPECT_NE(hash(other), hash(packet)) << "byte " << at;
  }
  // Traffic class, hop limit, UDP checksum, transport header.
  for (const std::size_t at : {7u, 46u, 48u, 59u}) {
    Bytes other = packet;
    other[at] ^= std::byte{1};
    EXPECT_EQ(hash(other), hash(packet)) << "byte " << at;
  }
  Bytes marked = packet;
  mark_congested(marked);
  EXPECT_EQ(hash(marked), hash(packet));
}

TEST(FlowHash, OfIpv4DependsOnAddressesAndPorts) {
  const auto hash = [](Bytes bytes) {
    set_ipv4_checksum(bytes);
    return flow_hash(read(bytes), 1);
  };
  const Bytes packet = write_packet(ipv4_route());
  for (const std::size_t at : {12u, 15u, 16u, 19u, 20u, 23u}) {
    Bytes other = packet;
    other[at] ^= std::byte{1};
    EXPECT_NE(hash(other), hash(packet)) << "byte " << at;
  }
  for (const std::size_t at : {4u, 8u, 26u, 28u}) {
    Bytes other = packet;
    other[at] ^= std::byte{1};
    EXPECT_EQ(hash(other), hash(packet)) << "byte " << at;
  }
}

TEST(FlowHash, SendsAllFragmentsTheSameWay) {
  Bytes first = write_packet(ipv4_route());
  first[6] = std::byte{0x20};  // more fragments
  set_ipv4_checksum(first);
  Bytes later = write_packet(ipv4_route());
  later[6] = std::byte{0};
  later[7] = std::byte{100};  // fragment offset
  later[20] ^= std::byte{0xff};
  set_ipv4_checksum(later);
  EXPECT_EQ(flow_hash(read(first), 1), flow_hash(read(later), 1));
}

TEST(FlowHash, ReadsNoPortsWhereThereIsNoUdp) {
  Bytes tcp = write_packet(plain_route());
  tcp[6] = std::byte{6};
  Bytes other = tcp;
  other[40] ^= std::byte{1};
  EXPECT_EQ(flow_hash(read(tcp), 1), flow_hash(read(other), 1));
  Bytes cut = write_packet(plain_route());
  cut.resize(44);
  wire::store_be<std::uint16_t>(&cut[4], 4);
  Bytes cut_other = cut;
  cut_other[40] ^= std::byte{1};
  EXPECT_EQ(flow_hash(read(cut), 1), flow_hash(read(cut_other), 1));
}

TEST(FlowHash, DependsOnTheSeed) {
  const Bytes bytes = write_packet(plain_route());
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) hashes.insert(flow_hash(read(bytes), seed));
  EXPECT_EQ(hashes.size(), 100u);
}

// ---- passing ----

TEST(Pass, TakesAHopAndChangesNothingElse) {
  const Bytes before = write_packet(plain_route());
  Bytes after = before;
  pass(after, Rewrite::kNone);
  EXPECT_EQ(after[kHopLimitAt], std::byte{63});
  after[kHopLimitAt] = before[kHopLimitAt];
  EXPECT_EQ(after, before);
}

TEST(Pass, KeepsTheChecksumOfIpv4) {
  Bytes after = write_packet(ipv4_route());
  pass(after, Rewrite::kNone);
  EXPECT_EQ(after[kIpv4HopsAt], std::byte{63});
  EXPECT_EQ(read(after).hops_left, 63);
  decoded(after);
}

// MRC 9.2 (WIRE-22)
TEST(Pass, ShiftsUsidsByOne) {
  Bytes bytes = write_packet(path_route(carrier_of({1, 2, 3, 4, 5, 6})));
  pass(bytes, Rewrite::kShift);
  EXPECT_EQ(outer_destination(decoded(bytes)), carrier_of({2, 3, 4, 5, 6}));
  for (int i = 0; i < 5; ++i) pass(bytes, Rewrite::kShift);
  EXPECT_EQ(outer_destination(decoded(bytes)), carrier_of({}));
  EXPECT_EQ(bytes[kHopLimitAt], std::byte{64 - 6});
}

// MRC 9.2
TEST(Pass, PutsTheNextSegmentInPlace) {
  const wire::Srh srh{.segment = carrier_of({7, 8}), .segments_left = 1};
  Bytes bytes = write_packet(path_route(carrier_of({1}), srh));
  pass(bytes, Rewrite::kNextSegment);
  const wire::Packet packet = decoded(bytes);
  EXPECT_EQ(outer_destination(packet), carrier_of({7, 8}));
  EXPECT_EQ(std::get<wire::Ipv6Route>(packet.route).encapsulation->srh,
            (wire::Srh{.segment = carrier_of({7, 8}), .segments_left = 0}));
}

// ---- marking ----

TEST(MarkCongested, MarksWhatIsCapableOfIt) {
  for (Bytes bytes : {write_packet(plain_route(), {.ecn = Ecn::kCapable0}),
                      write_packet(plain_route(), {.ecn = Ecn::kCapable1}),
                      write_packet(ipv4_route(), {.ecn = Ecn::kCapable0}),
                      write_packet(ipv4_route(), {.ecn = Ecn::kCapable1})}) {
    EXPECT_TRUE(mark_congested(bytes));
    EXPECT_EQ(decoded(bytes).ecn, Ecn::kCongested);
    EXPECT_EQ(decoded(bytes).traffic_class, TrafficClass::kTrimmable);
  }
}

TEST(MarkCongested, LeavesOthersAsTheyAre) {
  for (const Ecn ecn : {Ecn::kNotCapable, Ecn::kCongested}) {
    for (const Bytes& before : {write_packet(plain_route(), {.ecn = ecn}),
                                write_packet(path_route(carrier_of({1, 2})), {.ecn = ecn}),
                                write_packet(ipv4_route(), {.ecn = ecn})}) {
      Bytes after = before;
      EXPECT_FALSE(mark_congested(after));
      EXPECT_EQ(after, before);
    }
  }
}

// What is inside an encapsulated packet, once the outer headers are gone.
Bytes inner_of(const Bytes& packet) {
  const std::size_t at = packet[6] == std::byte{43} ? 64 : 40;
  return {packet.begin() + static_cast<std::ptrdiff_t>(at), packet.end()};
}

TEST(MarkCongested, MarksTheInnerHeaderAsWell) {
  const wire::Srh srh{.segment = carrier_of({7}), .segments_left = 1};
  for (Bytes bytes : {write_packet(path_route(carrier_of({1, 2}))),
                      write_packet(path_route(carrier_of({1, 2}), srh))}) {
    EXPECT_TRUE(mark_congested(bytes));
    EXPECT_EQ(decoded(bytes).ecn, Ecn::kCongested);
    EXPECT_EQ(decoded(inner_of(bytes)).ecn, Ecn::kCongested);
  }
}

TEST(MarkCongested, MarksTheOuterHeaderAloneIfItIsToDoAsHardware) {
  Bytes bytes = write_packet(path_route(carrier_of({1, 2})));
  const Bytes inner = inner_of(bytes);
  EXPECT_TRUE(mark_congested(bytes, wire::MarkedHeaders::kOutermost));
  EXPECT_EQ(decoded(bytes).ecn, Ecn::kCongested);
  EXPECT_EQ(inner_of(bytes), inner);
}

TEST(MarkCongested, DoesNotMarkAnInnerHeaderThatIsNotCapable) {
  Bytes bytes = write_packet(path_route(carrier_of({1, 2})));
  bytes[40 + 1] &= std::byte{0x0f};
  EXPECT_TRUE(mark_congested(bytes));
  EXPECT_EQ(decoded(inner_of(bytes)).ecn, Ecn::kNotCapable);
}

TEST(MarkCongested, LooksForNoInnerHeaderBehindTheEnd) {
  for (const std::size_t size : {40u, 41u, 63u, 79u}) {
    Bytes bytes = write_packet(path_route(carrier_of({1, 2})));
    bytes.resize(size);
    EXPECT_TRUE(mark_congested(bytes));
  }
  Bytes routing = write_packet(
      path_route(carrier_of({1, 2}), wire::Srh{.segment = carrier_of({7}), .segments_left = 1}));
  routing.resize(60);
  EXPECT_TRUE(mark_congested(routing));
}

}  // namespace
}  // namespace openmrc::softswitch
