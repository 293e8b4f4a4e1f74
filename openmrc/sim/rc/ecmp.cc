// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/ecmp.h"

#include <algorithm>

#include "openmrc/base/rng.h"

namespace openmrc::sim {

Ecmp::Ecmp(const Network& network, Picoseconds reroute_after)
    : network_(network), reroute_after_(reroute_after) {
  for (const LinkFault& fault : network.scenario().faults) {
    if (!fault.down || fault.link.kind != fabric::LinkId::Kind::kUplink) continue;
    changes_.push_back(fault.from + reroute_after);
    if (fault.to != kNoTime) changes_.push_back(fault.to);
  }
  std::sort(changes_.begin(), changes_.end());
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
}

std::uint64_t Ecmp::hash(const EcmpFlow& flow) const {
  std::uint64_t state = network_.scenario().seed;
  for (const std::uint32_t part : {flow.from.raw(), flow.to.raw(), flow.qpn.raw()}) {
    state = split_mix(state) ^ part;
  }
  return split_mix(state);
}

// Planes and uplinks take different halves, so that one says nothing about the other.
Plane Ecmp::plane(const EcmpFlow& flow) const {
  return Plane(static_cast<std::uint8_t>((hash(flow) >> 32) % network_.planes()));
}

std::uint16_t Ecmp::uplink(const EcmpFlow& flow, Plane plane, Picoseconds now) const {
  const std::uint32_t uplinks = network_.uplinks();
  const bool own_rack = network_.fabric().rack_of(flow.from) == network_.fabric().rack_of(flow.to);
  if (own_rack || uplinks == 0) return 0;
  const auto drawn = static_cast<std::uint32_t>(hash(flow));
  const std::uint32_t first = drawn % uplinks;
  if (is_usable(flow, plane, first, now)) return static_cast<std::uint16_t>(first);

  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < uplinks; ++i) {
    if (is_usable(flow, plane, i, now)) left.push_back(i);
  }
  return static_cast<std::uint16_t>(left.empty() ? first : left[drawn / uplinks % left.size()]);
}

// Whether routing still uses the path from one rack up to a T1 and down to the other rack.
bool Ecmp::is_usable(const EcmpFlow& flow, Plane plane, std::uint32_t uplink,
                     Picoseconds now) const {
  for (const fabric::HostIndex end : {flow.from, flow.to}) {
    const fabric::LinkId link{.kind = fabric::LinkId::Kind::kUplink,
                              .plane = plane,
                              .rack = network_.fabric().rack_of(end),
                              .port = uplink};
    // A switch takes a link out when either direction is down.
    if (is_given_up(link, true, now) || is_given_up(link, false, now)) return false;
  }
  return true;
}

bool Ecmp::is_given_up(const fabric::LinkId& link, bool upward, Picoseconds now) const {
  const LinkFaults::Index fault = network_.faults().find(link, upward);
  if (fault == LinkFaults::kNone) return false;
  Picoseconds down_since = kNoTime;  // kNoTime: it is up
  for (const LinkState& state : network_.faults().timeline(fault)) {
    if (state.from > now) break;
    down_since = state.up ? kNoTime : std::min(down_since, state.from);
  }
  return down_since != kNoTime && now - down_since >= reroute_after_;
}

Picoseconds Ecmp::next_change(Picoseconds now) const {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), now);
  return next == changes_.end() ? kNoTime : *next;
}

}  // namespace openmrc::sim
