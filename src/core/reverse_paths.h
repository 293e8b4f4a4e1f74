// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/path_set.h"
#include "openmrc/core/plane_mask.h"

namespace openmrc::core {

// The EVs of control packets (MRC 9.3.1): two for each plane, replaced by whatever has last been
// seen to work. Whoever sends data learns that from SACKs. Whoever only receives probes one EV in
// every round trip in which something arrives.
class ReversePaths {
 public:
  explicit ReversePaths(std::size_t planes)
      : count_(static_cast<std::uint8_t>(planes)), planes_(std::make_unique<PerPlane[]>(planes)) {}

  // The path for the next control packet, planes in turn. A plane whose probes went unanswered is
  // left out as long as another is in `ports`.
  [[nodiscard]] std::optional<PathSet::Choice> choose(PathSet& paths, PlaneMask ports);

  // `ev` is known to work.
  void confirm(EvIndex ev, Plane plane) {
    PerPlane& at = planes_[plane.raw()];
    at.unanswered = 0;
    suspect_.remove(plane);
    if (at.evs[0] == ev && at.count > 0) return;
    at.evs[1] = at.evs[0];
    at.evs[0] = ev;
    if (at.count < 2) ++at.count;
  }
  // `ev` is out of use.
  void forget(EvIndex ev, Plane plane);

  // A plane and an EV to probe, planes in turn; the caller sends the probe.
  [[nodiscard]] std::optional<PathSet::Choice> next_probe(PathSet& paths, PlaneMask ports);

 private:
  // So many probes in a row without an answer make a plane suspect.
  static constexpr std::uint8_t kUnansweredMax = 2;

  struct PerPlane {
    std::array<EvIndex, 2> evs{};
    std::uint8_t count = 0;  // of evs
    std::uint8_t turn = 0;
    std::uint8_t unanswered = 0;
  };

  std::uint8_t count_;
  std::uint8_t next_ = 0;
  std::uint8_t next_probed_ = 0;
  PlaneMask suspect_;
  std::unique_ptr<PerPlane[]> planes_;
};

}  // namespace openmrc::core
