// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/fabric/usid_plan.h"

namespace openmrc::profile {

inline constexpr std::uint64_t kPathSeedDefault = 1;

// How many paths a connection has, and how they are drawn.
struct PathOptions {
  std::uint32_t evs = 64;  // of a connection, over all planes
  // No two EVs over one path: fewer EVs where a plane has fewer paths. Otherwise paths repeat.
  bool distinct = true;
  std::uint32_t active_per_plane = 0;  // the others stand by; 0: all are in use
  std::uint32_t min_active = 1;        // never fewer of all EVs (ev_min_active, MRC 9.3.1)
  // Hosts draw their paths without coordination; host n has set n modulo `sets`, so that a
  // simulation of a large fabric holds few. More than a rack has hosts.
  std::uint32_t sets = 512;
  std::optional<std::uint64_t> seed{};  // of the sets; default kPathSeedDefault

  bool operator==(const PathOptions&) const = default;
};

// The paths of a host in a fabric, equally many in each plane, as EV profiles.
struct DrawnPaths {
  std::shared_ptr<const core::EvProfile> other_racks;
  std::shared_ptr<const core::EvProfile> own_rack;  // there is one path in each plane
  std::vector<std::uint16_t> numbers{};  // fabric::PathChoice::path of `other_racks`, by EvIndex
};

// Which of the sets a host has.
[[nodiscard]] constexpr std::uint32_t set_of(fabric::HostIndex host, const PathOptions& options) {
  return host.raw() % options.sets;
}
// The same number gives the same paths, whoever asks.
[[nodiscard]] Result<DrawnPaths, core::EvProfileError> draw_paths(const fabric::UsidPlan& plan,
                                                                  const PathOptions& options,
                                                                  std::uint32_t set);
// These paths in every plane.
[[nodiscard]] Result<DrawnPaths, core::EvProfileError> paths_over(
    const fabric::UsidPlan& plan, const PathOptions& options, std::span<const std::uint16_t> paths);

}  // namespace openmrc::profile
