// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/probe_plan.h"

namespace openmrc::mapper {

// The links that a host judges as places of a list. By plane: the host's link, then the uplinks.
class LinkPlaces {
 public:
  explicit LinkPlaces(const ProbePlan& plan) : plan_(plan) {}

  [[nodiscard]] std::size_t count() const { return plan_.planes() * per_plane(); }
  [[nodiscard]] std::size_t per_plane() const { return std::size_t{1} + plan_.uplinks(); }

  [[nodiscard]] std::size_t of_host_link(std::uint32_t plane) const { return plane * per_plane(); }
  [[nodiscard]] std::size_t of_uplink(std::uint32_t plane, std::uint32_t uplink) const {
    return of_host_link(plane) + 1 + uplink;
  }
  // The host's link in the plane of another.
  [[nodiscard]] std::size_t host_link_of(std::size_t place) const {
    return place - place % per_plane();
  }
  [[nodiscard]] bool is_host_link(std::size_t place) const { return place % per_plane() == 0; }

  [[nodiscard]] fabric::LinkId link_at(std::size_t place) const {
    const Plane plane(static_cast<std::uint8_t>(place / per_plane()));
    if (is_host_link(place)) return plan_.fabric().host_link(plan_.host(), plane);
    return {.kind = fabric::LinkId::Kind::kUplink,
            .plane = plane,
            .rack = plan_.rack(),
            .port = static_cast<std::uint32_t>(place % per_plane() - 1)};
  }

 private:
  ProbePlan plan_;
};

}  // namespace openmrc::mapper
