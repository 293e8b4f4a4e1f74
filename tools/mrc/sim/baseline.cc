// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "openmrc/text/numbers.h"

namespace openmrc::tools {
namespace {

using sim::LinkFault;

// Thresholds in bytes stand for times at a link's speed.
void scale(std::uint32_t& bytes, std::uint32_t factor) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  bytes = static_cast<std::uint32_t>(std::min(std::uint64_t{bytes} * factor, kMost));
}

// Losses of one link add up, so what hits a link in every plane must not be there several times.
void move_to_one_plane(std::vector<LinkFault>& faults) {
  for (LinkFault& fault : faults) fault.link.plane = Plane(0);
  const auto key = [](const LinkFault& fault) {
    return std::tuple(fault.link, fault.from, fault.to, fault.direction, fault.down,
                      fault.loss_per_billion, fault.speed_percent, fault.seen_by_nic);
  };
  std::ranges::sort(faults, {}, key);
  const auto repeats = std::ranges::unique(faults);
  faults.erase(repeats.begin(), repeats.end());
}

}  // namespace

sim::Scenario as_rc(sim::Scenario scenario) {
  if (const auto* mrc = std::get_if<sim::MrcTransport>(&scenario.transport)) {
    scenario.transport = sim::RcTransport{.mtu = mrc->profile.mtu, .queue_pairs = mrc->queue_pairs};
  }
  sim::SwitchSettings& switches = scenario.switches;
  switches.trimming = false;
  switches.pfc = true;
  switches.ecn_on_last_hop = true;  // where MRC leaves it to trimming
  const std::uint32_t planes = scenario.shape.planes;
  scenario.shape.planes = 1;
  scenario.shape.host_link_bits_per_second *= planes;
  scenario.shape.uplink_bits_per_second *= planes;
  for (std::uint32_t* bytes :
       {&switches.bdp_bytes, &switches.ecn_min_bytes, &switches.ecn_max_bytes,
        &switches.queue_bytes, &switches.buffer_bytes, &switches.headroom_bytes}) {
    scale(*bytes, planes);
  }
  move_to_one_plane(scenario.faults);
  return scenario;
}

std::string describe_rc(const sim::Scenario& original) {
  const fabric::Shape& shape = original.shape;
  std::string text =
      "RC (RoCEv2): one path by hash, go-back-N, DCQCN; switches pause (PFC) instead of trimming";
  if (shape.planes == 1) return text + ".";
  const auto speed = static_cast<double>(shape.host_link_bits_per_second);
  return text + fmt::format(
                    "; one plane of {} instead of {} of {}, so that a host has the same bandwidth. "
                    "A fault hits the same link or switch of that plane.",
                    text::human_rate(speed * shape.planes), shape.planes, text::human_rate(speed));
}

}  // namespace openmrc::tools
