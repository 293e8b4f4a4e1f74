// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/report.h"

namespace openmrc::mapper {

// Whether so many agents are enough to name an uplink that so many see. Prometheus' rules have the
// same.
constexpr bool is_half(std::uint32_t agents, std::uint32_t all) { return agents * 2 >= all; }

// An uplink that too few agents of the rack are sure about, and all together are; or one that half
// of them have named, of which all together know the direction.
struct RackFinding {
  fabric::LinkId link{};
  Direction direction = Direction::kUnknown;
  Tally seen{};
  Duration span{};           // in which that was seen
  std::uint32_t agents = 0;  // that have lost something there
  bool is_named = false;     // by half of the agents
};

// Whether losses on one uplink of a T0 are too many beside those of its others. It is asked of all
// uplinks of the fabric, and for all spans.
bool stands_out_in_rack(const fabric::Shape& shape, const Tally& own, const Tally& others);

// An agent sees an uplink of the published fabric in one of 256 rounds, its rack in every one. So
// rare losses are found by adding up what the agents of a rack have lost recently. All uplinks of a
// T0 are probed equally often, by the same hosts: losses that are anybody else's are spread evenly,
// and whether too many are on one link is a question of arithmetic. `agents` are of one rack.
std::vector<RackFinding> find_in_rack(const fabric::Fabric& fabric,
                                      std::span<const MapReport* const> agents);

}  // namespace openmrc::mapper
