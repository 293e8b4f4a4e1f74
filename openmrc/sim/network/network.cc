// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/network.h"

#include <algorithm>
#include <limits>

#include "openmrc/base/check.h"
#include "openmrc/sim/network/packet_size.h"

namespace openmrc::sim {
namespace {

// What a switch reads of a packet before it decides: outer headers, and what comes with them in one
// piece through its pipeline.
constexpr std::uint32_t kCutThroughBytes = 128;
constexpr std::uint32_t kWholePacket = 0xffff;

constexpr std::int64_t kBitsTimesPicoseconds = 8 * kPicosecondsPerSecond;

Line make_line(std::int64_t bits_per_second, Duration delay) {
  return {.picoseconds_per_byte = (kBitsTimesPicoseconds + bits_per_second - 1) / bits_per_second,
          .delay = picoseconds(delay)};
}

fabric::Fabric make_fabric(const fabric::Shape& shape) {
  const auto made = fabric::Fabric::make(shape);
  OPENMRC_CHECK(made.has_value(), "the scenario was checked");
  return *made;
}

// How much leaves in so long.
std::uint32_t bytes_in(Picoseconds time, const Line& line) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(std::min(time.raw() / line.picoseconds_per_byte, kMost));
}

// What a threshold is: by its bytes, by its time, or as it was derived.
std::uint32_t chosen(std::uint32_t bytes, Picoseconds time, const Line& line,
                     std::uint32_t derived) {
  if (bytes != 0) return bytes;
  return time > Picoseconds{} ? bytes_in(time, line) : derived;
}

}  // namespace

Network::Network(const Scenario& scenario)
    : scenario_(scenario),
      fabric_(make_fabric(scenario.shape)),
      faults_(scenario.faults),
      seed_(scenario.seed * 0x9e3779b97f4a7c15),
      host_line_(
          make_line(scenario.shape.host_link_bits_per_second, scenario.shape.host_link_delay)),
      uplink_line_(make_line(scenario.shape.uplink_bits_per_second, scenario.shape.uplink_delay)) {
  set_hops();
  const std::uint32_t full = write_size(scenario.mtu(), false);
  base_rtt_ = Duration((one_way(full) + one_way(kSackSize)).raw() / 1'000 + 1);
  const std::int64_t bits = base_rtt_.raw() * (scenario.shape.host_link_bits_per_second / 1'000);
  bdp_bytes_ = scenario.switches.bdp_bytes != 0 ? scenario.switches.bdp_bytes
                                                : static_cast<std::uint32_t>(bits / 8'000'000);
  for (std::size_t kind = 0; kind < kPortKinds; ++kind) {
    policies_[kind] = make_policy(static_cast<PortKind>(kind));
  }
  set_windows(full);
}

// Of a link, with the round trip of the whole fabric.
std::uint32_t Network::bdp_of(const Line& line) const {
  if (!scenario_.switches.by_link_speed) return bdp_bytes_;
  const std::uint64_t bytes = std::uint64_t{bdp_bytes_} *
                              static_cast<std::uint64_t>(host_line_.picoseconds_per_byte) /
                              static_cast<std::uint64_t>(line.picoseconds_per_byte);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::int32_t>::max() / 5));
}

softswitch::QueuePolicy Network::make_policy(PortKind kind) const {
  const SwitchSettings& settings = scenario_.switches;
  const Line& line = kind == PortKind::kT0Down ? host_line_ : uplink_line_;
  const std::uint32_t bdp_bytes = bdp_of(line);
  const auto place =
      kind == PortKind::kT0Down ? wire::TrimPlace::kLastHop : wire::TrimPlace::kOnPath;
  softswitch::QueuePolicy policy = softswitch::recommended_policy(bdp_bytes, place);
  policy.trims = settings.trimming;
  // Without trimming a queue must hold what one round trip more can bring (UET: 2 to 5 BDP).
  if (!settings.trimming) policy.data_max_bytes = 5 * bdp_bytes;
  if (settings.ecn_on_last_hop && kind == PortKind::kT0Down) {
    policy.ecn_min_bytes = bdp_bytes / 5;
    policy.ecn_max_bytes = bdp_bytes / 5 * 4;
  }
  if (settings.ecn && policy.ecn_max_bytes != 0) {
    policy.ecn_min_bytes =
        chosen(settings.ecn_min_bytes, settings.ecn_min_time, line, policy.ecn_min_bytes);
    policy.ecn_max_bytes =
        chosen(settings.ecn_max_bytes, settings.ecn_max_time, line, policy.ecn_max_bytes);
    policy.ecn_share_max = softswitch::mark_share(settings.ecn_share_max_billionths);
  } else {
    policy.ecn_min_bytes = policy.ecn_max_bytes = 0;
  }
  // What PFC holds back need not fit, and a shared buffer has one limit for all.
  if (settings.pfc || settings.buffer_bytes != 0) {
    policy.data_max_bytes = std::numeric_limits<std::int32_t>::max();
  }
  policy.data_max_bytes =
      chosen(settings.queue_bytes, settings.queue_time, line, policy.data_max_bytes);
  return policy;
}

// A pause is decided at the end of a window, when ports have been counted one after the other, and
// is heard a wire's delay later. Then the packet that is leaving goes on, and what is on its way
// arrives.
std::uint32_t Network::headroom_bytes(bool from_host) const {
  const std::uint32_t chosen = scenario_.switches.headroom_bytes;
  if (chosen != 0) return chosen;
  const Hop& hop = from_host ? nic_hops_[0] : hops_[static_cast<std::size_t>(PortKind::kT0Up)];
  const Picoseconds time = window_ * 2 + hop.line.delay + hop.delay;
  return bytes_in(time, hop.line) + 2 * write_size(scenario_.mtu(), true);
}

void Network::set_hops() {
  const SwitchSettings& switches = scenario_.switches;
  const NicSettings& nics = scenario_.nics;
  // A packet can pass through only if its bytes come at least as fast as they leave.
  const auto lead = [&](const Line& in, const Line& out) {
    const bool passes = switches.cut_through && in.picoseconds_per_byte <= out.picoseconds_per_byte;
    return passes ? kCutThroughBytes : kWholePacket;
  };
  const Picoseconds to_t0 = nics.send_latency + host_line_.delay + switches.latency;
  const Picoseconds to_switch = uplink_line_.delay + switches.latency;
  nic_hops_ = {
      Hop{.line = host_line_, .delay = to_t0, .lead_bytes = lead(host_line_, uplink_line_)},
      Hop{.line = host_line_, .delay = to_t0, .lead_bytes = lead(host_line_, host_line_)}};
  const auto set = [&](PortKind kind, const Hop& hop) {
    hops_[static_cast<std::size_t>(kind)] = hop;
  };
  for (const PortKind kind : {PortKind::kT0Up, PortKind::kT1Up, PortKind::kT2Down}) {
    set(kind,
        {.line = uplink_line_, .delay = to_switch, .lead_bytes = lead(uplink_line_, uplink_line_)});
  }
  set(PortKind::kT1Down,
      {.line = uplink_line_, .delay = to_switch, .lead_bytes = lead(uplink_line_, host_line_)});
  set(PortKind::kT0Down, {.line = host_line_,
                          .delay = host_line_.delay + nics.receive_latency,
                          .lead_bytes = kWholePacket});
}

// Over the longest path, with nobody else there.
Picoseconds Network::one_way(std::uint32_t size) const {
  Picoseconds time = nic_hop(!fabric_.has_t1()).arrival(Picoseconds{}, size);
  const auto pass = [&](PortKind kind) { time = hop(kind).arrival(time, size); };
  if (fabric_.has_t1()) pass(PortKind::kT0Up);
  if (fabric_.has_t2()) pass(PortKind::kT1Up);
  if (fabric_.has_t2()) pass(PortKind::kT2Down);
  if (fabric_.has_t1()) pass(PortKind::kT1Down);
  pass(PortKind::kT0Down);
  return time;
}

void Network::set_windows(std::uint32_t full_size) {
  window_ = std::min(nic_hops_[0].delay, hop(PortKind::kT0Down).delay);
  Picoseconds longest{};
  const auto allow = [&](const Hop& hop) {
    const Picoseconds leaving =
        hop.line.serialisation(full_size) * 100 / faults_.speed_percent_min();
    longest = std::max(longest, leaving + hop.delay);
  };
  allow(nic_hops_[0]);
  allow(hop(PortKind::kT0Down));
  if (fabric_.has_t1()) {
    window_ = std::min(window_, hop(PortKind::kT0Up).delay);
    allow(hop(PortKind::kT0Up));
  }
  windows_ahead_max_ = static_cast<std::uint32_t>(longest.raw() / window_.raw() + 2);
}

fabric::SwitchId Network::switch_of(NodeIndex node) const {
  OPENMRC_DCHECK(!is_host_rack(node) && node < nodes(), "a switch");
  std::uint32_t number = (node - racks()) / planes();
  const Plane plane(static_cast<std::uint8_t>((node - racks()) % planes()));
  if (number < racks()) return {.plane = plane, .tier = fabric::Tier::kT0, .index = number};
  number -= racks();
  if (number < fabric_.t1s()) return {.plane = plane, .tier = fabric::Tier::kT1, .index = number};
  return {.plane = plane, .tier = fabric::Tier::kT2, .index = number - fabric_.t1s()};
}

}  // namespace openmrc::sim
