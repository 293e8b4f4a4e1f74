// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/capture/dissection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/trim.h"

namespace openmrc::wire {
namespace {

using Bytes = std::vector<std::byte>;

const Bytes& payload() {
  static const Bytes bytes(100, std::byte{0x5a});
  return bytes;
}

Packet srv6_write() {
  const Usid path[] = {Usid(0x0001), Usid(0x0102), Usid(0x0e01)};
  return {.route = Ipv6Route{.source = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}),
                             .destination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2}),
                             .ev = Ev(0x0003c001),
                             .encapsulation =
                                 SrEncapsulation{.destination =
                                                     UsidCarrier::of(0xfcbbbb00, path)->address()}},
          .traffic_class = TrafficClass::kTrimmable,
          .ecn = Ecn::kCapable0,
          .transport = {.body = RdmaWrite{.destination_qp = Qpn(0x2a),
                                          .psn = Psn(1207),
                                          .part = MessagePart::only(Immediate(7)),
                                          .sent = TxTimestamp{.ticks = 5},
                                          .reth = {.virtual_address = 0x1000, .dma_length = 100},
                                          .payload = Payload::of_bytes(payload())}}};
}

Bytes bytes_of(const Packet& packet) {
  Bytes bytes(encoded_size(packet));
  encode_packet(packet, WireSettings{}, bytes);
  return bytes;
}

std::vector<std::string> layer_names(const Dissection& dissection) {
  std::vector<std::string> names;
  for (const DissectedLayer& layer : dissection.layers) names.push_back(layer.name);
  return names;
}

const DissectedField& field(const Dissection& dissection, std::string_view layer_name,
                            std::string_view field_name) {
  const auto layer = std::ranges::find(dissection.layers, layer_name, &DissectedLayer::name);
  const auto found = std::ranges::find(layer->fields, field_name, &DissectedField::name);
  return *found;
}

TEST(Dissection, ShowsEveryLayerOfAnEncapsulatedWrite) {
  const auto seen = dissect(bytes_of(srv6_write()), LinkType::kRawIp, WireSettings{});
  EXPECT_EQ(layer_names(seen),
            (std::vector<std::string>{"IPv6", "IPv6 (inner)", "UDP", "BTH", "METH", "TSETH", "RETH",
                                      "ImmDt", "Payload", "ICRC"}));
  EXPECT_TRUE(seen.verdict.has_value());
  EXPECT_EQ(std::get<std::string>(field(seen, "IPv6", "usids").value), "0001 > 0102 > 0e01");
  EXPECT_EQ(std::get<std::string>(field(seen, "UDP", "ev").value), "0x0003c001");
  EXPECT_EQ(std::get<std::uint64_t>(field(seen, "BTH", "psn").value), 1207u);
  EXPECT_EQ(field(seen, "BTH", "opcode").note, "WRITE Only+Imm");
  EXPECT_EQ(field(seen, "ICRC", "icrc").note, "right");
  EXPECT_EQ(field(seen, "IPv6", "traffic_class").note, "DSCP 10 TRIMMABLE, ECN capable (0)");
}

TEST(Dissection, LayersCoverTheBytesWithoutAGap) {
  const Bytes bytes = bytes_of(srv6_write());
  const auto seen = dissect(bytes, LinkType::kRawIp, WireSettings{});
  std::size_t end = 0;
  for (const DissectedLayer& layer : seen.layers) {
    EXPECT_EQ(layer.offset, end) << layer.name;
    end += layer.size;
  }
  EXPECT_EQ(end, bytes.size());
}

TEST(Dissection, ShowsWhatATrimLeft) {
  Bytes bytes = bytes_of(srv6_write());
  bytes.resize(trim_packet(bytes, TrimPlace::kOnPath, DscpMap{}).value());
  const auto seen = dissect(bytes, LinkType::kRawIp, WireSettings{});
  EXPECT_EQ(layer_names(seen).back(), "Rest");
  ASSERT_TRUE(seen.verdict.has_value());
  EXPECT_EQ(summarize(*seen.verdict), "WRITE Only+Imm qp 0x00002a psn 1207 msn 0 ts trimmed");
}

TEST(Dissection, ShowsACorruptedPacketWithTheReason) {
  Bytes bytes = bytes_of(srv6_write());
  bytes.back() ^= std::byte{1};
  const auto seen = dissect(bytes, LinkType::kRawIp, WireSettings{});
  ASSERT_FALSE(seen.verdict.has_value());
  EXPECT_EQ(seen.verdict.error(), Reject::kIcrcMismatch);
  EXPECT_TRUE(field(seen, "ICRC", "icrc").note.starts_with("wrong, expected 0x"));
}

TEST(Dissection, ShowsTheLayersOfADatagram) {
  Packet packet = srv6_write();
  packet.transport.body = UdSend{.destination_qp = Qpn(0x2a),
                                 .deth = {.qkey = QKey(0x11), .source_qp = Qpn(0x2b)},
                                 .immediate = Immediate(7),
                                 .payload = Payload::of_bytes(payload())};
  const auto seen = dissect(bytes_of(packet), LinkType::kRawIp, WireSettings{});
  EXPECT_EQ(layer_names(seen), (std::vector<std::string>{"IPv6", "IPv6 (inner)", "UDP", "BTH",
                                                         "DETH", "ImmDt", "Payload", "ICRC"}));
  EXPECT_TRUE(seen.verdict.has_value());
  EXPECT_EQ(field(seen, "BTH", "opcode").note, "UD SEND Only+Imm");
  EXPECT_EQ(std::get<std::string>(field(seen, "DETH", "qkey").value), "0x00000011");
  EXPECT_EQ(std::get<std::string>(field(seen, "DETH", "sqp").value), "0x00002b");
}

TEST(Dissection, ShowsReservedBitsThatAreNotZero) {
  Packet packet = srv6_write();
  packet.transport.body = ReliabilityProbe{.destination_qp = Qpn(5)};
  Bytes bytes = bytes_of(packet);
  const std::size_t peth_at = bytes.size() - kIcrcSize - kPethSize;
  bytes[peth_at + 6] = std::byte{0xab};
  const auto seen = dissect(bytes, LinkType::kRawIp, WireSettings{});
  EXPECT_EQ(std::get<std::string>(field(seen, "PETH", "reserved2").value), "0xab00");
  EXPECT_EQ(field(seen, "PETH", "reserved2").note, "reserved, should be 0");
}

TEST(Dissection, EveryPrefixIsShownAsFarAsItGoes) {
  const Bytes bytes = bytes_of(srv6_write());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto seen = dissect(prefix, LinkType::kRawIp, WireSettings{});
    EXPECT_FALSE(seen.verdict.has_value()) << size;
    std::size_t end = 0;
    for (const DissectedLayer& layer : seen.layers) end += layer.size;
    EXPECT_EQ(end, size);
  }
}

TEST(Summary, SaysWhatEachPacketSays) {
  Packet packet = srv6_write();
  EXPECT_EQ(
      summarize(packet),
      "WRITE Only+Imm qp 0x00002a psn 1207 msn 0 len 100 of 100 va 0x1000 rkey 0x00000000 imm "
      "0x00000007 ts");
  packet.transport.body = Sack{.destination_qp = Qpn(5),
                               .seth = {.mark = PathMark::kSkipOnce,
                                        .trigger = SackTrigger::packet(-2),
                                        .entropy = Ev(0xab),
                                        .cack_psn = Psn(10),
                                        .sack_offset = 1,
                                        .sack_bitmap = 5}};
  EXPECT_EQ(
      summarize(packet),
      "SACK qp 0x000005 cack 10 trigger -2 mark SKIP_ONCE bitmap 0x0000000000000005 from +1 ev "
      "0x000000ab");
  packet.transport.body = Nack{.destination_qp = Qpn(5),
                               .neth = {.reason = NackReason::kPsnOutOfWindow, .psn = Psn(9)}};
  EXPECT_EQ(summarize(packet), "NACK PSN_OOR_WINDOW qp 0x000005 psn 9 ev 0x00000000");
  packet.transport.body = Acknowledge{
      .destination_qp = Qpn(5), .psn = Psn(9), .aeth = {.syndrome = AckSyndrome::kNakRemoteAccess}};
  EXPECT_EQ(summarize(packet), "NAK remote access error qp 0x000005 psn 9 msn 0");
  packet.transport.body = UdSend{.destination_qp = Qpn(5),
                                 .psn = Psn(9),
                                 .deth = {.qkey = QKey(0x11), .source_qp = Qpn(0x2b)},
                                 .immediate = Immediate(7),
                                 .payload = Payload::of_bytes(payload())};
  EXPECT_EQ(summarize(packet), "UD SEND qp 0x000005 from qp 0x00002b psn 9 len 100 imm 0x00000007");
  EXPECT_EQ(source_of(packet), "fd00::1");
  EXPECT_EQ(destination_of(packet), "fd00::2");
}

}  // namespace
}  // namespace openmrc::wire
