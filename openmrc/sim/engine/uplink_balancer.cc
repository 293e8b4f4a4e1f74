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

UplinkBalancer::UplinkBalancer(const Network& network, NodeIndex node, std::uint32_t downlinks,
                               std::uint32_t uplinks)
    : network_(network),
      node_(node),
      own_(network.switch_of(node)),
      downlinks_(downlinks),
      adaptive_(network.scenario().switches.balancing == Balancing::kAdaptive),
      routing_(network, reroute_after(network)),
      free_at_(uplinks),
      routes_(routing_.never_changes() ? 1 : network.racks()),
      lists_(uplinks) {}

void UplinkBalancer::spread(const Arrivals& arrivals, const Window& window) {
  for (std::uint32_t i = 0; i < lists_.size(); ++i) {
    const auto own = arrivals.at(downlinks_ + i);
    lists_[i].assign(own.begin(), own.end());
  }
  for (const Packet& packet : arrivals.at(downlinks_ + lists_.size())) {
    lists_[choose(packet, window.begin + packet.key.time())].push_back(packet);
  }
  for (std::uint32_t i = 0; i < lists_.size(); ++i) {
    if (lists_[i].size() == arrivals.at(downlinks_ + i).size()) continue;
    std::sort(lists_[i].begin(), lists_[i].end(),
              [](const Packet& a, const Packet& b) { return a.key.order() < b.key.order(); });
  }
}

// If several uplinks are as good, chance decides: else all T0s would begin with the same T1.
std::uint16_t UplinkBalancer::choose(const Packet& packet, Picoseconds at) {
  const std::vector<std::uint16_t>& uplinks = route_to(place_of(packet.to), at);
  const auto all = static_cast<std::uint32_t>(lists_.size());
  const std::uint32_t drawn = network_.random(node_, all, drawn_++);
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

std::uint32_t UplinkBalancer::place_of(fabric::HostIndex host) const {
  const std::uint32_t rack = network_.fabric().rack_of(host);
  return own_.tier == fabric::Tier::kT0 ? rack : network_.fabric().pod_of_rack(rack);
}

bool UplinkBalancer::uses(std::uint32_t place, std::uint32_t uplink, Picoseconds now) const {
  if (own_.tier == fabric::Tier::kT0) {
    return routing_.uses_uplink({.from = own_.index, .to = place}, own_.plane, uplink, now);
  }
  const fabric::Fabric& fabric = network_.fabric();
  const std::uint32_t peer = fabric.t1_in_pod(place, own_.index % fabric.t1s_per_pod());
  return routing_.uses_t1_uplink({.from = own_.index, .to = peer}, own_.plane, uplink, now);
}

const std::vector<std::uint16_t>& UplinkBalancer::route_to(std::uint32_t place, Picoseconds now) {
  Route& route = routes_[routing_.never_changes() ? 0 : place];
  if (now < route.valid_until) return route.uplinks;
  route.uplinks.clear();
  for (std::uint32_t i = 0; i < lists_.size(); ++i) {
    if (uses(place, i, now)) route.uplinks.push_back(static_cast<std::uint16_t>(i));
  }
  // Where no path is left, packets go where they are lost.
  if (route.uplinks.empty()) route.uplinks.push_back(0);
  route.valid_until = routing_.next_change(now);
  return route.uplinks;
}

}  // namespace openmrc::sim
