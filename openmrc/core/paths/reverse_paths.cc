// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/reverse_paths.h"

namespace openmrc::core {

Plane ReversePaths::next_plane(PlaneMask eligible) {
  const Plane plane = eligible.next_from(next_);
  next_ = static_cast<std::uint8_t>(plane.raw() + 1);
  return plane;
}

std::optional<PathSet::Choice> ReversePaths::choose(Instant now, PathSet& paths, PlaneMask ports,
                                                    PlaneMask silent) {
  if (may_repeat(now, ports)) {
    --repeats_left_;
    return chosen_;
  }
  PlaneMask eligible = ports & PlaneMask::first(count_);
  const PlaneMask heard(eligible.bits() & ~silent.bits() & paths.planes().bits());
  if (!heard.empty()) eligible = heard;
  if (eligible.empty()) return std::nullopt;
  const Plane plane = next_plane(eligible);
  const auto proven = of(plane).proven.next(now);
  if (!proven) return PathSet::Choice{search(paths, plane), plane};
  chosen_ = {*proven, plane};
  chosen_at_ = now;
  repeats_left_ = static_cast<std::uint8_t>(burst_ - 1);
  return chosen_;
}

std::optional<PathSet::Choice> ReversePaths::search(PathSet& paths, PlaneMask ports) {
  const PlaneMask eligible = ports & PlaneMask::first(count_);
  if (eligible.empty()) return std::nullopt;
  const Plane plane = next_plane(eligible);
  return PathSet::Choice{search(paths, plane), plane};
}

EvIndex ReversePaths::search(PathSet& paths, Plane plane) {
  PerPlane& at = of(plane);
  const PathRange range = paths.profile().paths(plane);
  for (unsigned tries = 0; tries < range.count; ++tries) {
    const auto path = static_cast<std::uint8_t>(range.first + at.searched++ % range.count);
    if (const auto ev = paths.probe_ev(PathIndex(path))) return *ev;
  }
  // All are denied: still better than silence.
  return EvIndex(static_cast<std::uint8_t>(paths.profile().range(plane).first));
}

// From a random path on, so that searches at both ends do not fail in step.
void ReversePaths::doubt(PathSet& paths) {
  for (unsigned i = 0; i < count_; ++i) {
    PerPlane& at = of(Plane(static_cast<std::uint8_t>(i)));
    at.proven.clear();
    at.searched = static_cast<std::uint8_t>(paths.draw(kEvsPerProfileMax));
  }
  repeats_left_ = 0;
}

}  // namespace openmrc::core
