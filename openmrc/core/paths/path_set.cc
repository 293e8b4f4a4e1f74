// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_set.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"

namespace openmrc::core {

PathSet::PathSet(const EvProfile& profile, std::uint64_t seed, std::uint8_t burst,
                 PathPolicy policy)
    : profile_(&profile),
      random_(split_mix(seed)),
      policy_(policy),
      planes_(PlaneMask::first(profile.planes())),
      usable_(static_cast<std::uint16_t>(profile.size())),
      burst_(burst) {
  next_plane_ =
      static_cast<std::uint8_t>(random_.below(static_cast<std::uint32_t>(profile.planes())));
}

void PathSet::start() {
  paths_ = std::make_unique<Path[]>(profile_->path_count());
  if (profile_->path_count() < profile_->size()) {
    turns_ = std::make_unique<std::uint8_t[]>(profile_->path_count());
  }
  policy_.start(*profile_, random_.split());
  for (std::size_t p = 0; p < profile_->planes(); ++p) {
    start_rotation(Plane(static_cast<std::uint8_t>(p)));
  }
}

unsigned PathSet::active_max(Plane plane) const {
  return static_cast<unsigned>(
      std::min(profile_->active_per_plane(), profile_->paths(plane).count));
}

// Which paths are active is random: senders that share a profile shall not all use the same.
// PATH-30
void PathSet::start_rotation(Plane plane) {
  const PathRange range = profile_->paths(plane);
  std::vector<PathIndex> order;
  order.reserve(range.count);
  for (std::size_t i = 0; i < range.count; ++i) {
    order.emplace_back(static_cast<std::uint8_t>(range.first + i));
  }
  const unsigned active = active_max(plane);
  for (std::uint32_t i = 0; i < active; ++i) {
    std::swap(order[i], order[i + random_.below(static_cast<std::uint32_t>(range.count) - i)]);
    enter_rotation(plane, order[i]);
  }
}

std::optional<PathSet::Choice> PathSet::choose_for_probe(PlaneMask ports) {
  left_in_burst_ = 0;
  const PlaneMask eligible = ports & planes_;
  if (eligible.empty()) return std::nullopt;
  if (!paths_) start();
  const Plane plane = eligible.next_from(next_probed_plane_);
  if (plane.raw() < next_probed_plane_) ++probe_rounds_;
  next_probed_plane_ = static_cast<std::uint8_t>(plane.raw() + 1);
  const PathRange range = profile_->paths(plane);
  const auto path_at = [&](unsigned i) {
    return PathIndex(static_cast<std::uint8_t>(range.first + i));
  };
  unsigned eligible_paths = 0;
  for (unsigned i = 0; i < range.count; ++i) eligible_paths += is_eligible(path_at(i)) ? 1u : 0u;
  unsigned to_pass = probe_rounds_ % eligible_paths;  // a plane of planes_ has at least one
  for (unsigned i = 0;; ++i) {
    if (is_eligible(path_at(i)) && to_pass-- == 0) {
      return Choice{next_ev(path_at(i)), plane, path_at(i)};
    }
  }
}

// PATH-37
PathSet::Choice PathSet::choose_in_burst(PlaneMask eligible, std::optional<EvIndex> avoid) {
  if (left_in_burst_ > 0 && eligible.has(last_.plane) && avoid != last_.ev &&
      state(last_.ev) == EvState::kGood) {
    --left_in_burst_;
    return last_;
  }
  last_ = choose_next(eligible, avoid);
  left_in_burst_ = static_cast<std::uint8_t>(burst_ - 1);
  return last_;
}

EvIndex PathSet::next_ev_of_many(PathIndex path) {
  const auto evs = profile_->evs_of(path);
  std::uint8_t& turn = turns_[path.raw()];
  EvIndex ev = evs[turn];
  for (std::size_t tries = evs.size(); tries > 0; --tries) {
    ev = evs[turn];
    turn = static_cast<std::uint8_t>(turn + 1u < evs.size() ? turn + 1 : 0);
    if (!is_denied(ev)) break;
  }
  return ev;
}

EvState PathSet::state(EvIndex ev) const {
  if (!paths_) return EvState::kGood;
  if (is_denied(ev)) return EvState::kDenied;
  const PathIndex path = profile_->path_of(ev);
  const EvState state = paths_[path.raw()].state;
  return state == EvState::kGood && policy_.skips(path) ? EvState::kSkip : state;
}

unsigned PathSet::allowed(PathIndex path) const {
  const auto evs = profile_->evs_of(path);
  if (!denied_) return static_cast<unsigned>(evs.size());
  return static_cast<unsigned>(
      std::ranges::count_if(evs, [&](EvIndex ev) { return !denied_->test(ev.raw()); }));
}

bool PathSet::is_eligible(PathIndex path) const {
  return core::is_usable(paths_[path.raw()].state) && allowed(path) > 0;
}

EvState PathSet::apply(EvIndex ev, EvInput input, Instant now, Duration rtt) {
  if (!paths_) start();
  const EvState before = state(ev);
  const EvState after = next_state(before, input);
  if (after != before) change(ev, input, after);
  const bool congestion =
      input == EvInput::kMarked || input == EvInput::kTrimmed || input == EvInput::kProbeMarked;
  const PathIndex path = profile_->path_of(ev);
  if (congestion && paths_[path.raw()].in_rotation) {
    is_marked_ = true;
    policy_.on_congestion({.path = path,
                           .plane = profile_->entry(ev).plane,
                           .trimmed = input == EvInput::kTrimmed,
                           .now = now,
                           .rtt = rtt});
  }
  return before;
}

void PathSet::change(EvIndex ev, EvInput input, EvState after) {
  const PathIndex path = profile_->path_of(ev);
  const unsigned usable = is_eligible(path) ? allowed(path) : 0;
  if (input == EvInput::kDeny || input == EvInput::kAllow) {
    set_denied(ev, input == EvInput::kDeny);
    if (allowed(path) == 0) paths_[path.raw()].state = EvState::kGood;  // when it is allowed again
  } else {
    // The controller's word counts more than the floor. The last path is never disabled (PATH-26).
    const std::size_t floor = std::max<std::size_t>(profile_->min_active(), 1);
    if (!core::is_usable(after) && usable > 0 && usable_ < floor + usable) return;
    paths_[path.raw()].state = after == EvState::kSkip ? EvState::kGood : after;
  }
  update_rotation(path, usable);
}

void PathSet::set_denied(EvIndex ev, bool denied) {
  if (!denied_) denied_ = std::make_unique<std::bitset<kEvsPerProfileMax>>();
  denied_->set(ev.raw(), denied);
}

// After a change to the path, of which so many EVs could be used before (PATH-39).
void PathSet::update_rotation(PathIndex path, unsigned usable_before) {
  const unsigned usable = is_eligible(path) ? allowed(path) : 0;
  usable_ = static_cast<std::uint16_t>(usable_ - usable_before + usable);
  const Plane plane = profile_->plane_of(path);
  const bool in_rotation = paths_[path.raw()].in_rotation;
  if (usable == 0 && in_rotation) leave_rotation(plane, path);
  if (usable > 0 && !in_rotation && policy_.size(plane) < active_max(plane)) {
    enter_rotation(plane, path);  // otherwise it is a backup now
  }
}

void PathSet::enter_rotation(Plane plane, PathIndex path) {
  policy_.add(plane, path);
  paths_[path.raw()].in_rotation = true;
  planes_.add(plane);
}

void PathSet::leave_rotation(Plane plane, PathIndex path) {
  policy_.remove(plane, path);
  paths_[path.raw()].in_rotation = false;
  const PathRange range = profile_->paths(plane);
  const std::size_t start = random_.below(static_cast<std::uint32_t>(range.count));
  for (std::size_t i = 0; i < range.count; ++i) {
    const PathIndex backup(static_cast<std::uint8_t>(range.first + (start + i) % range.count));
    if (!paths_[backup.raw()].in_rotation && is_eligible(backup)) {
      return enter_rotation(plane, backup);
    }
  }
  if (policy_.size(plane) == 0) planes_.remove(plane);
}

std::optional<EvIndex> PathSet::any_good(Plane plane) {
  if (!paths_) start();
  const PlaneRange range = profile_->range(plane);
  std::uint32_t good = 0;
  std::optional<EvIndex> skipped;  // congested is better than forbidden or broken
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(i));
    if (state(ev) == EvState::kGood) ++good;
    if (state(ev) == EvState::kSkip) skipped = ev;
  }
  if (good == 0) return skipped;
  std::uint32_t to_pass = random_.below(good);
  for (std::size_t i = range.first;; ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(i));
    if (state(ev) == EvState::kGood && to_pass-- == 0) return ev;
  }
}

}  // namespace openmrc::core
