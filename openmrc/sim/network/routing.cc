// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/routing.h"

#include <algorithm>

namespace openmrc::sim {

Routing::Routing(const Network& network, Picoseconds reroute_after)
    : network_(network), reroute_after_(reroute_after) {
  for (const LinkFault& fault : network.scenario().faults) {
    if (!fault.down || fault.link.kind == fabric::LinkId::Kind::kHost) continue;
    changes_.push_back(fault.from + reroute_after);
    if (fault.to != kNoTime) changes_.push_back(fault.to);
  }
  std::sort(changes_.begin(), changes_.end());
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
}

bool Routing::uses(const Racks& racks, Plane plane, std::uint32_t path, Picoseconds now) const {
  const fabric::Fabric& fabric = network_.fabric();
  const std::uint32_t uplink = fabric.uplink_of(path);
  for (const std::uint32_t rack : {racks.from, racks.to}) {
    if (!uses_link({fabric::LinkId::Kind::kUplink, plane, rack, uplink}, now)) return false;
  }
  const T1s t1s{.from = fabric.t1_of(racks.from, uplink), .to = fabric.t1_of(racks.to, uplink)};
  return t1s.from == t1s.to || uses_t1_uplink(t1s, plane, fabric.t1_uplink_of(path), now);
}

bool Routing::uses_uplink(const Racks& racks, Plane plane, std::uint32_t uplink,
                          Picoseconds now) const {
  const std::uint32_t ways = std::max(network_.fabric().shape().t1_uplinks, 1U);
  for (std::uint32_t i = 0; i < ways; ++i) {
    if (uses(racks, plane, network_.fabric().path_of(uplink, i), now)) return true;
  }
  return false;
}

bool Routing::uses_t1_uplink(const T1s& t1s, Plane plane, std::uint32_t t1_uplink,
                             Picoseconds now) const {
  using Kind = fabric::LinkId::Kind;
  return uses_link({Kind::kT1Uplink, plane, t1s.from, t1_uplink}, now) &&
         uses_link({Kind::kT1Uplink, plane, t1s.to, t1_uplink}, now);
}

bool Routing::is_given_up(const fabric::LinkId& link, bool upward, Picoseconds now) const {
  const LinkFaults::Index fault = network_.faults().find(link, upward);
  if (fault == LinkFaults::kNone) return false;
  Picoseconds down_since = kNoTime;  // kNoTime: it is up
  for (const LinkState& state : network_.faults().timeline(fault)) {
    if (state.from > now) break;
    down_since = state.up ? kNoTime : std::min(down_since, state.from);
  }
  return down_since != kNoTime && now - down_since >= reroute_after_;
}

Picoseconds Routing::next_change(Picoseconds now) const {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), now);
  return next == changes_.end() ? kNoTime : *next;
}

}  // namespace openmrc::sim
