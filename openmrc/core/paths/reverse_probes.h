// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/plane_mask.h"

namespace openmrc::core {

// Whoever receives and does not send learns nothing about its paths from SACKs, so it probes one EV
// in every round trip in which something arrives (MRC 9.3.1). Says which, and what follows from
// answers that do not come.
class ReverseProbes {
 public:
  explicit ReverseProbes(std::size_t planes) : count_(static_cast<std::uint8_t>(planes)) {}

  // A plane and a good EV to probe, planes in turn; the caller sends the probe.
  [[nodiscard]] std::optional<PathSet::Choice> next(PathSet& paths, PlaneMask ports);
  // The probe of `ev` was answered. Returns the EV of an earlier one of the plane that was not.
  // PATH-71
  [[nodiscard]] std::optional<EvIndex> answered(EvIndex ev, Plane plane);
  // Some EV of the plane is known to work.
  void confirm(Plane plane) {
    silent_.remove(plane);
    if (planes_) planes_[plane.raw()].unanswered = 0;
  }
  // Planes whose probes went unanswered.
  [[nodiscard]] PlaneMask silent() const { return silent_; }

 private:
  // So many probes in a row without an answer make a plane silent (PATH-72).
  static constexpr std::uint8_t kUnansweredMax = 2;

  struct PerPlane {
    std::uint8_t unanswered = 0;       // probes in a row
    std::optional<EvIndex> probed{};   // by the latest probe, if that has not been answered
    std::optional<EvIndex> missing{};  // the same of the one before it
  };
  PerPlane& of(Plane plane) {
    if (!planes_) planes_ = std::make_unique<PerPlane[]>(count_);
    return planes_[plane.raw()];
  }

  std::uint8_t count_;
  std::uint8_t next_ = 0;
  PlaneMask silent_;
  std::unique_ptr<PerPlane[]> planes_;  // null until the first probe: many peers are idle
};

}  // namespace openmrc::core
