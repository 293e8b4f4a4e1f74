// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/routing.h"

#include <algorithm>

namespace openmrc::sim {

Routing::Routing(const Network& network, Picoseconds reroute_after)
    : network_(network), reroute_after_(reroute_after) {
  for (const LinkFault& fault : network.scenario().faults) {
    if (!fault.down || fault.link.kind != fabric::LinkId::Kind::kUplink) continue;
    changes_.push_back(fault.from + reroute_after);
    if (fault.to != kNoTime) changes_.push_back(fault.to);
  }
  std::sort(changes_.begin(), changes_.end());
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
}

bool Routing::uses(const Racks& racks, Plane plane, std::uint32_t uplink, Picoseconds now) const {
  for (const std::uint32_t rack : {racks.from, racks.to}) {
    const fabric::LinkId link{
        .kind = fabric::LinkId::Kind::kUplink, .plane = plane, .rack = rack, .port = uplink};
    // A switch takes a link out when either direction is down.
    if (is_given_up(link, true, now) || is_given_up(link, false, now)) return false;
  }
  return true;
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
