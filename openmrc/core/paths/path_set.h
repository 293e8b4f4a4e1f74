// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/paths/ev_state.h"
#include "openmrc/core/paths/path_policy.h"
#include "openmrc/core/paths/plane_mask.h"

namespace openmrc::core {

// The paths to one peer: which of them are in use, and which comes next (MRC 9.3). Plane, then
// path, then EV: each level is loaded equally.
//
// Each plane has active paths, in rotation, and others: backups that are good, and disabled ones.
// MRC 9.3.2: a path that fails is replaced by a backup of the same plane, never of another, so that
// planes stay equally loaded. What EVs of one path have in common is kept once; only the
// controller's word is about a single EV. Until something is sent, or happens to a path, it holds
// nothing: many peers are idle (PATH-38).
class PathSet {
 public:
  // `profile` must outlive this. The order of paths follows from `seed`. `burst`: how many packets
  // in a row take one EV.
  PathSet(const EvProfile& profile, std::uint64_t seed, std::uint8_t burst = 1,
          PathPolicy policy = PathPolicy::kSpray);

  struct Choice {
    EvIndex ev;
    Plane plane;
    PathIndex path{};  // that the EV names
  };
  // MRC 9.3.1 (GetSendParams): the EV of the next packet. Takes the planes in turn, passing over
  // those that are not in `ports`, and in a plane the path that the policy chooses. The path of
  // `avoid` is not chosen if its plane has another. Nothing if no plane in `ports` has a path. In a
  // burst the EV of the last packet comes again as long as nothing speaks against it.
  // PATH-28, PATH-36
  [[nodiscard]] std::optional<Choice> choose(PlaneMask ports,
                                             std::optional<EvIndex> avoid = std::nullopt) {
    const PlaneMask eligible = ports & planes_;
    if (eligible.empty()) {
      left_in_burst_ = 0;
      return std::nullopt;
    }
    if (burst_ > 1) [[unlikely]]
      return choose_in_burst(eligible, avoid);
    return choose_next(eligible, avoid);
  }
  // Whether each packet is asked for by itself: no two in a row take one EV on purpose.
  [[nodiscard]] bool chooses_singly() const { return burst_ == 1; }
  // The same for many packets, if that is so: calls `take(EvIndex, PathIndex)` for each in turn.
  // `eligible`: some planes that have a path.
  template <class Take>
  [[gnu::always_inline]] void choose_many(PlaneMask eligible, std::int64_t count, Take&& take) {
    if (!paths_) [[unlikely]]
      start();
    unsigned next_plane = next_plane_;
    policy_.tell([&] [[gnu::always_inline]] (auto& policy) {
      for (; count > 0; --count) {
        const Plane plane = eligible.next_from(next_plane);
        next_plane = plane.raw() + 1u;
        const PathIndex path = policy.choose(plane);
        take(next_ev(path), path);
      }
    });
    next_plane_ = static_cast<std::uint8_t>(next_plane);
  }
  // The same for a reliability probe: planes in turn and the usable paths of each in turn, however
  // congested they are, because the next shall not go where the last one got lost. Ends the burst.
  // PATH-75
  [[nodiscard]] std::optional<Choice> choose_for_probe(PlaneMask ports);
  // Whether the next packet would take the path of the last.
  [[nodiscard]] bool in_burst() const { return left_in_burst_ > 0; }
  // Planes that have a path.
  [[nodiscard]] PlaneMask planes() const { return planes_; }

  [[nodiscard]] EvState state(EvIndex ev) const;
  // Whether it is GOOD or SKIP.
  [[nodiscard]] bool is_usable(EvIndex ev) const {
    return !paths_ ||
           (paths_[profile_->path_of(ev).raw()].state == EvState::kGood && !is_denied(ev));
  }
  // How many EVs are GOOD or SKIP, active or not.
  [[nodiscard]] unsigned usable() const { return usable_; }

  // Changes the state of the EV as the table of ev_state.h says, and with it, unless it is the
  // controller's word, that of all EVs of its path; returns the state before. The floor
  // (ev_min_active) is kept: no path is disabled for loss if that left fewer EVs, because a path
  // that loses some packets is better than none (MRC 9.3.1).
  // Of congestion on active paths the policy is told, with the time and the round trip as it has
  // been of late.
  EvState apply(EvIndex ev, EvInput input, Instant now, Duration rtt);
  // A packet that took the EV came through without a mark.
  void clean(EvIndex ev) {
    if (is_marked_) [[unlikely]]
      policy_.on_clean(profile_->path_of(ev), profile_->entry(ev).plane);
  }

  // An EV to probe the path with; nothing if all of them are denied.
  [[nodiscard]] std::optional<EvIndex> probe_ev(PathIndex path) {
    if (!paths_) start();
    if (allowed(path) == 0) return std::nullopt;
    return next_ev(path);
  }

  // A random EV of the plane that is GOOD, or else one that is SKIP; for reverse paths. Nothing if
  // it has none.
  [[nodiscard]] std::optional<EvIndex> any_good(Plane plane);

  // What the choice of a path looks at.
  void prefetch() const { policy_.prefetch(*profile_); }

  [[nodiscard]] const EvProfile& profile() const { return *profile_; }
  // A random number below `bound`.
  [[nodiscard]] std::uint32_t draw(std::uint32_t bound) { return random_.below(bound); }

 private:
  // What is known of a path, in a byte: a connection has up to 256.
  struct Path {
    EvState state : 4 = EvState::kGood;  // GOOD, SUSPECT or ASSUMED_BAD; SKIP is the policy's
    bool in_rotation : 1 = false;
  };
  static_assert(sizeof(Path) == 1);

  // `eligible`: some planes that have a path.
  [[nodiscard, gnu::always_inline]] Choice choose_next(PlaneMask eligible,
                                                       std::optional<EvIndex> avoid) {
    if (!paths_) [[unlikely]]
      start();
    const Plane plane = eligible.next_from(next_plane_);
    next_plane_ = static_cast<std::uint8_t>(plane.raw() + 1);
    const PathIndex path = avoid.has_value()
                               ? policy_.choose_avoiding(plane, profile_->path_of(*avoid))
                               : policy_.choose(plane);
    return Choice{next_ev(path), plane, path};
  }
  [[nodiscard]] Choice choose_in_burst(PlaneMask eligible, std::optional<EvIndex> avoid);
  // The EVs of a path in turn, unless they are denied (PATH-31).
  EvIndex next_ev(PathIndex path) {
    // Where each path has one EV both have the same number.
    if (turns_ == nullptr) [[likely]]
      return EvIndex(path.raw());
    return next_ev_of_many(path);
  }
  EvIndex next_ev_of_many(PathIndex path);

  [[nodiscard]] bool is_denied(EvIndex ev) const { return denied_ && denied_->test(ev.raw()); }
  [[nodiscard]] unsigned allowed(PathIndex path) const;
  [[nodiscard]] bool is_eligible(PathIndex path) const;
  void set_denied(EvIndex ev, bool denied);
  void change(EvIndex ev, EvInput input, EvState after);
  void update_rotation(PathIndex path, unsigned usable_before);
  void enter_rotation(Plane plane, PathIndex path);
  void leave_rotation(Plane plane, PathIndex path);
  void start();
  void start_rotation(Plane plane);
  [[nodiscard]] unsigned active_max(Plane plane) const;

  const EvProfile* profile_;
  PathRandom random_;
  PathChooser policy_;
  PlaneMask planes_;
  std::uint16_t usable_ = 0;
  std::uint8_t next_plane_ = 0;
  std::uint8_t next_probed_plane_ = 0;
  std::uint8_t probe_rounds_ = 0;  // through the planes, wrapping
  std::uint8_t burst_;
  std::uint8_t left_in_burst_ = 0;
  bool is_marked_ = false;         // congestion was met at some time
  Choice last_{};                  // of the burst
  std::unique_ptr<Path[]> paths_;  // by index; null until it is needed
  std::unique_ptr<std::uint8_t[]>
      turns_;  // by path: which of its EVs is next; null if each has one
  std::unique_ptr<std::bitset<kEvsPerProfileMax>> denied_;  // by EV; null as long as none is
};

}  // namespace openmrc::core
