// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/core/paths/proven_evs.h"

namespace openmrc::core {

// The EVs of control packets (MRC 9.3.1): planes in turn, and in each plane those that were last
// seen to work. A plane in which nothing is known to work is searched: each control packet takes
// another of its paths, also those that are disabled, because what is known of them may be wrong:
// the answer to a probe is lost on the way of the peer as often as the probe is on ours.
// PATH-68, PATH-69, PATH-73
class ReversePaths {
 public:
  // As many packets of one moment as `burst` take one path that is known to work.
  explicit ReversePaths(std::size_t planes, std::uint8_t burst = 1)
      : count_(static_cast<std::uint8_t>(planes)), burst_(burst) {}

  // The path for the next control packet. Planes in `silent` are left out as long as another is in
  // `ports`.
  [[nodiscard]] std::optional<PathSet::Choice> choose(Instant now, PathSet& paths, PlaneMask ports,
                                                      PlaneMask silent);
  // The next path of a search, whatever is known to work.
  [[nodiscard]] std::optional<PathSet::Choice> search(PathSet& paths, PlaneMask ports);

  // `ev` is known to work. `rtt`: how often one is confirmed if all is well.
  void confirm(EvIndex ev, Plane plane, Instant now, Duration rtt) {
    // Planes are probed in turn. One probe may be lost, and the next has to come back.
    of(plane).proven.add(ev, now + rtt * (kTrustedTurns * count_));
  }
  // `ev` is disabled.
  void forget(EvIndex ev, Plane plane) {
    if (planes_) planes_[plane.raw()].proven.remove(ev);
    repeats_left_ = 0;
  }
  // The peer does not hear us: whatever was seen to work, all planes are searched.
  void doubt(PathSet& paths);

  void prefetch() const { prefetch_memory(planes_.get(), count_ * sizeof(PerPlane)); }

  [[nodiscard]] bool is_searching(Plane plane, Instant now) const {
    return !planes_ || !planes_[plane.raw()].proven.has_any(now);
  }

 private:
  static constexpr std::int64_t kTrustedTurns = 3;

  struct PerPlane {
    ProvenEvs proven;
    std::uint8_t searched = 0;  // paths so far, wrapping
  };
  // Allocated when a packet is first sent or confirmed: many peers are idle.
  PerPlane& of(Plane plane) {
    if (!planes_) [[unlikely]]
      planes_ = std::make_unique<PerPlane[]>(count_);
    return planes_[plane.raw()];
  }
  [[nodiscard]] bool may_repeat(Instant now, PlaneMask ports) const {
    return repeats_left_ > 0 && now == chosen_at_ && ports.has(chosen_.plane);
  }
  [[nodiscard]] Plane next_plane(PlaneMask eligible);
  [[nodiscard]] EvIndex search(PathSet& paths, Plane plane);

  std::uint8_t count_;
  std::uint8_t burst_;
  std::uint8_t next_ = 0;
  std::uint8_t repeats_left_ = 0;
  PathSet::Choice chosen_{};
  Instant chosen_at_{};
  std::unique_ptr<PerPlane[]> planes_;
};

}  // namespace openmrc::core
