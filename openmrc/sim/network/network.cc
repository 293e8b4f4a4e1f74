// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/network.h"

#include <algorithm>
#include <limits>

#include "openmrc/base/check.h"
#include "openmrc/sim/network/packet_size.h"

namespace openmrc::sim {
namespace {

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

softswitch::QueuePolicy make_policy(const SwitchSettings& settings, std::uint32_t bdp_bytes,
                                    PortKind kind) {
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
  const bool marks = settings.ecn && policy.ecn_max_bytes != 0;
  if (!marks) policy.ecn_min_bytes = policy.ecn_max_bytes = 0;
  if (marks && settings.ecn_min_bytes != 0) policy.ecn_min_bytes = settings.ecn_min_bytes;
  if (marks && settings.ecn_max_bytes != 0) policy.ecn_max_bytes = settings.ecn_max_bytes;
  // What PFC holds back need not fit.
  if (settings.pfc) policy.data_max_bytes = std::numeric_limits<std::int32_t>::max();
  if (settings.queue_bytes != 0) policy.data_max_bytes = settings.queue_bytes;
  return policy;
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
  const bool two_tiers = fabric_.has_t1();
  const std::uint32_t full = write_size(scenario.mtu(), false);
  const auto one_way = [&](std::uint32_t size) {
    Picoseconds time = (host_line_.serialisation(size) + host_line_.delay) * 2;
    if (two_tiers) time += (uplink_line_.serialisation(size) + uplink_line_.delay) * 2;
    return time;
  };
  base_rtt_ = Duration((one_way(full) + one_way(kSackSize)).raw() / 1'000 + 1);
  const std::int64_t bits = base_rtt_.raw() * (scenario.shape.host_link_bits_per_second / 1'000);
  bdp_bytes_ = scenario.switches.bdp_bytes != 0 ? scenario.switches.bdp_bytes
                                                : static_cast<std::uint32_t>(bits / 8'000'000);
  for (const PortKind kind : {PortKind::kT0Up, PortKind::kT1Down, PortKind::kT0Down}) {
    policies_[static_cast<std::size_t>(kind)] = make_policy(scenario.switches, bdp_bytes_, kind);
  }
  window_ = two_tiers ? std::min(host_line_.delay, uplink_line_.delay) : host_line_.delay;
  const auto slowest = [&](const Line& line) {
    return line.serialisation(full) * 100 / faults_.speed_percent_min() + line.delay;
  };
  const Picoseconds longest = std::max(slowest(host_line_), slowest(uplink_line_));
  windows_ahead_max_ = static_cast<std::uint32_t>(longest.raw() / window_.raw() + 2);
}

fabric::SwitchId Network::switch_of(NodeIndex node) const {
  OPENMRC_DCHECK(!is_host_rack(node) && node < nodes(), "a switch");
  const std::uint32_t number = (node - racks()) / planes();
  const Plane plane(static_cast<std::uint8_t>((node - racks()) % planes()));
  if (number < racks()) return {.plane = plane, .tier = fabric::Tier::kT0, .index = number};
  return {.plane = plane, .tier = fabric::Tier::kT1, .index = number - racks()};
}

}  // namespace openmrc::sim
