// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/network/routing.h"

namespace openmrc::sim {

// A T0 or T1 that chooses the uplink of each packet itself: the one that will be free first
// (adaptive routing), or any (spraying). Packets that leave it the choice come for the port behind
// its last.
class UplinkBalancer {
 public:
  // Its uplinks follow its downlinks.
  UplinkBalancer(const Network& network, NodeIndex node, std::uint32_t downlinks,
                 std::uint32_t uplinks);

  // Of the uplinks, when each will have sent what waits at the begin of the window; to be filled in
  // before `spread`.
  [[nodiscard]] std::span<Picoseconds> free_at() { return free_at_; }
  void spread(const Arrivals& arrivals, const Window& window);
  // What comes to an uplink in the window, in order: what was spread, and what came for it alone.
  [[nodiscard]] std::span<const Packet> at(std::uint32_t uplink) const { return lists_[uplink]; }

 private:
  // The uplinks that routing uses to a place: of a T0 to another rack, of a T1 to another pod.
  struct Route {
    Picoseconds valid_until{};
    std::vector<std::uint16_t> uplinks;
  };

  [[nodiscard]] std::uint32_t place_of(fabric::HostIndex host) const;
  [[nodiscard]] const std::vector<std::uint16_t>& route_to(std::uint32_t place, Picoseconds now);
  [[nodiscard]] bool uses(std::uint32_t place, std::uint32_t uplink, Picoseconds now) const;
  [[nodiscard]] std::uint16_t choose(const Packet& packet, Picoseconds at);

  const Network& network_;
  NodeIndex node_;
  fabric::SwitchId own_;
  std::uint32_t downlinks_;
  bool adaptive_;
  Routing routing_;
  std::uint64_t drawn_ = 0;  // random numbers so far
  std::vector<Picoseconds> free_at_;
  std::vector<Route> routes_;  // by place; one for all if nothing ever changes
  std::vector<std::vector<Packet>> lists_;
};

}  // namespace openmrc::sim
