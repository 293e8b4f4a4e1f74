// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/network/network.h"

namespace openmrc::sim {

// Which uplinks routing uses between two racks: all, until a link has been down for a while. It
// does not change during a run, so every thread may ask.
class Routing {
 public:
  struct Racks {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  // `network` outlives it.
  Routing(const Network& network, Picoseconds reroute_after);

  // The path from one rack up to a T1 and down to the other rack.
  [[nodiscard]] bool uses(const Racks& racks, Plane plane, std::uint32_t uplink,
                          Picoseconds now) const;
  // Until then nothing changes.
  [[nodiscard]] Picoseconds next_change(Picoseconds now) const;
  [[nodiscard]] bool never_changes() const { return changes_.empty(); }

 private:
  [[nodiscard]] bool is_given_up(const fabric::LinkId& link, bool upward, Picoseconds now) const;

  const Network& network_;
  Picoseconds reroute_after_;
  std::vector<Picoseconds> changes_;  // when a link may begin or cease to be given up; sorted
};

}  // namespace openmrc::sim
