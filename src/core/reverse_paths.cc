// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/reverse_paths.h"

namespace openmrc::core {

std::optional<PathSet::Choice> ReversePaths::choose(PathSet& paths, PlaneMask ports) {
  PlaneMask eligible = ports & PlaneMask::first(count_);
  const PlaneMask trusted(eligible.bits() & ~suspect_.bits() & paths.planes().bits());
  if (!trusted.empty()) eligible = trusted;
  if (eligible.empty()) return std::nullopt;
  const Plane plane = eligible.next_from(next_);
  next_ = static_cast<std::uint8_t>(plane.raw() + 1);
  PerPlane& at = planes_[plane.raw()];
  if (at.count == 0) {
    const auto good = paths.any_good(plane);
    // A plane of which no path is good is better than silence.
    at.evs[0] =
        good.value_or(EvIndex(static_cast<std::uint8_t>(paths.profile().range(plane).first)));
    if (!good) return PathSet::Choice{at.evs[0], plane};
    at.count = 1;
  }
  at.turn = static_cast<std::uint8_t>(at.turn + 1 < at.count ? at.turn + 1 : 0);
  return PathSet::Choice{at.evs[at.turn], plane};
}

void ReversePaths::forget(EvIndex ev, Plane plane) {
  PerPlane& at = planes_[plane.raw()];
  if (at.count == 2 && at.evs[1] == ev) {
    at.count = 1;
  } else if (at.count > 0 && at.evs[0] == ev) {
    at.evs[0] = at.evs[1];
    --at.count;
  }
  at.turn = 0;
}

std::optional<PathSet::Choice> ReversePaths::next_probe(PathSet& paths, PlaneMask ports) {
  // Planes without a path are being probed already, to be good again.
  const PlaneMask eligible = ports & paths.planes();
  if (eligible.empty()) return std::nullopt;
  const Plane plane = eligible.next_from(next_probed_);
  next_probed_ = static_cast<std::uint8_t>(plane.raw() + 1);
  const auto ev = paths.any_good(plane);
  if (!ev) return std::nullopt;
  PerPlane& at = planes_[plane.raw()];
  if (at.unanswered >= kUnansweredMax) {
    suspect_.add(plane);
  } else {
    ++at.unanswered;
  }
  return PathSet::Choice{*ev, plane};
}

}  // namespace openmrc::core
