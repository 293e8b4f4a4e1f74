// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/uplink_balancer.h"

#include <algorithm>
#include <variant>

namespace openmrc::sim {
namespace {

Picoseconds reroute_after(const Network& network) {
  const auto* rc = std::get_if<RcTransport>(&network.scenario().transport);
  return rc != nullptr ? rc->reroute_after : Picoseconds{};
}

}  // namespace

UplinkBalancer::UplinkBalancer(const Network& network, NodeIndex node)
    : network_(network),
      node_(node),
      plane_(network.switch_of(node).plane),
      rack_(network.switch_of(node).index),
      adaptive_(network.scenario().switches.balancing == Balancing::kAdaptive),
      routing_(network, reroute_after(network)),
      free_at_(network.uplinks()),
      routes_(routing_.never_changes() ? 1 : network.racks()),
      lists_(network.uplinks()) {}

void UplinkBalancer::spread(const Arrivals& arrivals, const Window& window) {
  const std::uint32_t first = network_.hosts_per_rack();
  for (std::uint32_t i = 0; i < lists_.size(); ++i) {
    const auto own = arrivals.at(first + i);
    lists_[i].assign(own.begin(), own.end());
  }
  for (const Packet& packet : arrivals.at(first + lists_.size())) {
    lists_[choose(packet, window.begin + packet.key.time())].push_back(packet);
  }
  for (std::uint32_t i = 0; i < lists_.size(); ++i) {
    if (lists_[i].size() == arrivals.at(first + i).size()) continue;
    std::sort(lists_[i].begin(), lists_[i].end(),
              [](const Packet& a, const Packet& b) { return a.key.order() < b.key.order(); });
  }
}

// If several uplinks are as good, chance decides: else all T0s would begin with the same T1.
std::uint16_t UplinkBalancer::choose(const Packet& packet, Picoseconds at) {
  const std::vector<std::uint16_t>& uplinks = route_to(network_.fabric().rack_of(packet.to), at);
  const std::uint32_t drawn = network_.random(node_, network_.uplinks(), drawn_++);
  const std::size_t first = std::uint64_t{drawn} * uplinks.size() >> 32;
  std::uint16_t best = uplinks[first];
  if (adaptive_) {
    const auto free = [&](std::uint16_t uplink) { return std::max(free_at_[uplink], at); };
    for (std::size_t i = 1; i < uplinks.size(); ++i) {
      const std::size_t place = first + i;
      const std::uint16_t other = uplinks[place < uplinks.size() ? place : place - uplinks.size()];
      if (free(other) < free(best)) best = other;
    }
    free_at_[best] = free(best) + network_.uplink_line().serialisation(packet.size);
  }
  return best;
}

const std::vector<std::uint16_t>& UplinkBalancer::route_to(std::uint32_t rack, Picoseconds now) {
  Route& route = routes_[routing_.never_changes() ? 0 : rack];
  if (now < route.valid_until) return route.uplinks;
  route.uplinks.clear();
  for (std::uint32_t i = 0; i < network_.uplinks(); ++i) {
    if (routing_.uses({.from = rack_, .to = rack}, plane_, i, now)) {
      route.uplinks.push_back(static_cast<std::uint16_t>(i));
    }
  }
  // Where no path is left, packets go where they are lost.
  if (route.uplinks.empty()) route.uplinks.push_back(0);
  route.valid_until = routing_.next_change(now);
  return route.uplinks;
}

}  // namespace openmrc::sim
