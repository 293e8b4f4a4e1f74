// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/reverse_probes.h"

#include <utility>

namespace openmrc::core {

std::optional<PathSet::Choice> ReverseProbes::next(PathSet& paths, PlaneMask ports) {
  // Planes without a path are being probed already, to be good again.
  const PlaneMask eligible = ports & paths.planes();
  if (eligible.empty()) return std::nullopt;
  const Plane plane = eligible.next_from(next_);
  next_ = static_cast<std::uint8_t>(plane.raw() + 1);
  const auto ev = paths.any_good(plane);
  if (!ev) return std::nullopt;
  PerPlane& at = of(plane);
  if (at.unanswered >= kUnansweredMax) {
    silent_.add(plane);
  } else {
    ++at.unanswered;
  }
  if (at.probed) at.missing = at.probed;
  at.probed = *ev;
  return PathSet::Choice{*ev, plane};
}

std::optional<EvIndex> ReverseProbes::answered(EvIndex ev, Plane plane) {
  PerPlane& at = of(plane);
  if (at.missing == ev) at.missing.reset();
  if (at.probed != ev) return std::nullopt;  // it is late
  at.probed.reset();
  return std::exchange(at.missing, std::nullopt);
}

}  // namespace openmrc::core
