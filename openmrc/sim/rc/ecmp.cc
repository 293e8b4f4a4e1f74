// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/ecmp.h"

#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::sim {

Ecmp::Ecmp(const Network& network, Picoseconds reroute_after)
    : network_(network), routing_(network, reroute_after) {}

std::uint64_t Ecmp::hash(const EcmpFlow& flow) const {
  std::uint64_t state = network_.scenario().seed;
  for (const std::uint32_t part : {flow.from.raw(), flow.to.raw(), flow.qpn.raw()}) {
    state = split_mix(state) ^ part;
  }
  return split_mix(state);
}

// Planes and paths take different halves, so that one says nothing about the other.
Plane Ecmp::plane(const EcmpFlow& flow) const {
  return Plane(static_cast<std::uint8_t>((hash(flow) >> 32) % network_.planes()));
}

std::uint16_t Ecmp::path(const EcmpFlow& flow, Plane plane, Picoseconds now) const {
  const Routing::Racks racks{.from = network_.fabric().rack_of(flow.from),
                             .to = network_.fabric().rack_of(flow.to)};
  if (racks.from == racks.to || !network_.fabric().has_t1()) return 0;
  const std::uint32_t paths = network_.fabric().evs_per_plane();
  const auto drawn = static_cast<std::uint32_t>(hash(flow));
  const std::uint32_t first = drawn % paths;
  if (routing_.uses(racks, plane, first, now)) return static_cast<std::uint16_t>(first);

  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < paths; ++i) {
    if (routing_.uses(racks, plane, i, now)) left.push_back(i);
  }
  return static_cast<std::uint16_t>(left.empty() ? first : left[drawn / paths % left.size()]);
}

}  // namespace openmrc::sim
