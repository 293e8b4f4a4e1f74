// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/search/fault_schedule.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

constexpr Ratio kHalf{1, 2};
constexpr std::size_t kChangesMax = 3;           // of one mutation
constexpr std::uint32_t kLeastLoss = 1'000'000;  // 0.1 %

template <class T>
const T& any_of_list(const std::vector<T>& list, Rng& rng) {
  return list[rng.below(list.size())];
}

// Long ones and short ones are as likely: each doubling is.
std::uint64_t any_size(std::uint64_t least, std::uint64_t most, Rng& rng) {
  if (least >= most) return most;
  const auto doublings =
      static_cast<std::uint64_t>(std::bit_width(most / std::max<std::uint64_t>(least, 1)));
  const std::uint64_t low =
      std::min(std::max<std::uint64_t>(least, 1) << rng.below(doublings), most);
  return rng.between(std::max(least, low), std::min(most, low * 2));
}

Picoseconds any_length(const SearchSpace& space, Rng& rng) {
  return Picoseconds(
      static_cast<std::int64_t>(any_size(static_cast<std::uint64_t>(space.shortest.raw()),
                                         static_cast<std::uint64_t>(space.longest.raw()), rng)));
}

Picoseconds any_time(const SearchSpace& space, Rng& rng) {
  return Picoseconds(static_cast<std::int64_t>(rng.between(
      static_cast<std::uint64_t>(space.begin.raw()), static_cast<std::uint64_t>(space.end.raw()))));
}

void draw_kind(SearchedFault& fault, const SearchSpace& space, Rng& rng) {
  fault.kind = any_of_list(space.kinds, rng);
  fault.loss_per_billion = 0;
  fault.speed_percent = 100;
  if (fault.kind == SearchedKind::kLoss) {
    fault.loss_per_billion = static_cast<std::uint32_t>(any_size(
        std::min(kLeastLoss, space.loss_max_per_billion), space.loss_max_per_billion, rng));
  } else if (fault.kind == SearchedKind::kSlow) {
    fault.speed_percent = static_cast<std::uint16_t>(rng.between(space.speed_min_percent, 99));
  }
}

void draw_direction(SearchedFault& fault, const SearchSpace& space, Rng& rng) {
  fault.direction = space.directions ? static_cast<Direction>(rng.below(3)) : Direction::kBoth;
}

void draw_target(SearchedFault& fault, const SearchSpace& space, Rng& rng) {
  fault.group = any_of_list(space.groups, rng);
  fault.index = rng.below(size_of(fault.group, space.fabric));
}

SearchedFault any_fault(const SearchSpace& space, Rng& rng) {
  SearchedFault fault;
  draw_target(fault, space, rng);
  draw_kind(fault, space, rng);
  draw_direction(fault, space, rng);
  fault.length = any_length(space, rng);
  fault.at = any_time(space, rng);
  return fitted(fault, space);
}

// The same place in another plane: what takes away the paths that are left.
void move_to_other_plane(SearchedFault& fault, const SearchSpace& space, Rng& rng) {
  const std::uint64_t size = size_of(fault.group, space.fabric);
  const std::uint64_t in_plane = size / space.fabric.shape().planes;
  fault.index = (fault.index + in_plane * rng.below(space.fabric.shape().planes)) % size;
}

// When another fault begins or ends, or about then.
void move_beside(SearchedFault& fault, const Schedule& schedule, Rng& rng) {
  const SearchedFault& other = any_of_list(schedule, rng);
  fault.at = rng.chance(kHalf) ? other.at : other.at + other.length;
  if (rng.chance(kHalf)) fault.length = other.length;
}

// By a quarter of the window at most, mostly by less.
Picoseconds a_little(const SearchSpace& space, Rng& rng) {
  const auto most = static_cast<std::uint64_t>((space.end - space.begin).raw()) / 4;
  const auto least = static_cast<std::uint64_t>(kScheduleStep.raw());
  const Picoseconds by(static_cast<std::int64_t>(any_size(least, std::max(least, most), rng)));
  return rng.chance(kHalf) ? by : -by;
}

void change_fault(Schedule& schedule, const SearchSpace& space, Rng& rng) {
  SearchedFault& fault = schedule[rng.below(schedule.size())];
  switch (rng.below(11)) {
    case 0: fault = any_fault(space, rng); break;
    case 1: draw_target(fault, space, rng); break;
    case 2: move_to_other_plane(fault, space, rng); break;
    case 3: move_beside(fault, schedule, rng); break;
    case 4:
    case 9: fault.at += a_little(space, rng); break;
    case 10: fault.length += a_little(space, rng); break;
    case 5: fault.at = any_time(space, rng); break;
    case 6: fault.length = any_length(space, rng); break;
    case 7: draw_kind(fault, space, rng); break;
    default: draw_direction(fault, space, rng); break;
  }
  fault = fitted(fault, space);
}

void change(Schedule& schedule, const SearchSpace& space, Rng& rng) {
  const std::uint64_t what = rng.below(8);
  if (what == 0 && schedule.size() > 1) {
    schedule.erase(schedule.begin() + static_cast<std::ptrdiff_t>(rng.below(schedule.size())));
  } else if (what == 1 && schedule.size() < space.faults_max) {
    schedule.push_back(any_fault(space, rng));
  } else if (what == 2 && schedule.size() < space.faults_max) {
    SearchedFault copy = any_of_list(schedule, rng);
    move_to_other_plane(copy, space, rng);
    schedule.push_back(copy);
  } else if (what == 3 && schedule.size() < space.faults_max) {
    SearchedFault again = any_of_list(schedule, rng);
    again.at += again.length + any_length(space, rng);
    schedule.push_back(fitted(again, space));
  } else {
    change_fault(schedule, space, rng);
  }
}

}  // namespace

Schedule in_order(Schedule schedule) {
  std::ranges::stable_sort(schedule, {}, [](const SearchedFault& fault) {
    return std::tuple(fault.at, fault.group, fault.index);
  });
  return schedule;
}

SearchedFault fitted(SearchedFault fault, const SearchSpace& space) {
  const auto whole = [](Picoseconds time) {
    return time / kScheduleStep.raw() * kScheduleStep.raw();
  };
  const Picoseconds longest = std::min(space.longest, space.end - space.begin);
  fault.length = whole(std::clamp(fault.length, std::min(space.shortest, longest), longest));
  fault.length = std::max(fault.length, kScheduleStep);
  fault.at =
      whole(std::clamp(fault.at, space.begin, std::max(space.begin, space.end - fault.length)));
  return fault;
}

Schedule random_schedule(const SearchSpace& space, Rng& rng) {
  OPENMRC_CHECK(space.faults_max > 0, "a schedule has a fault");
  const std::uint64_t count = rng.between(1, space.faults_max);
  Schedule schedule;
  for (std::uint64_t i = 0; i < count; ++i) schedule.push_back(any_fault(space, rng));
  return in_order(std::move(schedule));
}

Schedule mutated(const Schedule& schedule, const SearchSpace& space, Rng& rng) {
  Schedule result = schedule;
  const std::uint64_t changes = rng.between(1, kChangesMax);
  for (std::uint64_t i = 0; i < changes; ++i) change(result, space, rng);
  return in_order(std::move(result));
}

Schedule crossed(const Schedule& first, const Schedule& second, const SearchSpace& space,
                 Rng& rng) {
  Schedule result;
  for (const Schedule* parent : {&first, &second}) {
    for (const SearchedFault& fault : *parent) {
      if (result.size() < space.faults_max && rng.chance(kHalf)) result.push_back(fault);
    }
  }
  if (result.empty()) result.push_back(any_of_list(first, rng));
  return in_order(std::move(result));
}

}  // namespace openmrc::sim
