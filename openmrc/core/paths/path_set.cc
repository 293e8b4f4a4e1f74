// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_set.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"

namespace openmrc::core {

PathSet::PathSet(const EvProfile& profile, std::uint64_t seed, std::uint8_t burst,
                 PathPolicy policy)
    : profile_(&profile),
      random_state_(split_mix(seed)),
      planes_(PlaneMask::first(profile.planes())),
      usable_(static_cast<std::uint16_t>(profile.size())),
      burst_(burst),
      is_round_robin_(policy == PathPolicy::kRoundRobin),
      is_plain_(burst == 1 && !is_round_robin_),
      rotations_(std::make_unique<Rotation[]>(profile.planes())),
      order_(std::make_unique<std::uint8_t[]>(profile.size())),
      states_(std::make_unique<std::uint8_t[]>((profile.size() + 3) / 4)) {
  next_plane_ =
      static_cast<std::uint8_t>(random_below(static_cast<std::uint32_t>(profile.planes())));
  for (std::size_t i = 0; i < profile.size(); ++i) order_[i] = static_cast<std::uint8_t>(i);
  for (std::size_t p = 0; p < profile.planes(); ++p) {
    const auto range = profile.range(Plane(static_cast<std::uint8_t>(p)));
    // Which of them are active is random: senders that share a profile shall not all use the same.
    for (auto i = static_cast<std::uint32_t>(range.count); i > 1; --i) {
      std::swap(order_[range.first + i - 1], order_[range.first + random_below(i)]);
    }
    rotations_[p] = {.active = static_cast<std::uint16_t>(profile.active_per_plane()),
                     .first = static_cast<std::uint16_t>(range.first)};
  }
}

std::optional<PathSet::Choice> PathSet::choose_in_burst(PlaneMask ports,
                                                        std::optional<EvIndex> avoid) {
  if (left_in_burst_ > 0 && ports.has(last_.plane) && avoid != last_.ev &&
      state(last_.ev) == EvState::kGood) {
    --left_in_burst_;
    return last_;
  }
  left_in_burst_ = 0;
  const auto choice = choose_by_policy(ports, avoid);
  if (!choice) return std::nullopt;
  last_ = *choice;
  left_in_burst_ = static_cast<std::uint8_t>(burst_ - 1);
  return choice;
}

// The EV that was drawn may not be used: it is to be skipped, or avoided.
//
// MRC 11.2.2: what is marked SKIP is passed over and is good again; at most one for each packet.
EvIndex PathSet::choose_further(Plane plane, EvIndex drawn, std::optional<EvIndex> avoid) {
  std::optional<EvIndex> forgiven;
  // Two passes meet every EV of the rotation at least once.
  unsigned tries = 2u * rotations_[plane.raw()].active;
  const auto draw_again = [&] {
    return is_round_robin_ ? draw<Order::kSame>(plane) : draw<Order::kShuffled>(plane);
  };
  for (EvIndex ev = drawn; tries > 0; --tries, ev = draw_again()) {
    if (ev == avoid || ev == forgiven) continue;
    if (state(ev) == EvState::kGood) return ev;
    if (forgiven) continue;
    forgiven = ev;
    set_state(ev, next_state(EvState::kSkip, EvInput::kRotation));
  }
  if (forgiven) return *forgiven;  // all were to be skipped
  // The only path in rotation.
  set_state(*avoid, next_state(state(*avoid), EvInput::kRotation));
  return *avoid;
}

void PathSet::set_state(EvIndex ev, EvState state) {
  const unsigned shift = ev.raw() % 4u * 2;
  std::uint8_t& four = states_[ev.raw() / 4];
  four = static_cast<std::uint8_t>((four & ~(3u << shift)) | static_cast<unsigned>(state) << shift);
}

EvState PathSet::apply(EvIndex ev, EvInput input) {
  const EvState before = state(ev);
  EvState after = next_state(before, input);
  if (after == EvState::kSkip && is_round_robin_) after = EvState::kGood;
  if (after == before) return before;
  // The controller's word counts more than the floor. The last path is never disabled.
  const std::size_t floor = std::max<std::size_t>(profile_->min_active(), 1);
  if (after == EvState::kAssumedBad && usable_ <= floor) return before;
  set_state(ev, after);
  if (is_usable(before) && !is_usable(after)) {
    --usable_;
    leave_rotation(ev);
  } else if (!is_usable(before) && is_usable(after)) {
    ++usable_;
    enter_rotation(ev);
  }
  return before;
}

std::uint16_t PathSet::position_of(Plane plane, EvIndex ev) const {
  const auto range = profile_->range(plane);
  const std::uint8_t* order = &order_[range.first];
  const std::uint8_t* found = std::find(order, order + range.count, ev.raw());
  OPENMRC_DCHECK(found != order + range.count, "the order has each EV once");
  return static_cast<std::uint16_t>(found - order);
}

void PathSet::leave_rotation(EvIndex ev) {
  const Plane plane = profile_->entry(ev).plane;
  const auto range = profile_->range(plane);
  Rotation& rotation = rotations_[plane.raw()];
  std::uint8_t* order = &order_[range.first];
  std::uint16_t at = position_of(plane, ev);
  if (at >= rotation.active) return;
  for (std::size_t backup = rotation.active; backup < range.count; ++backup) {
    if (is_usable(state(EvIndex(order[backup])))) {
      std::swap(order[at], order[backup]);
      return;
    }
  }
  if (at < rotation.cursor) {  // it has had its turn; what takes its place may not have
    --rotation.cursor;
    std::swap(order[at], order[rotation.cursor]);
    at = rotation.cursor;
  }
  --rotation.active;
  std::swap(order[at], order[rotation.active]);
  if (rotation.active == 0) planes_.remove(plane);
}

void PathSet::enter_rotation(EvIndex ev) {
  const Plane plane = profile_->entry(ev).plane;
  Rotation& rotation = rotations_[plane.raw()];
  if (rotation.active == profile_->active_per_plane()) return;  // it is a backup now
  std::uint8_t* order = &order_[profile_->range(plane).first];
  std::swap(order[position_of(plane, ev)], order[rotation.active]);
  ++rotation.active;
  planes_.add(plane);
}

std::optional<EvIndex> PathSet::any_good(Plane plane) {
  const auto range = profile_->range(plane);
  std::uint32_t good = 0;
  std::optional<EvIndex> skipped;  // congested is better than forbidden or broken
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(i));
    if (state(ev) == EvState::kGood) ++good;
    if (state(ev) == EvState::kSkip) skipped = ev;
  }
  if (good == 0) return skipped;
  std::uint32_t to_pass = random_below(good);
  for (std::size_t i = range.first;; ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(i));
    if (state(ev) == EvState::kGood && to_pass-- == 0) return ev;
  }
}

}  // namespace openmrc::core
