// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "openmrc/base/ids.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/paths/ev_state.h"
#include "openmrc/core/paths/plane_mask.h"

namespace openmrc::core {

// How the EV of the next packet is chosen among those of its plane.
enum class PathPolicy : std::uint8_t {
  kSpray,       // in random order, passing over those that are marked as congested (MRC 9.3.1)
  kRoundRobin,  // one after the other, congested or not: what to compare others with
};

// The paths to one peer: which of a profile's EVs are in use, and which comes next (MRC 9.3).
//
// Each plane has active EVs, in rotation, and others: backups that are good, and disabled ones.
// MRC 9.3.2: a path that fails is replaced by a backup of the same plane, never of another, so that
// planes stay equally loaded. The state is a few bits and one byte per EV; what an EV means is the
// profile's, shared by all peers.
class PathSet {
 public:
  // `profile` must outlive this. The order of EVs follows from `seed`. `burst`: how many packets in
  // a row take one EV.
  PathSet(const EvProfile& profile, std::uint64_t seed, std::uint8_t burst = 1,
          PathPolicy policy = PathPolicy::kSpray);

  struct Choice {
    EvIndex ev;
    Plane plane;
  };
  // MRC 9.3.1 (GetSendParams): the EV of the next packet. Takes the planes in turn, passing over
  // those that are not in `ports`, and in a plane all active EVs in an order that is drawn anew for
  // each pass. `avoid` is not chosen if its plane has another. Nothing if no plane in `ports` has a
  // path. In a burst the EV of the last packet comes again as long as nothing speaks against it.
  [[nodiscard]] std::optional<Choice> choose(PlaneMask ports,
                                             std::optional<EvIndex> avoid = std::nullopt) {
    if (!is_plain_) [[unlikely]]
      return choose_in_burst(ports, avoid);
    return choose_next<Order::kShuffled>(ports, avoid);
  }
  // The same for a packet that shall not go where the last one went: it ends the burst.
  [[nodiscard]] std::optional<Choice> choose_apart(PlaneMask ports) {
    left_in_burst_ = 0;
    return choose_by_policy(ports, std::nullopt);
  }
  // Whether the next packet would take the path of the last.
  [[nodiscard]] bool in_burst() const { return left_in_burst_ > 0; }
  // Planes that have a path.
  [[nodiscard]] PlaneMask planes() const { return planes_; }

  [[nodiscard]] EvState state(EvIndex ev) const {
    return static_cast<EvState>(states_[ev.raw() / 4] >> (ev.raw() % 4 * 2) & 3);
  }
  // How many EVs are GOOD or SKIP, active or not.
  [[nodiscard]] unsigned usable() const { return usable_; }

  // Changes the EV's state as the table of ev_state.h says; returns the state before. The floor
  // (ev_min_active) is kept: with no more usable EVs than that, none is disabled for loss, because
  // a path that loses some packets is better than none (MRC 9.3.1).
  EvState apply(EvIndex ev, EvInput input);

  // A random EV of the plane that is GOOD, or else one that is SKIP; for reverse paths. Nothing if
  // it has none.
  [[nodiscard]] std::optional<EvIndex> any_good(Plane plane);

  [[nodiscard]] const EvProfile& profile() const { return *profile_; }

 private:
  struct Rotation {
    std::uint16_t active = 0;  // the first so many of the plane's EVs are in rotation
    std::uint16_t cursor = 0;  // those before it have had their turn in this pass
    std::uint16_t first = 0;   // where the plane's EVs begin in the order
  };

  // Of a pass through the EVs of a plane.
  enum class Order : std::uint8_t { kShuffled, kSame };

  template <Order kOrder>
  [[nodiscard]] std::optional<Choice> choose_next(PlaneMask ports, std::optional<EvIndex> avoid) {
    const PlaneMask eligible = ports & planes_;
    if (eligible.empty()) return std::nullopt;
    const Plane plane = eligible.next_from(next_plane_);
    next_plane_ = static_cast<std::uint8_t>(plane.raw() + 1);
    const EvIndex ev = draw<kOrder>(plane);
    const bool avoided = avoid.has_value() && *avoid == ev;
    if (state(ev) == EvState::kGood && !avoided) [[likely]]
      return Choice{ev, plane};
    return Choice{choose_further(plane, ev, avoid), plane};
  }
  [[nodiscard]] std::optional<Choice> choose_by_policy(PlaneMask ports,
                                                       std::optional<EvIndex> avoid) {
    return is_round_robin_ ? choose_next<Order::kSame>(ports, avoid)
                           : choose_next<Order::kShuffled>(ports, avoid);
  }
  [[nodiscard]] std::optional<Choice> choose_in_burst(PlaneMask ports,
                                                      std::optional<EvIndex> avoid);
  [[nodiscard]] EvIndex choose_further(Plane plane, EvIndex drawn, std::optional<EvIndex> avoid);
  // The next EV of the pass: of those that have not had their turn each equally likely, or the
  // first.
  template <Order kOrder>
  EvIndex draw(Plane plane) {
    Rotation& rotation = rotations_[plane.raw()];
    if (rotation.cursor >= rotation.active) rotation.cursor = 0;
    std::uint8_t* next = &order_[rotation.first] + rotation.cursor;
    if constexpr (kOrder == Order::kShuffled) {
      const auto left = static_cast<std::uint32_t>(rotation.active - rotation.cursor);
      std::swap(*next, next[random_below(left)]);
    }
    ++rotation.cursor;
    return EvIndex(*next);
  }
  void set_state(EvIndex ev, EvState state);
  void leave_rotation(EvIndex ev);
  void enter_rotation(EvIndex ev);
  [[nodiscard]] std::uint16_t position_of(Plane plane, EvIndex ev) const;
  // Small and quick (a linear congruence, its upper half); only the order of paths depends on it.
  std::uint32_t random_below(std::uint32_t bound) {
    random_state_ = random_state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint32_t>((random_state_ >> 32) * bound >> 32);
  }

  const EvProfile* profile_;
  std::uint64_t random_state_;
  PlaneMask planes_;
  std::uint16_t usable_ = 0;
  std::uint8_t next_plane_ = 0;
  std::uint8_t burst_;
  bool is_round_robin_;
  bool is_plain_;  // neither bursts nor round robin
  std::uint8_t left_in_burst_ = 0;
  Choice last_{};                           // of the burst
  std::unique_ptr<Rotation[]> rotations_;   // one for each plane
  std::unique_ptr<std::uint8_t[]> order_;   // EV indices, plane by plane, active ones first
  std::unique_ptr<std::uint8_t[]> states_;  // two bits for each EV
};

}  // namespace openmrc::core
