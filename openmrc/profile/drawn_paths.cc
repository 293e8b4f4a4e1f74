// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/drawn_paths.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/rng.h"

namespace openmrc::profile {
namespace {

using fabric::Reach;

// The i-th entry of `paths` belongs to plane i / (entries / planes).
Result<std::shared_ptr<const core::EvProfile>, core::EvProfileError> make_profile(
    const fabric::UsidPlan& plan, std::span<const std::uint16_t> paths, Reach reach,
    const core::EvProfileOptions& options) {
  const std::uint32_t planes = plan.fabric().shape().planes;
  std::vector<core::PortedEv> evs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Plane plane(static_cast<std::uint8_t>(i / (paths.size() / planes)));
    core::PortedEv ev{.port = port_of(plane)};
    const wire::Ipv6Address part = plan.ev_part({.plane = plane, .path = paths[i]}, reach);
    std::ranges::copy(part.bytes, ev.value.begin());
    evs.push_back(ev);
  }
  core::EvFormat format{.mode = core::EvFormatMode::kSrv6};
  for (int group = 0; group < 8; ++group) format.slot_widths.push_back(16);
  auto profile = core::EvProfile::explicit_list(
      {.format = format, .evs = evs, .planes = planes, .options = options});
  if (!profile) return failure(profile.error());
  return std::make_shared<const core::EvProfile>(std::move(*profile));
}

Result<DrawnPaths, core::EvProfileError> make_paths(const fabric::UsidPlan& plan,
                                                    const PathOptions& options,
                                                    std::vector<std::uint16_t> paths) {
  const std::uint32_t planes = plan.fabric().shape().planes;
  auto other_racks = make_profile(
      plan, paths, Reach::kOtherRack,
      {.min_active = options.min_active, .active_per_plane = options.active_per_plane});
  if (!other_racks) return failure(other_racks.error());
  const std::vector<std::uint16_t> one_path(planes, 0);
  auto own_rack = make_profile(plan, one_path, Reach::kOwnRack,
                               {.min_active = std::min(options.min_active, planes)});
  if (!own_rack) return failure(own_rack.error());
  return DrawnPaths{.other_racks = std::move(*other_racks),
                    .own_rack = std::move(*own_rack),
                    .numbers = std::move(paths)};
}

// Appends `count` of so many paths in random order; none twice before all have come.
void draw_plane(Rng& rng, std::uint32_t paths, std::size_t count,
                std::vector<std::uint16_t>& into) {
  std::vector<std::uint16_t> all(paths);
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (left == 0) {
      left = all.size();
      for (std::size_t u = 0; u < all.size(); ++u) all[u] = static_cast<std::uint16_t>(u);
    }
    std::swap(all[rng.below(left)], all[left - 1]);
    into.push_back(all[--left]);
  }
}

}  // namespace

Result<DrawnPaths, core::EvProfileError> draw_paths(const fabric::UsidPlan& plan,
                                                    const PathOptions& options, std::uint32_t set) {
  const fabric::Shape& shape = plan.fabric().shape();
  const std::uint32_t paths = plan.fabric().evs_per_plane();
  std::size_t per_plane = std::max(options.evs / shape.planes, 1u);
  if (options.distinct) per_plane = std::min<std::size_t>(per_plane, paths);
  std::uint64_t state = options.seed.value_or(kPathSeedDefault) + set;
  Rng rng(split_mix(state));
  std::vector<std::uint16_t> drawn;
  for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
    draw_plane(rng, paths, per_plane, drawn);
  }
  return make_paths(plan, options, std::move(drawn));
}

Result<DrawnPaths, core::EvProfileError> paths_over(const fabric::UsidPlan& plan,
                                                    const PathOptions& options,
                                                    std::span<const std::uint16_t> paths) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t plane = 0; plane < plan.fabric().shape().planes; ++plane) {
    all.insert(all.end(), paths.begin(), paths.end());
  }
  return make_paths(plan, options, std::move(all));
}

}  // namespace openmrc::profile
