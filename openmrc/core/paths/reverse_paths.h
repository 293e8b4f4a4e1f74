// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/plane_mask.h"

namespace openmrc::core {

// The EVs of control packets (MRC 9.3.1): two for each plane, replaced by whatever has last been
// seen to work. Whoever sends data learns that from SACKs. Whoever only receives probes one EV in
// every round trip in which something arrives. What was seen to work long ago may not work any
// more: then each control packet takes another, so that some get through.
class ReversePaths {
 public:
  explicit ReversePaths(std::size_t planes) : count_(static_cast<std::uint8_t>(planes)) {}

  // The path for the next control packet, planes in turn. A plane whose probes went unanswered is
  // left out as long as another is in `ports`.
  [[nodiscard]] std::optional<PathSet::Choice> choose(Instant now, PathSet& paths, PlaneMask ports);

  // `ev` is known to work. `rtt`: how often one is confirmed if all is well.
  void confirm(EvIndex ev, Plane plane, Instant now, Duration rtt) {
    PerPlane& at = of(plane);
    if (at.trusted_until < now) at.count = 0;  // what was known before is too old
    // Planes are probed in turn. One probe may be lost, and the next has to come back.
    at.trusted_until = now + rtt * (kTrustedTurns * count_);
    at.unanswered = 0;
    suspect_.remove(plane);
    if (at.evs[0] == ev && at.count > 0) return;
    at.evs[1] = at.evs[0];
    at.evs[0] = ev;
    if (at.count < 2) ++at.count;
  }
  // `ev` is disabled.
  void forget(EvIndex ev, Plane plane);

  // A plane and an EV to probe, planes in turn; the caller sends the probe.
  [[nodiscard]] std::optional<PathSet::Choice> next_probe(PathSet& paths, PlaneMask ports);
  // The probe of `ev` was answered. Returns the EV of an earlier one that was not: it is lost.
  [[nodiscard]] std::optional<EvIndex> answered(EvIndex ev, Plane plane);

 private:
  // So many probes in a row without an answer make a plane suspect.
  static constexpr std::uint8_t kUnansweredMax = 2;
  static constexpr std::int64_t kTrustedTurns = 3;

  struct PerPlane {
    std::array<EvIndex, 2> evs{};
    std::uint8_t count = 0;  // of evs
    std::uint8_t turn = 0;
    std::uint8_t unanswered = 0;       // probes in a row
    std::optional<EvIndex> probed{};   // by the latest probe, if that has not been answered
    std::optional<EvIndex> missing{};  // the same of the one before it
    Instant trusted_until{};           // from then on nothing is known of `evs`
  };

  // Allocated when a packet is first sent or confirmed: many peers are idle.
  PerPlane& of(Plane plane) {
    if (!planes_) [[unlikely]]
      planes_ = std::make_unique<PerPlane[]>(count_);
    return planes_[plane.raw()];
  }

  std::uint8_t count_;
  std::uint8_t next_ = 0;
  std::uint8_t next_probed_ = 0;
  PlaneMask suspect_;
  std::unique_ptr<PerPlane[]> planes_;
};

}  // namespace openmrc::core
