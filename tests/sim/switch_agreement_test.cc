// SPDX-License-Identifier: BSD-3-Clause
// The simulator's switch and the switch that handles bytes, given the same packets at the same
// times: the same packets must leave by the same ports at the same times, equally marked, trimmed
// and dropped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/sim/engine/switch_node.h"
#include "openmrc/sim/network/packet_size.h"
#include "openmrc/softswitch/switch.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"

namespace openmrc::sim {
namespace {

using softswitch::PortIndex;

constexpr Plane kPlane{0};
constexpr std::uint32_t kHosts = 3;    // of a rack
constexpr std::uint32_t kUplinks = 2;  // ports 3 and 4 of a T0
constexpr Picoseconds kSpan{400'000'000};

Scenario make_scenario() {
  Scenario scenario;
  scenario.shape = {.planes = 1, .racks = 4, .hosts_per_rack = kHosts, .uplinks = kUplinks};
  // A step instead of a slope, so that marking draws nothing; and shallow queues, so that all
  // happens often.
  scenario.switches = {.ecn_min_bytes = 20'000, .ecn_max_bytes = 20'001, .queue_bytes = 40'000};
  scenario.switches.bdp_bytes = 3'000;  // of control, too
  return scenario;
}

// What left: when its last bit is at the other end, what it was and what became of it.
struct Departure {
  std::uint32_t port = 0;
  Picoseconds at{};
  std::uint32_t number = 0;  // PSN, or of a SACK the PSN that it acknowledges
  bool is_trimmed = false;
  bool is_last_hop = false;
  bool is_marked = false;

  auto operator<=>(const Departure&) const = default;
};

Departure describe(std::uint32_t port, Picoseconds at, const wire::Body& body, bool marked) {
  Departure departure{.port = port, .at = at, .is_marked = marked};
  if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) {
    departure.number = write->psn.raw();
  } else if (const auto* trimmed = std::get_if<wire::TrimmedWrite>(&body)) {
    departure.number = trimmed->psn.raw();
    departure.is_trimmed = true;
    departure.is_last_hop = trimmed->place == wire::TrimPlace::kLastHop;
  } else {
    departure.number = std::get<wire::Sack>(body).seth.cack_psn.raw();
  }
  return departure;
}

// A packet that comes to the T0.
struct Arriving {
  Packet packet{};
  Content content{};
  Picoseconds at{};
  std::uint16_t egress = 0;
  std::uint16_t ingress = 0;
  std::uint16_t uplink = 0;
};

// A T0 of the fabric, both ways.
class Pair {
 public:
  explicit Pair(std::uint64_t seed)
      : scenario_(make_scenario()),
        network_(scenario_),
        plan_(network_.fabric()),
        node_(network_, network_.t0(kPlane, 0)),
        switch_(*softswitch::Switch::make(switch_settings())),
        rng_(seed) {}

  std::vector<Arriving> random_packets(std::size_t count);
  std::vector<Departure> by_simulator(const std::vector<Arriving>& packets);
  std::vector<Departure> by_switch(const std::vector<Arriving>& packets);
  [[nodiscard]] const Totals& totals() const { return worker_.stats.totals; }
  [[nodiscard]] softswitch::Switch& device() { return switch_; }

 private:
  [[nodiscard]] softswitch::SwitchSettings switch_settings() const;
  [[nodiscard]] std::vector<std::byte> bytes_of(const Arriving& arriving) const;
  void send(const Arriving& arriving, const Window& now);
  void serve(std::uint32_t port, Picoseconds until, std::vector<Departure>& out);
  [[nodiscard]] const Line& line(std::uint32_t port) const {
    return port < kHosts ? network_.host_line() : network_.uplink_line();
  }
  [[nodiscard]] bool is_waiting(std::uint32_t port) const {
    using softswitch::QueueClass;
    const PortIndex index(static_cast<std::uint16_t>(port));
    return !switch_.waiting(index, QueueClass::kData).empty() ||
           !switch_.waiting(index, QueueClass::kControl).empty();
  }

  Scenario scenario_;
  Network network_;
  fabric::UsidPlan plan_;
  SwitchNode node_;
  softswitch::Switch switch_;
  Rng rng_;
  Worker source_{network_, 0, 1};
  Worker worker_{network_, 0, 1};
  std::array<Picoseconds, kHosts + kUplinks> free_at_{};
};

softswitch::SwitchSettings Pair::switch_settings() const {
  using fabric::Segment;
  softswitch::SwitchSettings settings{.buffers = 1000};
  const auto usid = [](Segment::Kind kind, std::uint32_t index) {
    return fabric::usid_of({.kind = kind, .plane = kPlane, .index = index});
  };
  settings.forwarding.own = usid(Segment::Kind::kT0, 0);
  for (std::uint32_t port = 0; port < kHosts + kUplinks; ++port) {
    const bool down = port < kHosts;
    settings.ports.push_back(network_.policy(down ? PortKind::kT0Down : PortKind::kT0Up));
    settings.forwarding.usids.push_back(
        {down ? usid(Segment::Kind::kHost, port) : usid(Segment::Kind::kT1, port - kHosts),
         PortIndex(static_cast<std::uint16_t>(port))});
  }
  return settings;
}

// From hosts of the rack to hosts of all racks; bursts, so that queues fill and empty.
std::vector<Arriving> Pair::random_packets(std::size_t count) {
  std::vector<Arriving> packets;
  std::map<std::pair<std::int64_t, std::uint16_t>, bool> taken;
  const fabric::Fabric& fabric = network_.fabric();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(rng_.below(kHosts));
    const bool own_rack = rng_.chance({1, 2});
    const auto to = static_cast<std::uint32_t>(own_rack ? 0 : 1 + rng_.below(3)) * kHosts;
    Arriving arriving;
    auto& [packet, content, at, egress, ingress, uplink] = arriving;
    packet.to = fabric::HostIndex(to + static_cast<std::uint32_t>(rng_.below(kHosts)));
    packet.plane = kPlane;
    content.from = fabric::HostIndex(from);
    uplink = static_cast<std::uint16_t>(rng_.below(kUplinks));
    if (rng_.chance({1, 4})) {
      content.body = wire::Sack{.destination_qp = kFirstUsableQpn, .seth = {.cack_psn = Psn(i)}};
    } else {
      content.body = wire::RdmaWrite{.destination_qp = kFirstUsableQpn,
                                     .psn = Psn(i),
                                     .part = wire::MessagePart::middle(),
                                     .sent = wire::TxTimestamp{},
                                     .reth = {.dma_length = 1 << 20},
                                     .payload = wire::Payload::of_length(4096)};
      packet.is_data = packet.ecn_capable = true;
      packet.trimmable = rng_.chance({7, 8});
    }
    packet.size = static_cast<std::uint16_t>(size_on_wire(content.body));
    const auto slot = static_cast<std::int64_t>(rng_.below(20)) * kSpan.raw() / 20;
    at = network_.window() + Picoseconds(slot + static_cast<std::int64_t>(rng_.below(2'000'000)));
    ingress = static_cast<std::uint16_t>(from);
    egress = static_cast<std::uint16_t>(own_rack ? fabric.downlink_of(packet.to) : kHosts + uplink);
    if (taken.emplace(std::pair(at.raw(), ingress), true).second) packets.push_back(arriving);
  }
  std::sort(packets.begin(), packets.end(), [](const Arriving& a, const Arriving& b) {
    return std::tuple(a.at, a.ingress) < std::tuple(b.at, b.ingress);
  });
  return packets;
}

void Pair::send(const Arriving& arriving, const Window& now) {
  Content& content = source_.take_content();
  content = arriving.content;
  Packet packet = arriving.packet;
  packet.content = &content;
  source_.post(packet, {.node = 0, .egress = arriving.egress, .ingress = arriving.ingress},
               arriving.at, now);
}

std::vector<Departure> Pair::by_simulator(const std::vector<Arriving>& packets) {
  std::vector<Departure> out;
  const std::array<Worker*, 1> sources{&source_};
  Arrivals arrivals(64);
  std::vector<Chunk*> read;
  std::size_t next = 0;
  const Picoseconds width = network_.window();
  for (std::int64_t index = 1; next < packets.size() || node_.has_backlog(); ++index) {
    const Window window{.index = index, .begin = width * index, .end = width * (index + 1)};
    const Window before{.index = index - 1, .begin = width * (index - 1), .end = window.begin};
    for (; next < packets.size() && packets[next].at < window.end; ++next) {
      send(packets[next], before);
    }
    arrivals.gather(sources, 0, window);
    node_.run(window, arrivals, worker_);
    source_.box(0, index).clear(read);
    for (NodeIndex to = 0; to < network_.nodes(); ++to) {
      for (std::uint32_t ahead = 1; ahead <= network_.windows_ahead_max(); ++ahead) {
        worker_.box(to, index + ahead).for_each([&](const Packet& packet) {
          const bool down = network_.is_host_rack(to);
          const std::uint32_t port =
              down ? packet.key.egress() : kHosts + network_.switch_of(to).index;
          const Picoseconds at = width * (index + ahead) + packet.key.time();
          out.push_back(describe(port, at, packet.content->body, packet.marked));
          worker_.release(*packet.content);
        });
        worker_.box(to, index + ahead).clear(read);
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::byte> Pair::bytes_of(const Arriving& arriving) const {
  static const std::vector<std::byte> payload(4096);
  const Packet& packet = arriving.packet;
  const fabric::HostIndex from = arriving.content.from;
  wire::Packet whole;
  whole.route = wire::Ipv6Route{
      .source = plan_.inner_address(from, kPlane),
      .destination = plan_.inner_address(packet.to, kPlane),
      .encapsulation = wire::SrEncapsulation{
          .source = plan_.inner_address(from, kPlane),
          .destination = plan_.carrier(from, packet.to, {.plane = kPlane, .path = arriving.uplink})
                             .address()}};
  whole.transport.body = arriving.content.body;
  whole.traffic_class = !packet.is_data    ? wire::TrafficClass::kControl
                        : packet.trimmable ? wire::TrafficClass::kTrimmable
                                           : wire::TrafficClass::kNoTrim;
  whole.ecn = packet.ecn_capable ? wire::Ecn::kCapable0 : wire::Ecn::kNotCapable;
  if (auto* write = std::get_if<wire::RdmaWrite>(&whole.transport.body)) {
    write->payload = wire::Payload::of_bytes(payload);
  }
  std::vector<std::byte> bytes(wire::encoded_size(whole));
  wire::encode_packet(whole, wire::WireSettings{}, bytes);
  return bytes;
}

// Lets the port send all that can begin to leave before `until`.
void Pair::serve(std::uint32_t port, Picoseconds until, std::vector<Departure>& out) {
  while (is_waiting(port) && free_at_[port] < until) {
    const ConstBytes bytes = switch_.transmit(PortIndex(static_cast<std::uint16_t>(port)));
    free_at_[port] +=
        line(port).serialisation(static_cast<std::uint32_t>(bytes.size()) + kEthernetOverhead);
    const auto packet = wire::decode_ip(bytes, wire::WireSettings{});
    ASSERT_TRUE(packet.has_value()) << "what leaves can be read";
    out.push_back(describe(port, free_at_[port] + line(port).delay, packet->transport.body,
                           packet->ecn == wire::Ecn::kCongested));
  }
}

std::vector<Departure> Pair::by_switch(const std::vector<Arriving>& packets) {
  std::vector<Departure> out;
  for (const Arriving& packet : packets) {
    const std::uint32_t port = packet.egress;
    serve(port, packet.at, out);
    const bool idle = !is_waiting(port) && free_at_[port] <= packet.at;
    const auto queued = switch_.receive(PortIndex(packet.ingress), bytes_of(packet));
    EXPECT_EQ(queued.value_or(PortIndex(packet.egress)).raw(), port)
        << "by the port that the path names, or not at all";
    if (!idle) continue;
    free_at_[port] = packet.at;
    serve(port, packet.at + Picoseconds(1), out);
  }
  for (std::uint32_t port = 0; port < kHosts + kUplinks; ++port) serve(port, kNoTime, out);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(SwitchAgreement, RecordsAndBytesAreTreatedAlike) {
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  std::uint64_t dropped = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Pair pair(seed);
    const std::vector<Arriving> packets = pair.random_packets(1'500);
    const std::vector<Departure> simulated = pair.by_simulator(packets);
    const std::vector<Departure> real = pair.by_switch(packets);
    ASSERT_EQ(simulated.size(), real.size()) << "seed " << seed;
    for (std::size_t i = 0; i < real.size(); ++i) {
      ASSERT_EQ(simulated[i], real[i]) << "seed " << seed << ", departure " << i << ", packet "
                                       << real[i].number << " at port " << real[i].port;
    }
    trimmed += pair.totals().packets_trimmed;
    marked += pair.totals().packets_marked;
    dropped += packets.size() - real.size();
  }
  // That it means something.
  EXPECT_GT(trimmed, 1'000U);
  EXPECT_GT(marked, 1'000U);
  EXPECT_GT(dropped, 200U);
}

}  // namespace
}  // namespace openmrc::sim
