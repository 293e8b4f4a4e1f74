// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/core/ev_profile.h"
#include "openmrc/core/ev_state.h"
#include "openmrc/core/plane_mask.h"

namespace openmrc::core {

// The paths to one peer: which of a profile's EVs are in use, and which comes next (MRC 9.3).
//
// Each plane has active EVs, in rotation, and others: backups that are good, and those out of use.
// MRC 9.3.2: a path that fails is replaced by a backup of the same plane, never of another, so that
// planes stay equally loaded. The state is a few bits and one byte per EV; what an EV means is the
// profile's, shared by all peers.
class PathSet {
 public:
  // `profile` must outlive this. The order of EVs follows from `seed`.
  PathSet(const EvProfile& profile, std::uint64_t seed);

  struct Choice {
    EvIndex ev;
    Plane plane;
  };
  // MRC 9.3.1 (GetSendParams): the EV of the next packet. Takes the planes in turn, passing over
  // those that are not in `ports`, and in a plane all active EVs in an order that is drawn anew for
  // each pass. `avoid` is not chosen if its plane has another. Nothing if no plane in `ports` has a
  // path.
  [[nodiscard]] std::optional<Choice> choose(PlaneMask ports,
                                             std::optional<EvIndex> avoid = std::nullopt);
  // Planes that have a path.
  [[nodiscard]] PlaneMask planes() const { return planes_; }

  [[nodiscard]] EvState state(EvIndex ev) const {
    return static_cast<EvState>(states_[ev.raw() / 4] >> (ev.raw() % 4 * 2) & 3);
  }
  // How many EVs are GOOD or SKIP, active or not.
  [[nodiscard]] unsigned usable() const { return usable_; }

  // Changes the EV's state as the table of ev_state.h says; returns the state before. The floor
  // (ev_min_active) is kept: with no more usable EVs than that, none is given up for loss, because
  // a path that loses some packets is better than none (MRC 9.3.1).
  EvState apply(EvIndex ev, EvInput input);

  // A random EV of the plane that is GOOD; for reverse paths. Nothing if it has none.
  [[nodiscard]] std::optional<EvIndex> any_good(Plane plane);

  [[nodiscard]] const EvProfile& profile() const { return *profile_; }

 private:
  struct Rotation {
    std::uint16_t active = 0;  // the first so many of the plane's EVs are in rotation
    std::uint16_t cursor = 0;  // those before it have had their turn in this pass
  };

  [[nodiscard]] EvIndex choose_in(Plane plane, std::optional<EvIndex> avoid);
  EvIndex draw(Plane plane);
  void set_state(EvIndex ev, EvState state);
  void leave_rotation(EvIndex ev);
  void enter_rotation(EvIndex ev);
  [[nodiscard]] std::uint16_t position_of(Plane plane, EvIndex ev) const;
  std::uint32_t random_below(std::uint32_t bound);

  const EvProfile* profile_;
  std::uint64_t random_state_;
  PlaneMask planes_;
  std::uint16_t usable_ = 0;
  std::uint8_t next_plane_ = 0;
  std::unique_ptr<Rotation[]> rotations_;   // one for each plane
  std::unique_ptr<std::uint8_t[]> order_;   // EV indices, plane by plane, active ones first
  std::unique_ptr<std::uint8_t[]> states_;  // two bits for each EV
};

}  // namespace openmrc::core
