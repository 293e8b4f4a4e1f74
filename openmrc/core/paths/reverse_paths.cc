// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/reverse_paths.h"

#include <utility>

namespace openmrc::core {

std::optional<PathSet::Choice> ReversePaths::choose(Instant now, PathSet& paths, PlaneMask ports) {
  PlaneMask eligible = ports & PlaneMask::first(count_);
  const PlaneMask trusted(eligible.bits() & ~suspect_.bits() & paths.planes().bits());
  if (!trusted.empty()) eligible = trusted;
  if (eligible.empty()) return std::nullopt;
  const Plane plane = eligible.next_from(next_);
  next_ = static_cast<std::uint8_t>(plane.raw() + 1);
  PerPlane& at = of(plane);
  if (at.count == 0 || at.trusted_until < now) {
    // Each time another. A plane of which no path is good is better than silence.
    const EvIndex first(static_cast<std::uint8_t>(paths.profile().range(plane).first));
    return PathSet::Choice{paths.any_good(plane).value_or(first), plane};
  }
  at.turn = static_cast<std::uint8_t>(at.turn + 1 < at.count ? at.turn + 1 : 0);
  return PathSet::Choice{at.evs[at.turn], plane};
}

void ReversePaths::forget(EvIndex ev, Plane plane) {
  if (!planes_) return;
  PerPlane& at = of(plane);
  if (at.count == 2 && at.evs[1] == ev) {
    at.count = 1;
  } else if (at.count > 0 && at.evs[0] == ev) {
    at.evs[0] = at.evs[1];
    --at.count;
  }
  at.turn = 0;
}

std::optional<EvIndex> ReversePaths::answered(EvIndex ev, Plane plane) {
  PerPlane& at = of(plane);
  if (at.missing == ev) at.missing.reset();
  if (at.probed != ev) return std::nullopt;  // it is late
  at.probed.reset();
  return std::exchange(at.missing, std::nullopt);
}

std::optional<PathSet::Choice> ReversePaths::next_probe(PathSet& paths, PlaneMask ports) {
  // Planes without a path are being probed already, to be good again.
  const PlaneMask eligible = ports & paths.planes();
  if (eligible.empty()) return std::nullopt;
  const Plane plane = eligible.next_from(next_probed_);
  next_probed_ = static_cast<std::uint8_t>(plane.raw() + 1);
  PerPlane& at = of(plane);
  // After a probe without answer, ask whether what is in use still works.
  const bool verify = at.count > 0 && at.probed && at.probed != at.evs[0];
  const auto ev = verify ? at.evs[0] : paths.any_good(plane);
  if (!ev) return std::nullopt;
  if (at.unanswered >= kUnansweredMax) {
    suspect_.add(plane);
  } else {
    ++at.unanswered;
  }
  if (at.probed) at.missing = at.probed;
  at.probed = *ev;
  return PathSet::Choice{*ev, plane};
}

}  // namespace openmrc::core
