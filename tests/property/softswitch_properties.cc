// SPDX-License-Identifier: BSD-3-Clause
// What holds for every switch, every packet and every order of arrivals and departures. RapidCheck
// chooses, and shrinks what fails. Models in this file say what should happen in the plainest way
// there is; they share no code with the switch.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/softswitch/switch.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ipv4.h"
#include "support/arbitrary_packet.h"

namespace openmrc::softswitch {
namespace {

using test::Choices;
using wire::Ecn;
using wire::Ipv4Address;
using wire::Ipv4Route;
using wire::Ipv6Address;
using wire::Ipv6Route;
using wire::Packet;
using wire::TrafficClass;
using wire::TrimPlace;
using wire::Usid;
using Bytes = std::vector<std::byte>;

constexpr wire::WireSettings kBothPortsNoIcrc{.udp_port_alternate = wire::kUdpPortAlternate,
                                              .icrc_check = wire::IcrcCheck::kSkip};
constexpr std::uint32_t kBlock = 0xfcbb'bb00;

std::string_view name_of(Drop reason) { return describe(reason).counter; }

#define OPENMRC_HOLDS(description, ...)               \
  do {                                                \
    EXPECT_TRUE(rc::check(description, __VA_ARGS__)); \
  } while (false)

// Choices that RapidCheck can shrink.
std::vector<std::uint64_t> any_choices(std::size_t count) {
  return *rc::gen::container<std::vector<std::uint64_t>>(count,
                                                         rc::gen::arbitrary<std::uint64_t>());
}

Bytes encode(const Packet& packet) {
  Bytes bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, kBothPortsNoIcrc, bytes);
  return bytes;
}

PortIndex port(std::size_t index) { return PortIndex(static_cast<std::uint16_t>(index)); }

PortIndex any_port(Choices& c, std::size_t ports) { return port(c.below(ports)); }

// What became of all packets of a test: it shall not hold because nothing happened.
struct Tally {
  std::uint64_t forwarded = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  DropCounters dropped{};
};

void expect_all_seen(const Tally& tally, std::initializer_list<Drop> reasons) {
  EXPECT_GT(tally.forwarded, 0u);
  for (const Drop reason : reasons) EXPECT_GT(tally.dropped.of(reason), 0u) << name_of(reason);
}

// Over all ports: what came in has left, waits, or was dropped for a reason.
void expect_conservation(const Switch& it) {
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < it.ports(); ++i) {
    const PortCounters& counters = it.counters(port(i));
    received += counters.received;
    transmitted += counters.transmitted;
    dropped += counters.dropped.total();
    const std::uint64_t waiting = it.waiting(port(i), QueueClass::kData).packets() +
                                  it.waiting(port(i), QueueClass::kControl).packets();
    RC_ASSERT(counters.forwarded == counters.transmitted + waiting);
  }
  RC_ASSERT(received == transmitted + it.packets_waiting() + dropped);
}

// ---- forwarding ----

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
      expect_conservation(*made);
    }
  });
  expect_all_seen(tally, {Drop::kHopLimit, Drop::kPathEnded, Drop::kUsidUnknown, Drop::kNoRoute});
}

// ---- queues ----

constexpr Usid usid_to(std::size_t index) { return Usid(static_cast<std::uint16_t>(1 + index)); }
constexpr std::size_t kQueuePorts = 3;
constexpr std::size_t kOperations = 60;
constexpr std::size_t kChoicesPerOperation = 8;

QueuePolicy any_policy(Choices& c) {
  constexpr std::uint32_t kData[] = {10'000, 3'000, 1'500, 0};
  constexpr std::uint32_t kControl[] = {1'000, 300, 150, 0};
  constexpr std::uint32_t kMarks[] = {0, 1, 2'000, 5'000};
  QueuePolicy policy{.data_max_bytes = c.one_of(kData),
                     .control_max_bytes = c.one_of(kControl),
                     .trims = c.below(4) != 3,
                     .place = c.flag() ? TrimPlace::kLastHop : TrimPlace::kOnPath};
  policy.ecn_max_bytes = c.one_of(kMarks);
  policy.ecn_min_bytes = static_cast<std::uint32_t>(c.below(policy.ecn_max_bytes + 1));
  return policy;
}

SwitchSettings any_queues(Choices& c) {
  SwitchSettings settings;
  settings.buffers = 1 + c.below(kOperations);
  settings.seed = c.bits(64);
  settings.forwarding.block = kBlock;
  for (std::size_t i = 0; i < kQueuePorts; ++i) {
    settings.ports.push_back(any_policy(c));
    settings.forwarding.usids.push_back({usid_to(i), port(i)});
  }
  return settings;
}

// What the test remembers of a packet that it sent. The number is in the packet, so that it is
// recognised even when it has been trimmed.
struct Sent {
  std::uint32_t number = 0;
  TrafficClass traffic_class = TrafficClass::kTrimmable;
  Ecn ecn = Ecn::kNotCapable;
  std::size_t size = 0;
  bool trimmed = false;  // by the switch
};

// Half of them as long as can be, up to 1,200 bytes.
ConstBytes any_payload(Choices& c) {
  static const Bytes kPayload(1'200);
  return ConstBytes(kPayload).first(c.flag() ? kPayload.size() : 1 + c.below(kPayload.size()));
}

Packet numbered_packet(Choices& c, std::size_t leads_to, Sent& sent) {
  constexpr TrafficClass kClasses[] = {
      TrafficClass::kTrimmable, TrafficClass::kControl, TrafficClass::kNoTrim,
      TrafficClass::kTrimmableRetransmission, TrafficClass::kUnknown};
  sent.traffic_class = c.one_of(kClasses);
  sent.ecn = static_cast<Ecn>(c.bits(2));
  Ipv6Route route;
  route.encapsulation = wire::SrEncapsulation{
      .source = {},
      .destination = wire::UsidCarrier::of(kBlock, {{usid_to(leads_to)}})->address(),
      .srh = {}};
  Packet packet{.route = route, .traffic_class = sent.traffic_class, .ecn = sent.ecn};
  if (sent.traffic_class == TrafficClass::kControl) {
    packet.transport.body =
        wire::Sack{.destination_qp = Qpn(3), .seth = {.cack_psn = Psn(sent.number)}};
    return packet;
  }
  packet.transport.body = wire::RdmaWrite{.destination_qp = Qpn(3),
                                          .psn = Psn(sent.number),
                                          .reth = {.dma_length = 1u << 20},
                                          .payload = wire::Payload::of_bytes(any_payload(c))};
  return packet;
}

std::optional<std::uint32_t> number_of(const Packet& packet) {
  if (const auto* write = std::get_if<wire::RdmaWrite>(&packet.transport.body)) {
    return write->psn.raw();
  }
  if (const auto* cut_down = std::get_if<wire::TrimmedWrite>(&packet.transport.body)) {
    return cut_down->psn.raw();
  }
  if (const auto* sack = std::get_if<wire::Sack>(&packet.transport.body)) {
    return sack->seth.cack_psn.raw();
  }
  return std::nullopt;
}

// The queues of one port as lists, and the rules in plain words.
class PortModel {
 public:
  explicit PortModel(const QueuePolicy& policy) : policy_(policy) {}

  // What must become of the packet: nothing if it is queued; `sent` says if it is trimmed.
  std::optional<Drop> arrive(Sent& sent, bool has_buffer) {
    if (sent.traffic_class == TrafficClass::kControl) {
      if (bytes(control_) + sent.size > policy_.control_max_bytes) return Drop::kControlFull;
    } else if (bytes(data_) + sent.size > policy_.data_max_bytes) {
      const bool may_be_trimmed = sent.traffic_class == TrafficClass::kTrimmable ||
                                  sent.traffic_class == TrafficClass::kTrimmableRetransmission;
      if (!policy_.trims || !may_be_trimmed) return Drop::kDataFull;
      if (!has_buffer) return Drop::kOutOfBuffers;
      sent.trimmed = true;
      sent.size = std::min<std::size_t>(sent.size, 2 * 40 + 64);
      if (bytes(control_) + sent.size > policy_.control_max_bytes) return Drop::kTrimmedFull;
    }
    if (!has_buffer) return Drop::kOutOfBuffers;
    (is_control(sent) ? control_ : data_).push_back(sent);
    return std::nullopt;
  }

  // A packet has left: it must be the first of its queue, and marked only as the policy allows.
  void depart(ConstBytes out) {
    const auto decoded = wire::decode_ip(out, kBothPortsNoIcrc);
    RC_ASSERT(decoded.has_value());
    const bool was_trimmed = std::holds_alternative<wire::TrimmedWrite>(decoded->transport.body);
    const bool control = was_trimmed || decoded->traffic_class == TrafficClass::kControl;
    std::deque<Sent>& queue = control ? control_ : data_;
    RC_ASSERT(!queue.empty());
    const std::size_t waiting = bytes(queue);
    const Sent sent = queue.front();
    queue.pop_front();
    RC_ASSERT(number_of(*decoded) == sent.number);
    RC_ASSERT(out.size() == sent.size);
    RC_ASSERT(was_trimmed == sent.trimmed);
    if (was_trimmed) {
      RC_ASSERT(std::get<wire::TrimmedWrite>(decoded->transport.body).place == policy_.place);
    }
    expect_mark(sent, control, waiting, decoded->ecn);
  }

  [[nodiscard]] bool empty() const { return data_.empty() && control_.empty(); }
  [[nodiscard]] std::size_t data_bytes() const { return bytes(data_); }
  [[nodiscard]] std::size_t control_bytes() const { return bytes(control_); }

 private:
  static bool is_control(const Sent& sent) {
    return sent.trimmed || sent.traffic_class == TrafficClass::kControl;
  }
  static std::size_t bytes(const std::deque<Sent>& queue) {
    std::size_t sum = 0;
    for (const Sent& sent : queue) sum += sent.size;
    return sum;
  }

  void expect_mark(const Sent& sent, bool control, std::size_t waiting, Ecn now) const {
    const bool capable = sent.ecn == Ecn::kCapable0 || sent.ecn == Ecn::kCapable1;
    const bool may =
        capable && !control && policy_.ecn_max_bytes != 0 && waiting > policy_.ecn_min_bytes;
    const bool must = may && waiting >= policy_.ecn_max_bytes;
    if (now != sent.ecn) {
      RC_ASSERT(may);
      RC_ASSERT(now == Ecn::kCongested);
    } else {
      RC_ASSERT(!must);
    }
  }

  QueuePolicy policy_;
  std::deque<Sent> data_;
  std::deque<Sent> control_;
};

// A switch and its model side by side.
class QueueRun {
 public:
  QueueRun(const SwitchSettings& settings, Tally& tally)
      : settings_(settings), switch_(Switch::make(settings).value()), tally_(tally) {
    for (const QueuePolicy& policy : settings.ports) models_.emplace_back(policy);
  }

  void step(Choices& c) {
    const std::size_t at = c.below(kQueuePorts);
    if (c.below(3) == 0) {
      transmit(at);
    } else {
      receive(c, at);
    }
    expect_conservation(switch_);
    expect_limits();
  }

  void drain() {
    for (std::size_t i = 0; i < kQueuePorts; ++i) {
      while (!models_[i].empty()) transmit(i);
      RC_ASSERT(switch_.transmit(port(i)).empty());
      tally_.forwarded += switch_.counters(port(i)).forwarded;
      tally_.trimmed += switch_.counters(port(i)).trimmed;
      tally_.marked += switch_.counters(port(i)).marked;
    }
    RC_ASSERT(switch_.packets_waiting() == 0u);
  }

  // Everything that left, in order.
  [[nodiscard]] const Bytes& transcript() const { return transcript_; }

 private:
  void receive(Choices& c, std::size_t leads_to) {
    Sent sent{.number = next_number_++};
    const Bytes bytes = encode(numbered_packet(c, leads_to, sent));
    sent.size = bytes.size();
    const bool has_buffer = switch_.packets_waiting() < settings_.buffers;
    const std::uint64_t trimmed_before = switch_.counters(port(leads_to)).trimmed;
    const std::optional<Drop> expected = models_[leads_to].arrive(sent, has_buffer);
    const auto way = switch_.receive(port(0), bytes);
    RC_ASSERT(way.has_value() == !expected.has_value());
    if (expected) {
      RC_ASSERT(way.error() == *expected);
      tally_.dropped.count(*expected);
    } else {
      RC_ASSERT(*way == port(leads_to));
      const std::uint64_t trimmed = switch_.counters(*way).trimmed - trimmed_before;
      RC_ASSERT(trimmed == (sent.trimmed ? 1u : 0u));
    }
  }

  void transmit(std::size_t from) {
    const ConstBytes out = switch_.transmit(port(from));
    RC_ASSERT(out.empty() == models_[from].empty());
    if (out.empty()) return;
    transcript_.insert(transcript_.end(), out.begin(), out.end());
    models_[from].depart(out);
  }

  void expect_limits() const {
    for (std::size_t i = 0; i < kQueuePorts; ++i) {
      const std::uint32_t data = switch_.waiting(port(i), QueueClass::kData).bytes();
      const std::uint32_t control = switch_.waiting(port(i), QueueClass::kControl).bytes();
      RC_ASSERT(data == models_[i].data_bytes());
      RC_ASSERT(control == models_[i].control_bytes());
      RC_ASSERT(data <= settings_.ports[i].data_max_bytes);
      RC_ASSERT(control <= settings_.ports[i].control_max_bytes);
    }
  }

  SwitchSettings settings_;
  Switch switch_;
  Tally& tally_;
  std::vector<PortModel> models_;
  std::uint32_t next_number_ = 1;
  Bytes transcript_;
};

constexpr std::size_t kChoicesPerRun = 32 + kOperations * kChoicesPerOperation;

// Gives back everything that left.
Bytes run_queues(const std::vector<std::uint64_t>& numbers, Tally& tally) {
  Choices c(numbers);
  QueueRun run(any_queues(c), tally);
  for (std::size_t i = 0; i < kOperations; ++i) run.step(c);
  run.drain();
  return run.transcript();
}

// MRC 8: what is trimmed, marked and dropped, in which order packets leave, that no limit is ever
// exceeded and that nothing is lost without a reason.
TEST(SwitchProperty, QueuesDoAsTheirPolicySays) {
  Tally tally;
  OPENMRC_HOLDS("queues", [&tally] { run_queues(any_choices(kChoicesPerRun), tally); });
  expect_all_seen(tally,
                  {Drop::kOutOfBuffers, Drop::kDataFull, Drop::kTrimmedFull, Drop::kControlFull});
  EXPECT_GT(tally.trimmed, 0u);
  EXPECT_GT(tally.marked, 0u);
}

TEST(SwitchProperty, TheSameInputGivesTheSameOutput) {
  OPENMRC_HOLDS("determinism", [] {
    Tally tally;
    const auto numbers = any_choices(kChoicesPerRun);
    RC_ASSERT(run_queues(numbers, tally) == run_queues(numbers, tally));
  });
}

// MRC 8: no marks on the last hop, and none if they are off.
TEST(SwitchProperty, TheRecommendedLastHopNeverMarks) {
  OPENMRC_HOLDS("last hop", [] {
    const auto numbers = any_choices(kChoicesPerRun);
    Choices c(numbers);
    SwitchSettings settings = any_queues(c);
    const auto bdp = static_cast<std::uint32_t>(1'000 + c.below(10'000));
    settings.ports.assign(kQueuePorts, recommended_policy(bdp, TrimPlace::kLastHop));
    auto it = Switch::make(settings).value();
    for (std::size_t i = 0; i < kOperations; ++i) {
      Sent sent;
      const Bytes bytes = encode(numbered_packet(c, c.below(kQueuePorts), sent));
      static_cast<void>(it.receive(port(0), bytes));
    }
    for (std::size_t i = 0; i < kQueuePorts; ++i) {
      while (!it.transmit(port(i)).empty()) {
      }
      RC_ASSERT(it.counters(port(i)).marked == 0u);
    }
  });
}

// Control and data alike, of any size.
Packet sized_packet(Choices& c, TrafficClass traffic_class) {
  Sent sent;
  Packet packet = numbered_packet(c, 0, sent);
  packet.traffic_class = traffic_class;
  packet.transport.body = wire::RdmaWrite{.destination_qp = Qpn(3),
                                          .reth = {.dma_length = 1u << 20},
                                          .payload = wire::Payload::of_bytes(any_payload(c))};
  return packet;
}

// MRC 8: while both queues have packets, neither gets ahead of the other by more than 16 KiB and a
// packet, from any point in time on.
TEST(SwitchProperty, ControlAndDataShareThePort) {
  std::uint64_t data_first = 0;
  OPENMRC_HOLDS("shares", [&data_first] {
    const auto numbers = any_choices(2'000);
    Choices c(numbers);
    SwitchSettings settings = any_queues(c);
    settings.buffers = 1'000;
    settings.ports[0] = {.data_max_bytes = 10'000'000, .control_max_bytes = 10'000'000};
    auto it = Switch::make(settings).value();
    for (int i = 0; i < 300; ++i) {
      const auto traffic_class = c.flag() ? TrafficClass::kControl : TrafficClass::kNoTrim;
      RC_ASSERT(it.receive(port(0), encode(sized_packet(c, traffic_class))).has_value());
    }
    std::int64_t ahead = 0;  // control less data
    std::int64_t highest = 0;
    std::int64_t lowest = 0;
    const PacketQueue& control = it.waiting(port(0), QueueClass::kControl);
    const PacketQueue& data = it.waiting(port(0), QueueClass::kData);
    while (!control.empty() && !data.empty()) {
      const std::uint32_t before = control.bytes();
      const auto size = static_cast<std::int64_t>(it.transmit(port(0)).size());
      const bool was_data = control.bytes() == before;
      ahead += was_data ? -size : size;
      data_first += was_data ? 1u : 0u;
      highest = std::max(highest, ahead);
      lowest = std::min(lowest, ahead);
      RC_ASSERT(highest - lowest <= 16'384 + 1'400);
    }
  });
  EXPECT_GT(data_first, 0u);
}

// ---- hostile bytes ----

void expect_survival(const std::vector<Bytes>& packets, Tally& tally) {
  Choices none({});
  SwitchSettings settings = any_queues(none);
  settings.forwarding.own = Usid(9);
  settings.ports.assign(kQueuePorts,
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
    expect_conservation(it);
  }
  for (std::size_t i = 0; i < kQueuePorts; ++i) {
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
