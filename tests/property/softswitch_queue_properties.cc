// SPDX-License-Identifier: BSD-3-Clause
// What the queues of a switch do, for every policy and every order of arrivals and departures.
// RapidCheck chooses, and shrinks what fails. The model in this file keeps its queues as lists and
// says the rules in plain words; it shares no code with the switch.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "openmrc/wire/decode.h"
#include "openmrc/wire/field/usid.h"
#include "tests/property/softswitch_support.h"
#include "tests/support/choices.h"

namespace openmrc::softswitch {
namespace {

using test::Choices;
using wire::Ecn;
using wire::Ipv6Route;
using wire::Packet;
using wire::TrafficClass;
using wire::TrimPlace;
using wire::Usid;

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
    expect_packet_accounting(switch_);
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
TEST(SwitchQueueProperty, QueuesDoAsTheirPolicySays) {
  Tally tally;
  OPENMRC_HOLDS("queues", [&tally] { run_queues(any_choices(kChoicesPerRun), tally); });
  expect_all_seen(tally,
                  {Drop::kOutOfBuffers, Drop::kDataFull, Drop::kTrimmedFull, Drop::kControlFull});
  EXPECT_GT(tally.trimmed, 0u);
  EXPECT_GT(tally.marked, 0u);
}

TEST(SwitchQueueProperty, TheSameInputGivesTheSameOutput) {
  OPENMRC_HOLDS("determinism", [] {
    Tally tally;
    const auto numbers = any_choices(kChoicesPerRun);
    RC_ASSERT(run_queues(numbers, tally) == run_queues(numbers, tally));
  });
}

// MRC 8 (CC-51): no marks on the last hop, and none if they are off.
TEST(SwitchQueueProperty, TheRecommendedLastHopNeverMarks) {
  Tally tally;
  OPENMRC_HOLDS("last hop", [&tally] {
    const auto numbers = any_choices(kChoicesPerRun);
    Choices c(numbers);
    SwitchSettings settings = any_queues(c);
    const auto bdp = static_cast<std::uint32_t>(1'000 + c.below(10'000));
    settings.ports.assign(kQueuePorts, recommended_policy(bdp, TrimPlace::kLastHop));
    auto it = Switch::make(settings).value();
    for (std::size_t i = 0; i < kOperations; ++i) {
      Sent sent;
      const Bytes bytes = encode(numbered_packet(c, c.below(kQueuePorts), sent));
      const auto way = it.receive(port(0), bytes);
      tally.forwarded += way.has_value() ? 1u : 0u;
    }
    for (std::size_t i = 0; i < kQueuePorts; ++i) {
      while (!it.transmit(port(i)).empty()) {
      }
      RC_ASSERT(it.counters(port(i)).marked == 0u);
    }
  });
  EXPECT_GT(tally.forwarded, 0u);
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
TEST(SwitchQueueProperty, ControlAndDataShareThePort) {
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

}  // namespace
}  // namespace openmrc::softswitch
