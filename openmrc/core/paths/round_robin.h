// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/paths/path_rotation.h"
#include "openmrc/core/paths/path_signals.h"

namespace openmrc::core {

// One path after the other, congested or not: what to compare other policies with.
class RoundRobin {
 public:
  // Before anything else; allocates.
  void start(const EvProfile& profile, PathRandom) { rotation_.start(profile); }

  void add(Plane plane, PathIndex path) { rotation_.add(plane, path); }
  void remove(Plane plane, PathIndex path) { rotation_.remove(plane, path); }
  [[nodiscard]] unsigned size(Plane plane) const { return rotation_.size(plane); }

  // The plane has a path.
  [[nodiscard]] PathIndex choose(Plane plane) { return rotation_.next_in_order(plane); }
  // The same for a packet that took `avoid` before.
  [[nodiscard]] PathIndex choose_avoiding(Plane plane, PathIndex avoid) {
    const PathIndex path = choose(plane);
    return path == avoid ? choose(plane) : path;
  }

  void on_congestion(const PathCongestion&) {}
  void on_clean(PathIndex, Plane) {}
  [[nodiscard]] static bool skips(PathIndex) { return false; }

  void prefetch(const EvProfile& profile) const { rotation_.prefetch(profile); }

 private:
  PathRotation rotation_;
};

}  // namespace openmrc::core
