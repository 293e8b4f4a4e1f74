// SPDX-License-Identifier: BSD-3-Clause
// Where packets go and what becomes of their bytes, for every switch and every packet; and that
// hostile bytes do no harm. RapidCheck chooses, and shrinks what fails. The model in this file says
// what should happen in the plainest way there is; it shares no code with the switch.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "openmrc/wire/decode.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/ipv4.h"
#include "tests/property/softswitch_support.h"
#include "tests/support/arbitrary_packet.h"

namespace openmrc::softswitch {
namespace {

using test::Choices;
using wire::Ipv4Address;
using wire::Ipv4Route;
using wire::Ipv6Address;
using wire::Ipv6Route;
using wire::Packet;
using wire::Usid;

PortIndex any_port(Choices& c, std::size_t ports) { return port(c.below(ports)); }

// Few different values, so that prefixes cover addresses and uSIDs are known.
Usid any_usid(Choices& c) {
  constexpr std::uint16_t kUsids[] = {1, 1, 1, 2, 3, 4, 0x100, 0xffff};
  return Usid(c.one_of(kUsids));
}

Ipv6Address any_carrier(Choices& c) {
  Ipv6Address address = Ipv6Address::of({0xfcbb, 0xbb00, 0, 0, 0, 0, 0, 0});
  const std::size_t usids = c.flag() ? 1 : c.below(7);
  for (std::size_t i = 0; i < usids; ++i) {
    address.set_group(2 + i, c.below(8) == 7 ? 0 : any_usid(c).raw());
  }
  return address;
}

Ipv6Address any_host(Choices& c) {
  Ipv6Address address;
  for (const std::size_t group : {0u, 3u, 4u, 7u}) {
    constexpr std::uint16_t kGroups[] = {0, 1, 0x8000, 0xfd00, 0xffff};
    address.set_group(group, c.one_of(kGroups));
  }
  return address;
}

Ipv4Address any_ipv4_host(Choices& c) {
  constexpr std::uint32_t kHosts[] = {0, 0x0a000001, 0x0a000002, 0x0a010001, 0xffffffff};
  return Ipv4Address(c.one_of(kHosts));
}

Ipv6Address any_destination(Choices& c) { return c.flag() ? any_carrier(c) : any_host(c); }

bool bit_of(const Ipv6Address& address, std::size_t bit) {
  return (std::to_integer<unsigned>(address.bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0;
}

Ipv6Address cut(Ipv6Address address, std::size_t length) {
  for (std::size_t bit = length; bit < 128; ++bit) {
    address.bytes[bit / 8] &= static_cast<std::byte>(~(1u << (7 - bit % 8)));
  }
  return address;
}

Prefix any_prefix(Choices& c) {
  if (c.below(3) == 0) {
    constexpr std::uint8_t kLengths[] = {0, 8, 15, 16, 31, 32};
    const std::uint8_t length = c.one_of(kLengths);
    const Prefix whole = Prefix::of(any_ipv4_host(c), length);
    return {cut(whole.address, whole.length), whole.length};
  }
  constexpr std::uint8_t kLengths[] = {0, 1, 16, 63, 64, 65, 79, 80, 127, 128};
  const std::uint8_t length = c.one_of(kLengths);
  return {cut(any_host(c), length), length};
}

SwitchSettings any_switch(Choices& c) {
  SwitchSettings settings;
  settings.buffers = 8;
  settings.seed = c.bits(64);
  const std::size_t ports = 1 + c.below(8);
  settings.ports.assign(ports,
                        {.data_max_bytes = 100'000, .control_max_bytes = 100'000, .trims = false});
  ForwardingSettings& forwarding = settings.forwarding;
  forwarding.block = kBlock;
  forwarding.own = c.below(4) == 0 ? Usid(0) : any_usid(c);
  std::map<Usid, PortIndex> usids;
  for (std::size_t i = c.below(6); i > 0; --i) usids[any_usid(c)] = any_port(c, ports);
  for (const auto& [usid, leads_to] : usids) forwarding.usids.push_back({usid, leads_to});
  for (std::size_t i = c.below(10); i > 0; --i) {
    PrefixRoute route{.prefix = any_prefix(c)};
    for (std::size_t n = 1 + c.below(3); n > 0; --n) route.ports.push_back(any_port(c, ports));
    const auto& all = forwarding.prefixes;
    if (std::ranges::find(all, route.prefix, &PrefixRoute::prefix) == all.end()) {
      forwarding.prefixes.push_back(route);
    }
  }
  return settings;
}

// What should become of a packet: it leaves by one of the ports as `packet`, or is dropped.
struct Expected {
  Packet packet{};
  std::set<PortIndex> ports{};
  std::optional<Drop> drop{};
};

// Forwarding, bit by bit and one route after the other.
class ForwardingModel {
 public:
  explicit ForwardingModel(const ForwardingSettings& settings) : settings_(settings) {}

  [[nodiscard]] Expected forward(const Packet& packet, unsigned hops_left) const {
    Expected expected{.packet = packet};
    if (hops_left <= 1) {
      expected.drop = Drop::kHopLimit;
    } else if (const auto* ipv4 = std::get_if<Ipv4Route>(&packet.route)) {
      by_prefix(wire::mapped(ipv4->destination), expected);
    } else {
      forward_ipv6(std::get<Ipv6Route>(expected.packet.route), expected);
    }
    return expected;
  }

 private:
  void forward_ipv6(Ipv6Route& route, Expected& expected) const {
    Ipv6Address& destination =
        route.encapsulation ? route.encapsulation->destination : route.destination;
    const wire::UsidCarrier carrier(destination);
    const bool own = carrier.block() == settings_.block && settings_.own != Usid(0) &&
                     carrier.active() == settings_.own;
    if (own) {
      const Ipv6Address shifted = carrier.shift().address();
      if (shifted == cut(shifted, 32)) {
        if (!next_segment(route)) {
          expected.drop = Drop::kPathEnded;
          return;
        }
      } else {
        destination = shifted;
      }
    }
    if (wire::UsidCarrier(destination).block() == settings_.block) {
      by_usid(wire::UsidCarrier(destination).active(), expected);
    } else {
      by_prefix(destination, expected);
    }
  }

  static bool next_segment(Ipv6Route& route) {
    if (!route.encapsulation || !route.encapsulation->srh) return false;
    wire::Srh& srh = *route.encapsulation->srh;
    if (srh.segments_left == 0) return false;
    route.encapsulation->destination = srh.segment;
    srh.segments_left = 0;
    return true;
  }

  void by_usid(Usid usid, Expected& expected) const {
    for (const UsidRoute& route : settings_.usids) {
      if (route.usid == usid) expected.ports = {route.port};
    }
    if (expected.ports.empty()) expected.drop = Drop::kUsidUnknown;
  }

  void by_prefix(const Ipv6Address& address, Expected& expected) const {
    int longest = -1;
    for (const PrefixRoute& route : settings_.prefixes) {
      const auto length = static_cast<int>(route.prefix.length);
      if (length > longest && covers(route.prefix, address)) {
        longest = length;
        expected.ports = {route.ports.begin(), route.ports.end()};
      }
    }
    if (expected.ports.empty()) expected.drop = Drop::kNoRoute;
  }

  static bool covers(const Prefix& prefix, const Ipv6Address& address) {
    if (wire::is_mapped_ipv4(address) && prefix.length < 96) return false;
    for (std::size_t bit = 0; bit < prefix.length; ++bit) {
      if (bit_of(prefix.address, bit) != bit_of(address, bit)) return false;
    }
    return true;
  }

  const ForwardingSettings& settings_;
};

// Any packet, to somewhere that the switch may know.
Packet any_addressed_packet(Choices& c) {
  Packet packet = test::arbitrary_packet(c);
  if (auto* ipv4 = std::get_if<Ipv4Route>(&packet.route)) {
    ipv4->destination = any_ipv4_host(c);
    return packet;
  }
  auto& route = std::get<Ipv6Route>(packet.route);
  route.destination = any_destination(c);
  if (route.encapsulation) {
    route.encapsulation->destination = any_destination(c);
    if (route.encapsulation->srh) route.encapsulation->srh->segment = any_destination(c);
  }
  return packet;
}

void set_hops_left(Bytes& bytes, unsigned hops) {
  const bool is_ipv4 = std::to_integer<unsigned>(bytes[0] >> 4) == 4;
  bytes[is_ipv4 ? 8 : 7] = static_cast<std::byte>(hops);
  if (is_ipv4) wire::set_ipv4_checksum(std::span(bytes).first<wire::kIpv4Size>());
}

unsigned hops_left(ConstBytes bytes) {
  const bool is_ipv4 = std::to_integer<unsigned>(bytes[0] >> 4) == 4;
  return std::to_integer<unsigned>(bytes[is_ipv4 ? 8 : 7]);
}

void expect_forwarded_as_modelled(Switch& it, const ForwardingModel& model, Choices& c,
                                  Tally& tally) {
  const Packet packet = any_addressed_packet(c);
  constexpr unsigned kHops[] = {64, 2, 255, 1, 0};
  const unsigned hops = c.one_of(kHops);
  Bytes bytes = encode(packet);
  set_hops_left(bytes, hops);
  const Expected expected = model.forward(packet, hops);
  const auto way = it.receive(any_port(c, it.ports()), bytes);
  if (expected.drop) {
    tally.dropped.count(*expected.drop);
    RC_ASSERT(!way.has_value());
    RC_ASSERT(way.error() == *expected.drop);
    RC_ASSERT(it.packets_waiting() == 0u);
    return;
  }
  ++tally.forwarded;
  RC_ASSERT(way.has_value());
  RC_ASSERT(expected.ports.contains(*way));
  for (std::size_t i = 0; i < it.ports(); ++i) {
    const ConstBytes out = it.transmit(port(i));
    RC_ASSERT(out.empty() == (port(i) != *way));
    if (out.empty()) continue;
    RC_ASSERT(hops_left(out) == hops - 1);
    const auto decoded = wire::decode_ip(out, kBothPortsNoIcrc);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(test::same_packet(*decoded, expected.packet));
  }
}

// MRC 9.2, 9.3.3
TEST(SwitchProperty, NothingLeavesByAWrongPortNorAsAnotherPacket) {
  Tally tally;
  OPENMRC_HOLDS("forwarding", [&tally] {
    const auto numbers = any_choices(6 * test::kChoicesPerPacket);
    Choices c(numbers);
    const SwitchSettings settings = any_switch(c);
    auto made = Switch::make(settings);
    RC_ASSERT(made.has_value());
    const ForwardingModel model(settings.forwarding);
    for (int i = 0; i < 3; ++i) {
      expect_forwarded_as_modelled(*made, model, c, tally);
      expect_packet_accounting(*made);
    }
  });
  expect_all_seen(tally, {Drop::kHopLimit, Drop::kPathEnded, Drop::kUsidUnknown, Drop::kNoRoute});
}

// ---- hostile bytes ----

void expect_survival(const std::vector<Bytes>& packets, Tally& tally) {
  constexpr std::size_t kPorts = 3;
  SwitchSettings settings;
  settings.forwarding.block = kBlock;
  settings.forwarding.own = Usid(1);
  settings.forwarding.usids = {{Usid(2), port(0)}, {Usid(3), port(1)}};
  settings.ports.assign(kPorts,
                        {.ecn_max_bytes = 1, .data_max_bytes = 1'500, .control_max_bytes = 500});
  settings.forwarding.prefixes = {{{Ipv6Address{}, 0}, {port(0), port(1), port(2)}},
                                  {Prefix::of(Ipv4Address(0), 0), {port(0), port(1), port(2)}}};
  settings.buffers = 8;
  auto it = Switch::make(settings).value();
  for (const Bytes& bytes : packets) {
    const auto way = it.receive(port(0), bytes);
    if (!way) {
      RC_ASSERT(!describe(way.error()).text.empty());
      tally.dropped.count(way.error());
    }
    expect_packet_accounting(it);
  }
  for (std::size_t i = 0; i < kPorts; ++i) {
    while (!it.transmit(port(i)).empty()) ++tally.forwarded;
    tally.trimmed += it.counters(port(i)).trimmed;
  }
  RC_ASSERT(it.packets_waiting() == 0u);
}

TEST(SwitchProperty, RandomBytesDoNoHarm) {
  Tally tally;
  OPENMRC_HOLDS("random bytes", [&tally] {
    auto numbers = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
    // Mostly something that looks like IP.
    if (!numbers.empty()) numbers[0] = *rc::gen::element<std::uint8_t>(0x60, 0x45, numbers[0]);
    Bytes bytes(numbers.size());
    std::ranges::transform(numbers, bytes.begin(), [](auto n) { return std::byte{n}; });
    expect_survival({bytes, bytes}, tally);
  });
  EXPECT_GT(tally.dropped.of(Drop::kIpTruncated), 0u);
}

TEST(SwitchProperty, DamagedPacketsDoNoHarm) {
  Tally tally;
  OPENMRC_HOLDS("damaged packets", [&tally] {
    const auto numbers = any_choices(6 * test::kChoicesPerPacket);
    Choices c(numbers);
    std::vector<Bytes> packets;
    for (int i = 0; i < 4; ++i) {
      Bytes bytes = encode(any_addressed_packet(c));
      for (std::uint64_t flips = c.below(4); flips > 0; --flips) {
        // Headers matter more than payload.
        const std::size_t bit = c.below(std::min<std::size_t>(bytes.size(), 110) * 8);
        bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      }
      if (c.below(8) == 7) bytes.resize(c.below(bytes.size()));
      packets.push_back(bytes);
    }
    expect_survival(packets, tally);
  });
  expect_all_seen(tally, {Drop::kIpTruncated, Drop::kIpVersionUnknown, Drop::kIpv4Checksum,
                          Drop::kUsidUnknown, Drop::kDataFull, Drop::kControlFull});
  EXPECT_GT(tally.trimmed, 0u);
}

}  // namespace
}  // namespace openmrc::softswitch
